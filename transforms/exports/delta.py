"""A Delta table over the table's own files, as Databricks needs one.

Files are copied as they are (links on a local disk, server-side within a bucket) under names that say their
content, and one commit adds those that came and removes those that went. A file that did not change is neither copied
nor named in the commit, so that a night costs what changed; the same snapshot again commits nothing.
"""

from __future__ import annotations

import json
import os
import re
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from transforms.exports.checking import Folder, Known
from transforms.exports.files import ExportedFile
from transforms.exports.profile import Fault, Job, Profile, Whole
from transforms.exports.rules import ID, VECTOR
from transforms.exports.sparse import COLUMNS_OF_LISTS, signed
from transforms.loaders.stream import files_of
from transforms.model.errors import ConfigError, GuardError
from transforms.sparse.columns import INDICES, VALUES
from transforms.storage.registry import open_store
from transforms.storage.roots import local_path, normal_root, split_root
from transforms.table.layout import shard_of, slug_of, snapshot_dir
from transforms.table.schema import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deltalake import DeltaTable

    from transforms.model.shard import FileInfo
    from transforms.storage.protocol import Store
    from transforms.table.reader import Snapshot

FOLDER = "delta/"
_SOURCE = "source"
_OURS = re.compile(r"chunks/source=[^/]+/[^/]+-[0-9a-f]{16}\.parquet")
_DIMENSIONS = 2**31 - 1


def publish(job: Job, snapshot: Snapshot, sources: Sequence[str]) -> tuple[ExportedFile, ...]:
    """Make the Delta table at ``job.to`` hold these sources, or all, of a snapshot; its files.

    Raises:
        ConfigError: the package is missing.
        GuardError: the Delta table has files that no export wrote.
    """
    root = f"{job.to}/{FOLDER.rstrip('/')}"
    target = open_store(root)
    wanted = {_path(file): file for file in files_of(snapshot, sources)}
    table = _open(root)
    held = {} if table is None else _held(table)
    new = {path: file for path, file in wanted.items() if path not in held}
    for path, file in new.items():
        copy(snapshot.store, snapshot_dir(snapshot.manifest.snapshot) + file.path, target, path)
    _commit(root, table, job, new, {path: held[path] for path in held.keys() - wanted.keys()})
    return tuple(
        ExportedFile(FOLDER + path, file.rows, file.bytes, file.sha256)
        for path, file in sorted(wanted.items())
    )


def copy(source: Store, name: str, target: Store, path: str) -> None:
    """Copy an object to another store: without moving its bytes where both are one disk or one bucket."""
    one, other = normal_root(source.root), normal_root(target.root)
    above = _common(one, other)
    if above is None:
        target.write(path, source.read(name))
        return
    # As an object of the place above both.
    open_store(above).copy(_below(above, one) + name, _below(above, other) + path)


def library() -> Any:
    """The package ``deltalake``.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import deltalake
    except ModuleNotFoundError as error:
        raise ConfigError("Delta needs the package deltalake: pip install 'parquetry[stores]'.") from error
    return deltalake


def _path(file: FileInfo) -> str:
    return f"chunks/source={slug_of(file.path)}/{shard_of(file.path)}-{file.sha256[:16]}.parquet"


def _open(root: str) -> DeltaTable | None:
    from deltalake import DeltaTable

    options = _options(root)
    return DeltaTable(root, storage_options=options) if DeltaTable.is_deltatable(root, options) else None


def _held(table: DeltaTable) -> dict[str, dict[str, Any]]:
    """The files of the Delta table by path."""
    rows = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    strange = [row["path"] for row in rows if not _OURS.fullmatch(row["path"])]
    if strange:
        raise GuardError(
            f"The Delta table at {table.table_uri} has files that no export wrote, {strange[0]} among them: somebody "
            "else writes there. Name another place."
        )
    return {row["path"]: row for row in rows}


def _commit(
    root: str, table: DeltaTable | None, job: Job, new: dict[str, FileInfo], old: dict[str, dict[str, Any]]
) -> None:
    from deltalake import Schema
    from deltalake.transaction import CommitProperties, RemoveAction, create_table_with_add_actions

    schema = Schema.from_arrow(pa.schema([*map(signed, CHUNKS), (_SOURCE, pa.string())]))
    facts = CommitProperties(
        custom_metadata={"parquetry.table": job.table, "parquetry.snapshot": str(job.snapshot)}
    )
    adds = [_added(path, file) for path, file in sorted(new.items())]
    if table is None:
        create_table_with_add_actions(
            root, schema, adds, partition_by=[_SOURCE], storage_options=_options(root), name=job.name,
            commit_properties=facts,
        )  # fmt: skip
        return
    known = {field.name for field in table.schema().fields}
    missing = [field for field in schema.fields if field.name not in known]
    if missing:
        table.alter.add_columns(missing)
    now = int(time.time() * 1000)
    removes = [
        RemoveAction(path, True, now, row["size_bytes"], {_SOURCE: row[f"partition.{_SOURCE}"]})  # noqa: FBT003
        for path, row in sorted(old.items())
    ]
    if adds or removes:
        table.create_write_transaction(
            [*adds, *removes], "append", schema, partition_by=[_SOURCE], commit_properties=facts
        )


def _added(path: str, file: FileInfo) -> Any:
    from deltalake.transaction import AddAction

    return AddAction(
        path=path,
        size=file.bytes,
        partition_values={_SOURCE: slug_of(file.path)},
        modification_time=0,
        data_change=True,
        stats=json.dumps({"numRecords": file.rows}),
    )


def _options(root: str) -> dict[str, str] | None:
    """What the library does not find in the environment by itself."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if not root.startswith("s3://") or not endpoint:
        return None
    return {"AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": str(endpoint.startswith("http://")).lower()}


def _common(one: str, other: str) -> str | None:
    """A root above both roots, in which one store can copy."""
    if local_path(one) is not None and local_path(other) is not None:
        return "/"
    scheme = one.partition("://")[0]
    if scheme != other.partition("://")[0]:
        return None
    buckets = {split_root(root, scheme)[0] for root in (one, other)}
    return f"{scheme}://{buckets.pop()}" if len(buckets) == 1 else None


def _below(above: str, root: str) -> str:
    """What the names of objects of ``root`` begin with, as objects of ``above``."""
    path = local_path(root)
    if path is not None:
        return f"{os.path.realpath(path).lstrip('/')}/"
    return split_root(root, above.partition("://")[0])[1]


def _check(folder: Folder) -> Iterator[Fault]:
    """The log must be readable, name files that are there with their sizes, and hold each id once."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        table = DeltaTable(folder.store.root, storage_options=_options(folder.store.root))
        rows = pa.table(table.get_add_actions(flatten=True)).to_pylist()
        fields = {field.name for field in table.schema().fields}
    except (DeltaError, OSError) as error:
        yield Fault("_delta_log", "log", f"is no Delta table: {error}")
        return
    if ID not in fields:
        yield Fault("_delta_log", "columns", f"column {ID} is missing")
    known = Known()
    for row in rows:
        name = row["path"]
        if folder.sizes.get(name) != row["size_bytes"]:
            yield Fault(
                name, "file", f"is not there with the {row['size_bytes']:,} bytes that the log says"
            )
            continue
        schema = folder.schema(name)
        if schema is not None and _SOURCE in schema.names:
            yield Fault(name, "columns", f"holds {_SOURCE}, by which the table is partitioned")
        yield from folder.rows(
            name, {ID: pa.string()}, lambda each: known.id_faults(each[ID], ".+", "a string"), others=True
        )


PROFILE = Profile(
    name="delta",
    title="Delta Lake, Databricks",
    sources=(
        "https://delta-io.github.io/delta-rs/latest/api/transaction/",
        "https://github.com/delta-io/delta/blob/master/PROTOCOL.md",
    ),
    folder=FOLDER,
    columns=tuple(name for name in CHUNKS.names if name not in (ID, VECTOR, INDICES, VALUES)),
    most_dimensions=_DIMENSIONS,
    form=Whole(publish, library),
    no_changes="what changed is found by itself",
    load="CREATE TABLE {name} USING DELTA LOCATION '{to}/{folder}'; repeat the export every night.",
    check=_check,
    sparse=COLUMNS_OF_LISTS,
)
