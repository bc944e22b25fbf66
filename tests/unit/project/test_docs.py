"""The reference pages say what the code says."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pipeline.config import JobConfig
from transforms.table.schema import CHUNKS, DELETES, DOCUMENTS, REJECTED

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")])


def lines_of(schema: pa.Schema) -> list[str]:
    """The schema as the rows of a Markdown table."""
    return [
        f"| `{field.name}` | {type_name(field.type)} | {'yes' if field.nullable else ''} "
        f"| {field.metadata[b'meaning'].decode().replace('<doc_id>::<n>', '`<doc_id>::<n>`')} |"
        for field in schema
    ]


def type_name(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {type_name(kind.value_type)}"
    return "struct" if pa.types.is_struct(kind) else str(kind).split("[")[0]


def keys_of(schema: dict[str, Any], node: dict[str, Any]) -> set[str]:
    """Every key that a configuration may have, at whatever depth."""
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    keys = set(node.get("properties", {}))
    below = [*node.get("properties", {}).values(), node.get("items", {})]
    below += [part for word in ("anyOf", "oneOf", "allOf") for part in node.get(word, [])]
    extra = node.get("additionalProperties")
    below += [extra] if isinstance(extra, dict) else []
    return keys.union(*(keys_of(schema, part) for part in below if part))


@pytest.mark.parametrize(
    ("title", "schema"),
    [("chunks", CHUNKS), ("documents", DOCUMENTS), ("rejected", REJECTED), ("deletes", DELETES)],
)
def test_the_page_on_the_table_has_every_column_as_the_schema_says(title: str, schema: pa.Schema) -> None:
    section = (DOCS / "table.md").read_text(encoding="utf-8").split(f"### {title}\n")[1].split("\n#")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == lines_of(schema)


def test_the_page_on_configuration_names_every_key() -> None:
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    schema = JobConfig.model_json_schema()
    assert [
        key for key in sorted(keys_of(schema, schema)) if not re.search(rf"`[^`]*\b{key}\b[^`]*`", page)
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
