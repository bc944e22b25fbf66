"""Amazon S3 Vectors: lists of vectors for ``put-vectors`` and of keys for ``delete-vectors``, one file a call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from transforms.exports.checking import Broken, Folder, Known, flat_faults, size_faults
from transforms.exports.encoding import (
    id_lists,
    in_json,
    json_ids,
    json_vectors,
    lines,
    members,
    metadata_of,
    prefixed,
)
from transforms.exports.files import Cap, Frame, Output, TextOutput
from transforms.exports.json_text import json_objects
from transforms.exports.profile import COLUMNS, Fault, Files, Job, Profile, Rows
from transforms.exports.rules import Rule, encoded_bytes, id_characters, id_without_nul, no_nul, texts
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CALL = 500
_BYTES = 20 * 2**20 - 4096
"""Of the 20 MiB of a request, some for the names of bucket and index around the list."""
_METADATA_BYTES = 40 * 1024
_FILTERABLE_BYTES = 2 * 1024
_KEYS = 50
_KEY = (r"[^\x00]{1,1024}", "1 to 1,024 characters without NUL")
_DIMENSIONS = 4_096
SHOWN = ("text", "doc_uri", "doc_title", "section_title", "section_path", "metadata")
"""What is shown and not filtered by: declared when the index is created."""
_LIST = Frame(b"[", b",", b"]")


def _rules(job: Job) -> tuple[Rule, ...]:
    if len(job.fields) > _KEYS:
        raise ConfigError(
            f"S3 Vectors takes {_KEYS} keys of metadata, and {len(job.fields)} columns were asked for."
        )
    return (id_characters(1_024), id_without_nul(), no_nul(texts(job.fields)))


def _upserts(job: Job) -> Output:
    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        given = members(batch, job.fields)
        metadata = metadata_of(batch, given)
        vector = prefixed('{"float32":', json_vectors(batch), "}")
        line = json_objects({"key": json_ids(batch), "data": vector, "metadata": metadata})
        filtered = metadata_of(batch, {name: text for name, text in given.items() if name not in SHOWN})
        return lines(line, metadata=metadata, filterable=filtered)

    too_much = (
        encoded_bytes("metadata", _METADATA_BYTES, "metadata_too_large", "metadata has"),
        encoded_bytes("filterable", _FILTERABLE_BYTES, "filterable_too_large", "filterable metadata has"),
    )
    return TextOutput("upserts/{:06}.json", encode, Cap(_CALL, _BYTES), _LIST, too_much)


def _deletes(_job: Job) -> Output:
    return id_lists("deletes/{:06}.json", Cap(_CALL, _BYTES), _LIST)


def _beside(job: Job, _files: Files) -> Mapping[str, str]:
    index: dict[str, Any] = {
        "indexName": job.name,
        "dataType": "float32",
        "dimension": job.dimension,
        "distanceMetric": "cosine",
    }
    shown = [field.name for field in job.fields if field.name in SHOWN]
    if shown:
        index["metadataConfiguration"] = {"nonFilterableMetadataKeys": shown}
    return {"index.json": json.dumps(index, indent=2) + "\n"}


def _check(folder: Folder) -> Iterator[Fault]:
    yield from folder.strangers(
        r"index\.json|(upserts|deletes)/[^/]+\.json",
        "index.json, upserts/*.json and deletes/*.json are known",
    )
    upserts, deletes = Known(), Known()
    for name in folder.names("upserts/"):
        yield from folder.too_large(name, _BYTES)
        yield from folder.request(name, _CALL, lambda body: body, _vector_faults(upserts))
    for name in folder.names("deletes/"):
        yield from folder.too_large(name, _BYTES)
        yield from folder.request(name, _CALL, lambda body: body, lambda key: deletes.id_faults(key, *_KEY))


def _vector_faults(known: Known) -> Any:
    def faults(vector: Any) -> Iterator[Broken]:
        if not isinstance(vector, dict) or not isinstance(vector.get("data"), dict):
            yield "record", "is no object with data"
            return
        metadata = vector.get("metadata", {})
        yield from known.id_faults(vector.get("key"), *_KEY)
        yield from known.vector_faults(vector["data"].get("float32"), _DIMENSIONS)
        broken = list(flat_faults(metadata))
        yield from broken
        if not broken:
            yield from _size_faults(metadata)

    return faults


def _size_faults(metadata: dict[str, Any]) -> Iterator[Broken]:
    if len(metadata) > _KEYS:
        yield "metadata", f"there are {len(metadata)} keys, more than {_KEYS}"
    yield from size_faults("metadata", metadata, _METADATA_BYTES)
    filtered = {key: value for key, value in metadata.items() if key not in SHOWN}
    yield from size_faults("filterable metadata", filtered, _FILTERABLE_BYTES)


PROFILE = Profile(
    name="s3-vectors",
    title="Amazon S3 Vectors",
    sources=(
        "https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-limitations.html",
        "https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-vectors.html",
        "https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-metadata-filtering.html",
        "https://docs.aws.amazon.com/AmazonS3/latest/API/API_S3VectorBuckets_MetadataConfiguration.html",
    ),
    folder="",
    columns=COLUMNS,
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, _upserts, _deletes, _beside),
    load=(
        "aws s3vectors create-index --vector-bucket-name BUCKET --cli-input-json file://index.json\n"
        "for file in upserts/*.json; do aws s3vectors put-vectors --vector-bucket-name BUCKET --index-name {name} "
        "--vectors file://$file; done\n"
        "for file in deletes/*.json; do aws s3vectors delete-vectors --vector-bucket-name BUCKET --index-name {name} "
        "--keys file://$file; done"
    ),
    check=_check,
    takes=in_json,
    name_pattern="[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
)
