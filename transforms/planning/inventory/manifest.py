"""Find an inventory and say what it is made of: when, in which files, of which columns.

S3 Inventory and Storage Insights of Google Cloud Storage write a manifest last, so that an inventory with one
is whole. A single file has none: when it was written is then all that is known.
"""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from transforms.model.errors import NotFoundError, StorageError
from transforms.storage.registry import open_store
from transforms.storage.roots import bucket_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from transforms.model.objects import ObjectInfo
    from transforms.storage.protocol import Store

_FORMATS = (".csv", ".csv.gz", ".parquet")
_MANIFEST = "manifest.json"
_MANIFEST_BYTES = 64 * 2**20
_DATE = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[T/]\d\d[-:]\d\d")


@dataclass(frozen=True, slots=True)
class Inventory:
    """One report. Its files are whole names in the bucket ``root``, of one format."""

    uri: str
    root: str
    made: datetime.datetime
    files: tuple[str, ...]
    header: tuple[str, ...] | None = None
    """Columns of CSV without a row of names."""
    url_encoded: bool = False
    records: int | None = None
    """Rows of all files, where the manifest says how many."""
    bucket: str | None = None
    """The bucket it is about, where the manifest says which."""


def find_inventory(uri: str) -> Inventory:
    """The inventory at a URI: a manifest, a single file, or the newest manifest below a folder.

    Raises:
        StorageError: there is none, or the manifest cannot be understood, or a file of it is not there, or not
            whole.
    """
    root = bucket_of(uri)
    name = uri[len(root) + 1 :]
    store = open_store(root)
    if name.endswith(_FORMATS):
        facts = store.stat(name)
        if facts is None or facts.modified is None:
            raise NotFoundError(f"There is no inventory {uri}.")
        made = datetime.datetime.fromtimestamp(facts.modified, datetime.UTC)
        return Inventory(uri=uri, root=root, made=made, files=(name,))
    if not name.endswith(_MANIFEST):
        name = _newest(store, f"{name.rstrip('/')}/", uri)
    return _of_manifest(store, name)


def _newest(store: Store, folder: str, uri: str) -> str:
    """The manifest that is of the latest date by its own name, which a copy keeps."""
    found = [info for page in store.list(folder) for info in page if info.name.endswith(_MANIFEST)]
    if not found:
        raise NotFoundError(
            f"There is no inventory in {uri}: no name there ends in {_MANIFEST}. The first one is delivered up to "
            "two days after it was asked for."
        )
    return max(found, key=_date).name


def _date(info: ObjectInfo) -> tuple[str, int, str]:
    dates = _DATE.findall(info.name)
    return (re.sub(r"\D", "", dates[-1]) if dates else "", info.modified or 0, info.name)


def _of_manifest(store: Store, name: str) -> Inventory:
    uri = store.uri(name)
    try:
        facts = json.loads(store.read(name, limit=_MANIFEST_BYTES))
        if "report_shards_file_names" in facts:
            return _of_storage_insights(store, name, facts)
        if "fileSchema" in facts:
            return _of_s3_inventory(store, name, facts)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StorageError(
            f"{uri} is no manifest of an inventory that can be read: {type(error).__name__}: {error}."
        ) from error
    raise StorageError(
        f"{uri} is no manifest of S3 Inventory or of Storage Insights; for another one name its CSV or Parquet "
        "file as inventory.uri."
    )


def _of_s3_inventory(store: Store, name: str, facts: Mapping[str, Any]) -> Inventory:
    uri, kind = store.uri(name), facts["fileFormat"].upper()
    if kind not in {"CSV", "PARQUET"}:
        raise StorageError(
            f"{uri} is of an inventory in {kind}; choose CSV or Parquet where it is configured."
        )
    sizes = {file["key"]: int(file["size"]) for file in facts["files"]}
    for file, size in sizes.items():
        stated = store.stat(file)
        if stated is None or stated.size != size:
            there = "is not there" if stated is None else f"has {stated.size:,} bytes"
            raise StorageError(
                f"The inventory {uri} is not whole: {store.uri(file)} {there}, and {size:,} bytes were written."
            )
    columns = tuple(column.strip() for column in facts["fileSchema"].split(","))
    made = datetime.datetime.fromtimestamp(int(facts["creationTimestamp"]) / 1000, datetime.UTC)
    return Inventory(
        uri=uri,
        root=store.root,
        made=made,
        files=tuple(sizes),
        header=columns if kind == "CSV" else None,
        url_encoded=kind == "CSV",
        bucket=facts["sourceBucket"],
    )


def _of_storage_insights(store: Store, name: str, facts: Mapping[str, Any]) -> Inventory:
    uri, folder = store.uri(name), name.rpartition("/")[0]
    files = tuple(
        f"{folder}/{shard}" if folder else shard
        for shard in (path.rpartition("/")[2] for path in facts["report_shards_file_names"])
    )
    if len(files) != int(facts.get("shard_count", len(files))):
        raise StorageError(
            f"The inventory {uri} is not whole: it names {len(files):,} files of {facts['shard_count']}."
        )
    made = datetime.datetime.fromisoformat(facts["snapshot_time"])
    records = facts.get("records_processed")
    return Inventory(
        uri=uri,
        root=store.root,
        made=made if made.tzinfo else made.replace(tzinfo=datetime.UTC),
        files=files,
        records=None if records is None else int(records),
    )
