"""Vector Dataset Format, as Vector-io writes and reads it: Parquet files and ``VDF_META.json``, of whole snapshots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from transforms.exports.checking import Broken, Folder, Known, NotJson, json_value
from transforms.exports.files import Output, ParquetOutput
from transforms.exports.profile import Fault, Files, Job, Profile, Rows
from transforms.exports.rules import ID, VECTOR, Rule, id_bytes
from transforms.exports.sparse import COLUMNS_OF_LISTS, column_faults, sparse_types
from transforms.exports.sql import SQL_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_VERSION = "0.1.248"
"""Of Vector-io, whose layout this is; a reader that is older warns."""
_META = "VDF_META.json"
_DIMENSIONS = 2**31 - 1
_TYPES = {"id": pa.string(), "vector": pa.list_(pa.float32())}
_TOP = ("version", "file_structure", "author", "exported_from", "exported_at", "indexes")
_OF_INDEX = (
    "namespace", "index_name", "total_vector_count", "exported_vector_count", "dimensions", "vector_columns",
    "data_path",
)  # fmt: skip
_METRICS = ("Cosine", "Euclid", "Dot", "Manhattan")


def _rules(_job: Job) -> tuple[Rule, ...]:
    return (id_bytes(2**20),)


def _upserts(job: Job) -> Output:
    schema = pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("vector", pa.list_(pa.field("element", pa.float32(), nullable=False))),
            *job.fields,
        ]
    )

    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [batch[name] for name in (ID, VECTOR, *schema.names[2:])]
        return pa.RecordBatch.from_arrays(columns, names=schema.names).cast(schema)

    return ParquetOutput(f"vdf/{job.name}/part-{{:06}}.parquet", encode)


def _beside(job: Job, files: Files) -> Mapping[str, str]:
    rows = sum(file.rows for file in files.upserts)
    paths = [file.path.removeprefix("vdf/") for file in files.upserts]
    index = {
        "namespace": "",
        "index_name": job.name,
        "total_vector_count": rows,
        "exported_vector_count": rows,
        "dimensions": job.dimension,
        "model_name": job.model,
        "vector_columns": ["vector"],
        "data_path": job.name,
        "metric": "Cosine",
    }
    meta = {
        "version": _VERSION,
        "file_structure": [*paths, _META],
        "author": "parquetry",
        "exported_from": "parquetry",
        "indexes": {job.name: [index]},
        "exported_at": job.created_at,
        "id_column": "id",
    }
    return {f"vdf/{_META}": json.dumps(meta, indent=4) + "\n"}


def _check(folder: Folder) -> Iterator[Fault]:
    if _META not in folder.sizes:
        yield Fault(_META, "layout", "is missing")
        return
    meta = json_value(folder.store.read(_META))
    if isinstance(meta, NotJson) or not isinstance(meta, dict):
        yield Fault(_META, "json", "is no JSON object")
        return
    missing = [key for key in _TOP if key not in meta]
    if missing:
        yield Fault(_META, "keys", f"lacks {', '.join(missing)}")
        return
    try:
        indexes = [(name, index) for name, namespaces in meta["indexes"].items() for index in namespaces]
        missing = [f"{key} of {name}" for name, index in indexes for key in _OF_INDEX if key not in index]
    except (AttributeError, TypeError):
        yield Fault(_META, "keys", "indexes is no object of lists of objects")
        return
    if missing:
        yield Fault(_META, "keys", f"lacks {', '.join(missing)}")
        return
    for name, index in indexes:
        yield from _check_index(folder, name, index, str(meta.get("id_column") or "id"))


def _check_index(folder: Folder, name: str, index: dict[str, Any], identifier: str) -> Iterator[Fault]:
    if index.get("metric") not in (None, *_METRICS):
        yield Fault(_META, "metric", f"{index['metric']!r} is none of {', '.join(_METRICS)}")
    known = Known(dimension=index["dimensions"])
    vector = index["vector_columns"][0]

    def row_faults(row: dict[str, Any]) -> Iterator[Broken]:
        yield from known.id_faults(row[identifier], ".+", "a string that holds something")
        yield from known.vector_faults(row[vector], _DIMENSIONS)
        yield from column_faults(row)

    wanted = {identifier: pa.string(), vector: _TYPES["vector"]}
    for path in folder.names(index["data_path"].removesuffix("/") + "/", ".parquet"):
        sparse = sparse_types(folder.schema(path))
        yield from folder.rows(path, wanted | sparse, row_faults, others=True)
    if len(known.ids) != index["exported_vector_count"]:
        yield Fault(
            _META,
            "count",
            f"index {name} has {len(known.ids):,} rows, not {index['exported_vector_count']:,}",
        )


PROFILE = Profile(
    name="vdf",
    title="Vector Dataset Format (Vector-io)",
    sources=("https://pypi.org/project/vdf-io/", "https://github.com/AI-Northstar-Tech/vector-io"),
    folder="vdf/",
    columns=SQL_COLUMNS,
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, _upserts, None, _beside),
    no_changes="it holds whole snapshots",
    load="import_vdf STORE --dir vdf, with one of the stores that Vector-io knows.",
    check=_check,
    sparse=COLUMNS_OF_LISTS,
    name_pattern="[A-Za-z0-9][A-Za-z0-9._-]{0,127}",
)
