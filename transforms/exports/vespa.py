"""Vespa: put and remove operations as JSON lines for ``vespa feed``, and a schema to begin with.

Vespa refuses control characters and non-characters in strings (``com.yahoo.text.Text.isTextCharacter``); documents
with such are left out and named, since what they should say instead is not for an export to decide.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from transforms.exports.checking import Broken, Folder, Known
from transforms.exports.encoding import in_json, json_ids, json_vectors, lines, members, prefixed
from transforms.exports.files import LINES_BYTES, Cap, Output, TextOutput
from transforms.exports.json_text import json_column, json_objects
from transforms.exports.profile import COLUMNS, Fault, Files, Job, Profile, Rows
from transforms.exports.rules import ID, VECTOR, Rule, id_bytes, texts, without
from transforms.exports.sparse import Sparse, json_map, map_faults
from transforms.loaders.mapping import SPARSE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DIMENSIONS = 2**31 - 1
_PLANES = "".join(f"\\x{{{plane:x}fffe}}\\x{{{plane:x}ffff}}" for plane in range(1, 17))
_REFUSED = f"[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x{{fdd0}}-\\x{{fddf}}{_PLANES}]"
_REFUSED_IN_PYTHON = re.compile(re.sub(r"\\x\{([0-9a-f]+)\}", lambda code: chr(int(code[1], 16)), _REFUSED))
_ID_BYTES = 65_535
_DOCUMENT = re.compile(r"id:[^:]+:[A-Za-z_][A-Za-z0-9_]*:([ng]=[^:]*)?:(.+)", re.DOTALL)
_FIELD_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_SEARCHED = ("text", "doc_title", "section_title")
_SPARSE = Sparse(
    note="The rank profile `hybrid` of the schema takes the question's weights as `query(terms)`, a tensor of the type "
    "that the field has, and joins both ranks of what the query has matched."
)


def _rules(job: Job) -> tuple[Rule, ...]:
    return (
        id_bytes(_ID_BYTES),
        without([ID], "[\\x00-\\x1f]", "id_characters", "ids hold no control characters"),
        without(
            texts(job.fields), _REFUSED, "character", "texts hold no control characters and non-characters"
        ),
    )


def _upserts(job: Job) -> Output:
    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        fields = {ID: json_ids(batch), VECTOR: prefixed('{"values":', json_vectors(batch), "}")}
        if job.sparse is not None:
            fields[SPARSE] = prefixed('{"cells":', json_map(batch), "}")
        record = {
            "put": _documents(job, batch),
            "fields": json_objects(fields | members(batch, job.fields)),
        }
        return lines(json_objects(record))

    return TextOutput("upserts/part-{:06}.jsonl", encode, Cap(2**31, LINES_BYTES))


def _deletes(job: Job) -> Output:
    return TextOutput(
        "deletes/part-{:06}.jsonl",
        lambda batch: lines(json_objects({"remove": _documents(job, batch)})),
        Cap(2**31, LINES_BYTES),
    )


def _documents(job: Job, batch: pa.RecordBatch) -> pa.Array:
    return json_column(prefixed(f"id:{job.name}:{job.name}::", batch[ID], ""))


def _beside(job: Job, _files: Files) -> Mapping[str, str]:
    fields = "".join(
        f"        field {field.name} type {_type(field.type)} {{\n"
        f"            indexing: {_indexing(field)}\n        }}\n"
        for field in job.fields
    )
    return {
        f"schemas/{job.name}.sd": (
            f"schema {job.name} {{\n    document {job.name} {{\n"
            f"        field {ID} type string {{\n            indexing: summary | attribute\n        }}\n"
            f"        field {VECTOR} type tensor<float>(x[{job.dimension}]) {{\n"
            "            indexing: attribute | index\n"
            "            attribute {\n                distance-metric: angular\n            }\n        }\n"
            f"{fields}{_sparse_field(job)}    }}\n"
            "    rank-profile nearest {\n        inputs {\n"
            f"            query(q) tensor<float>(x[{job.dimension}])\n        }}\n"
            f"        first-phase {{\n            expression: closeness(field, {VECTOR})\n        }}\n    }}\n"
            f"{_hybrid(job)}}}\n"
        )
    }


def _sparse_field(job: Job) -> str:
    if job.sparse is None:
        return ""
    return f"        field {SPARSE} type tensor<float>(term{{}}) {{\n            indexing: attribute\n        }}\n"


def _hybrid(job: Job) -> str:
    """A profile that joins the ranks by both vectors."""
    if job.sparse is None:
        return ""
    return (
        "    rank-profile hybrid inherits nearest {\n        inputs {\n"
        "            query(terms) tensor<float>(term{})\n        }\n"
        f"        function words() {{\n            expression: sum(query(terms) * attribute({SPARSE}))\n        }}\n"
        "        global-phase {\n"
        f"            expression: reciprocal_rank_fusion(closeness(field, {VECTOR}), words)\n        }}\n    }}\n"
    )


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"array<{_type(kind.value_type)}>"
    if pa.types.is_integer(kind):
        return "long" if kind.bit_width == 64 else "int"
    return "float" if pa.types.is_floating(kind) else "string"


def _indexing(field: pa.Field) -> str:
    return "summary | index" if field.name in _SEARCHED else "summary | attribute"


def _check(folder: Folder) -> Iterator[Fault]:
    yield from folder.strangers(
        r"schemas/[^/]+\.sd|(.+/)?[^/]+\.jsonl?", "schemas/*.sd and *.jsonl are known"
    )
    known = Known()
    for name in folder.names():
        if not name.endswith(".sd"):
            yield from folder.lines(name, _operation_faults(known))


def _operation_faults(known: Known) -> Any:
    def faults(operation: Any) -> Iterator[Broken]:
        verbs = [
            verb
            for verb in ("put", "update", "remove")
            if isinstance(operation, dict) and verb in operation
        ]
        if len(verbs) != 1:
            yield "operation", "is no put, update or remove"
            return
        document = operation[verbs[0]]
        yield from known.id_faults(document, _DOCUMENT.pattern, "an id such as id:NAMESPACE:TYPE::ID")
        if verbs[0] == "put":
            yield from _fields_faults(operation.get("fields"), known)

    return faults


def _fields_faults(fields: Any, known: Known) -> Iterator[Broken]:
    if not isinstance(fields, dict):
        yield "fields", "a put has no fields"
        return
    for key, value in fields.items():
        if _FIELD_NAME.fullmatch(key) is None:
            yield "fields", f"{key!r} is no name of a field"
        for text in [value] if isinstance(value, str) else value if isinstance(value, list) else ():
            if isinstance(text, str) and _REFUSED_IN_PYTHON.search(text):
                yield "character", f"{key} holds a control character or a non-character"
        if value is None:
            yield "fields", f"{key} is null"
    if SPARSE in fields:
        cells = fields[SPARSE]
        yield from map_faults(cells.get("cells") if isinstance(cells, dict) else cells, _SPARSE)
    tensor = fields.get(VECTOR)
    yield from known.vector_faults(
        tensor.get("values") if isinstance(tensor, dict) else tensor, _DIMENSIONS
    )


PROFILE = Profile(
    name="vespa",
    title="Vespa",
    sources=(
        "https://docs.vespa.ai/en/reference/document-json-format.html",
        "https://docs.vespa.ai/en/writing.html",
        "https://github.com/vespa-engine/vespa/blob/master/vespajlib/src/main/java/com/yahoo/text/Text.java",
    ),
    folder="",
    columns=COLUMNS,
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, _upserts, _deletes, _beside),
    load="Put schemas/{name}.sd into the application, deploy it, then: vespa feed upserts/*.jsonl deletes/*.jsonl",
    check=_check,
    sparse=_SPARSE,
    takes=in_json,
    name_pattern="[A-Za-z_][A-Za-z0-9_]{0,127}",
)
