"""Write a snapshot, or the way from an older one to it, as files that a store's bulk import takes.

Rows stream through as Arrow batches; what is held is a batch and one file of each kind. A row that the store would
refuse is left out, named with its reason, and, in a change feed, deleted from the store, so that what the store holds
is always what a whole export would bring.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.exports.checking import Folder
from transforms.exports.place import MANIFEST, UNFINISHED, claim, is_ours, read_manifest
from transforms.exports.profile import Fault, Job, Whole
from transforms.exports.rules import ID, VECTOR
from transforms.exports.run import MODEL, Run, completed
from transforms.loaders.changes import feed_between
from transforms.loaders.mapping import check_columns
from transforms.loaders.refuse import check_sources
from transforms.loaders.state import point_of
from transforms.loaders.stream import ahead, batched, files_of, rows_of
from transforms.loaders.survey import model_of
from transforms.model.errors import ConfigError
from transforms.sparse.columns import INDICES, VALUES
from transforms.storage.registry import open_store
from transforms.table.reader import Snapshot
from transforms.table.schema import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from transforms.exports.place import Manifest
    from transforms.exports.profile import Profile
    from transforms.exports.sparse import Sparse
    from transforms.loaders.changes import Feed

BATCH_ROWS = 1024


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person asks for."""

    to: str
    name: str = "chunks"
    """Of the collection: namespace, index, table."""
    since: int | None = None
    """The snapshot that the store holds; None: export the whole."""
    sources: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    """Besides id and vector; none: those of the profile."""
    model: str | None = None
    max_refused_share: float = 0.01
    sparse: bool = True
    """Whether sparse vectors go along, where the table has them and the store takes them."""


def export(
    table: str, profile: Profile, wishes: Wishes, progress: Callable[[int], None] | None = None
) -> Manifest:
    """Write the export; what is refused as a whole is refused before anything is written.

    Raises:
        ConfigError: a wish that the table or the store cannot meet, or a place that holds something else.
        TableError: the table is damaged, or has no such snapshot.
        TooManyRefusedError: the store would refuse a larger share of the rows than allowed.
    """
    snapshot = Snapshot.newest(open_store(table))
    check_sources(snapshot, wishes.sources)
    job = _job(table, snapshot, profile, wishes)
    feed = None if wishes.since is None else _feed(snapshot, job, wishes, wishes.since)
    store = open_store(wishes.to)
    if isinstance(profile.form, Whole):
        profile.form.require()
        claim(store, profile.name, keep=profile.folder)
        return completed(job, profile, store, profile.form.publish(job, snapshot, wishes.sources))
    run = Run(job, profile, profile.form, store)
    claim(store, profile.name)
    tables = _whole(snapshot, job, wishes) if feed is None else feed.rows(_read(job))
    for batch in ahead(batched(tables, BATCH_ROWS)):
        run.upsert(batch)
        if progress is not None:
            progress(batch.num_rows)
    if feed is not None:
        run.delete(_gone(feed))
    return run.end(wishes.max_refused_share)


def check(profile: Profile, root: str) -> Iterator[Fault]:
    """Every fault of a folder by the store's published rules: of an export, or of any folder meant for the store.

    Raises:
        ConfigError: there is no such folder.
    """
    store = open_store(root)
    if not store.exists_root():
        raise ConfigError(f"There is no folder {root} to check.")
    if profile.folder and read_manifest(store) is not None:
        store = open_store(f"{root.rstrip('/')}/{profile.folder.rstrip('/')}")
    sizes = {info.name: info.size for page in store.list() for info in page} if store.exists_root() else {}
    if UNFINISHED in sizes and MANIFEST not in sizes:
        yield Fault(UNFINISHED, "incomplete", "the export has not ended: repeat it, or remove this file")
    if not profile.folder:
        sizes = {name: size for name, size in sizes.items() if not is_ours(name)}
    yield from profile.check(Folder(store, sizes))


def _job(table: str, snapshot: Snapshot, profile: Profile, wishes: Wishes) -> Job:
    if (wishes.columns or not wishes.sparse) and isinstance(profile.form, Whole):
        option = "--columns" if wishes.columns else "--no-sparse"
        raise ConfigError(
            f"{profile.title} takes the table's files as they are, with all columns: leave {option} out."
        )
    if re.fullmatch(profile.name_pattern, wishes.name, re.DOTALL) is None:
        raise ConfigError(
            f"{wishes.name!r} is no name of a collection for {profile.title}: give one with --name."
        )
    if wishes.since is not None and profile.no_changes:
        raise ConfigError(f"--since is of no use for {profile.title}: {profile.no_changes}. Leave it out.")
    model, dimension = model_of(snapshot, wishes.sources, wishes.model)
    if dimension > profile.most_dimensions:
        raise ConfigError(
            f"{profile.title} takes vectors of {profile.most_dimensions:,} numbers, and {model} makes {dimension:,}."
        )
    sparse = _sparse(snapshot, profile, wishes)
    return Job(
        table=table,
        snapshot=snapshot.manifest.snapshot,
        since=wishes.since,
        created_at=snapshot.manifest.created_at,
        name=wishes.name,
        to=wishes.to.rstrip("/"),
        dimension=dimension,
        model=model,
        fields=_fields(profile, wishes, sparse),
        sparse=sparse,
        encoder=snapshot.manifest.sparse,
    )


def _sparse(snapshot: Snapshot, profile: Profile, wishes: Wishes) -> Sparse | None:
    """How the rows carry their sparse vectors, if they do."""
    return profile.sparse if wishes.sparse and snapshot.manifest.sparse is not None else None


def _fields(profile: Profile, wishes: Wishes, sparse: Sparse | None) -> tuple[pa.Field, ...]:
    """The columns besides id and vectors; ``*`` is all that the store takes."""
    chosen = wishes.columns or profile.columns
    check_columns({name: name for name in chosen})
    names = [*(CHUNKS.names if "*" in chosen else chosen)]
    names = [name for name in names if name not in (ID, VECTOR, INDICES, VALUES)]
    if sparse is not None and sparse.columns:
        names += [INDICES, VALUES]
    fields = [CHUNKS.field(name).remove_metadata() for name in names]
    strange = [field.name for field in fields if not profile.takes(field.type)]
    if strange and "*" not in chosen:
        raise ConfigError(f"{profile.title} cannot hold column {strange[0]}: leave it out of --columns.")
    return tuple(field for field in fields if profile.takes(field.type))


def _feed(snapshot: Snapshot, job: Job, wishes: Wishes, since: int) -> Feed:
    """The way from the snapshot that the store holds; its vectors must be of the same model and length."""
    held = Snapshot.open(snapshot.store, since)
    there = model_of(held, wishes.sources, wishes.model)
    if there != (job.model, job.dimension):
        raise ConfigError(
            f"Snapshot {since} has vectors of {there[1]:,} numbers by {there[0]}, snapshot {job.snapshot} of "
            f"{job.dimension:,} by {job.model}: export the whole, without --since."
        )
    if job.sparse is not None and held.manifest.sparse != job.encoder:
        raise ConfigError(
            f"Snapshot {since} has sparse vectors by {held.manifest.sparse or 'nothing'}, snapshot {job.snapshot} by "
            f"{job.encoder}: export the whole, without --since, or leave them out with --no-sparse."
        )
    feed = feed_between(snapshot.store, point_of(held.manifest), snapshot, wishes.sources)
    if feed is None:
        raise ConfigError(
            f"No changes lead from snapshot {since} to {job.snapshot}: a snapshot on the way was removed. Export the "
            "whole, without --since."
        )
    return feed


def _read(job: Job) -> list[str]:
    """The columns that are read: those that are written, and what rules and refusals need."""
    return list(dict.fromkeys((*job.read, "source_name", "doc_id", MODEL)))


def _whole(snapshot: Snapshot, job: Job, wishes: Wishes) -> Iterator[pa.Table]:
    return rows_of(snapshot, files_of(snapshot, wishes.sources), _read(job))


def _gone(feed: Feed) -> Iterator[pa.Array]:
    """Ids to delete: those that went, but for those that came back."""
    back = [table[ID].combine_chunks() for table in feed.rows([ID])]
    there = pa.concat_arrays([pa.array([], pa.string()), *back])
    gone = feed.gone.filter(pc.invert(pc.is_in(feed.gone, value_set=there)))
    ordered = gone.take(pc.sort_indices(gone))
    for first in range(0, len(ordered), BATCH_ROWS):
        yield ordered.slice(first, BATCH_ROWS)
