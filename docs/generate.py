"""Write the reference tables into the pages, from the code: `make docs`.

A page has the marks `<!-- begin NAME -->` and `<!-- end NAME -->`. What stands between them is generated,
everything else is written by hand; a test compares.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import typer

from pipeline.cli import app
from pipeline.config.schema import DEFAULTS, file_schema
from transforms.table.schema import CHUNKS, DELETES, DOCUMENTS, REJECTED

if TYPE_CHECKING:
    from collections.abc import Iterator

Schema: TypeAlias = dict[str, Any]
"""JSON Schema, or a part of it."""

DOCS = Path(__file__).parent
COLUMNS = {"chunks": CHUNKS, "documents": DOCUMENTS, "rejected": REJECTED, "deletes": DELETES}
_MARKED = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def main() -> None:
    """Bring every page up to date."""
    for name in ("configuration.md", "table.md", "commands.md"):
        path = DOCS / name
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")


def filled(page: str) -> str:
    """The page with its marked parts as they ought to be."""
    tables = {name: columns(schema) for name, schema in COLUMNS.items()}
    parts = {**tables, "keys": keys(), "commands": commands()}
    return _MARKED.sub(lambda match: f"{match[1]}\n{parts[match[2]]}\n\n{match[3]}", page)


def columns(schema: pa.Schema) -> str:
    """A table's columns."""
    rows = [
        (f"`{field.name}`", _arrow_type(field.type), "yes" if field.nullable else "", _meaning(field))
        for field in schema
    ]
    return _table(("column", "type", "null", "meaning"), rows)


def commands() -> str:
    """Every command with its arguments and options."""
    return "\n\n".join(_commands(typer.main.get_command(app), "parquetry"))


def _commands(command: Any, name: str) -> Iterator[str]:
    if hasattr(command, "commands"):
        for below, one in command.commands.items():
            yield from _commands(one, f"{name} {below}")
        return
    rows = [
        (f"`{_spelt(parameter)}`", _one_line(getattr(parameter, "help", "") or ""))
        for parameter in command.params
        if parameter.name != "help"
    ]
    text = _one_line(command.help or "")
    yield f"### {name}\n\n{text}\n\n{_table(('argument or option', 'meaning'), rows)}"


def _spelt(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    if parameter.is_flag:
        return names
    return f"{names} {parameter.metavar or parameter.name.upper()}"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def keys() -> str:
    """Every key of the configuration: one table a group of keys, in the order in which they are met."""
    schema = file_schema()
    pending: list[tuple[str, str]] = [("", "JobConfig")]
    done: list[str] = []
    while pending:
        path, name = pending.pop(0)
        part = schema if name == "JobConfig" else schema["$defs"][name]
        done.append(_group(path, part, schema))
        # Embedders last: a job has one of many.
        pending = sorted([*pending, *_groups_below(path, part)], key=lambda found: found[0] == "embedder")
    return "\n\n".join(done)


def _group(path: str, part: Schema, schema: Schema) -> str:
    kind = part["properties"].get("kind", {}).get("const")
    title = f"`{path}`" + (f" of kind `{kind}`" if kind else "") if path else "The file"
    text = part.get("description", "").replace("``", "`")
    rows = [
        (f"`{key}`", _json_type(value, schema), _default(key, value, part), _sentence(value))
        for key, value in part["properties"].items()
    ]
    return f"### {title}\n\n{text}\n\n{_table(('key', 'type', 'default', 'meaning'), rows)}"


def _groups_below(path: str, part: Schema) -> Iterator[tuple[str, str]]:
    for key, value in part["properties"].items():
        where = f"{path}.{key}" if path else key
        for below in (value, *value.get("anyOf", ()), *value.get("oneOf", ())):
            if "$ref" in below and _name(below) != DEFAULTS:
                yield where, _name(below)
            elif "$ref" in below.get("items", {}):
                yield f"{where}[]", _name(below["items"])


def _name(reference: Schema) -> str:
    return str(reference["$ref"]).rsplit("/", 1)[-1]


def _default(key: str, value: Schema, part: Schema) -> str:
    if key in part.get("required", ()):
        return "required"
    if "default" not in value or isinstance(value["default"], dict):
        return ""
    return f"`{json.dumps(value['default'], ensure_ascii=False)}`"


def _sentence(value: Schema) -> str:
    return str(value.get("description", "")).replace("\n", " ").replace("|", "\\|")


def _json_type(value: Schema, schema: Schema) -> str:
    several = [*value.get("anyOf", ()), *value.get("oneOf", ())]
    if several:
        return " or ".join(dict.fromkeys(_json_type(one, schema) for one in several))
    if "$ref" in value:
        return _json_type(schema["$defs"][_name(value)], schema)
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    kind = str(value.get("type", "any"))
    if kind == "array":
        return f"list of {_json_type(value.get('items', {}), schema)}"
    words = {"object": "keys", "string": "text", "null": "`null`", "boolean": "true or false"}
    return words.get(kind, kind) + _bounds(value)


def _bounds(value: Schema) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    found = [f"{sign} {value[word]:g}" for word, sign in signs.items() if word in value]
    return f", {', '.join(found)}" if found else ""


def _arrow_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_arrow_type(kind.value_type)}"
    return "struct" if pa.types.is_struct(kind) else str(kind).split("[", 1)[0]


def _meaning(field: pa.Field) -> str:
    return str(field.metadata[b"meaning"].decode().replace("<doc_id>::<n>", "`<doc_id>::<n>`"))


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


if __name__ == "__main__":
    main()
