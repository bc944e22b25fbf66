"""Write a snapshot, or the way from an older one to it, as files that a store's bulk import takes.

Rows stream through as Arrow batches; what is held is a batch and one file of each kind. A row that the store would
refuse is left out, named with its reason, and, in a change feed, deleted from the store, so that what the store holds
is always what a whole export would bring.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.exports.checking import Folder
from transforms.exports.files import Cap, ExportedFile, ParquetParts, TextOutput, written
from transforms.exports.place import (
    FORMAT,
    README,
    REFUSED,
    Manifest,
    claim,
    complete,
    is_ours,
    read_manifest,
)
from transforms.exports.profile import Files, Job, Rows, Whole
from transforms.exports.readme import readme
from transforms.exports.rules import ID, VECTOR, Rule, encoded_bytes, first_broken, vector_rules
from transforms.loaders.changes import feed_between
from transforms.loaders.mapping import check_columns
from transforms.loaders.refuse import check_sources
from transforms.loaders.state import point_of
from transforms.loaders.stream import ahead, batched, files_of, rows_of
from transforms.loaders.survey import model_of
from transforms.model.errors import ConfigError, GuardError
from transforms.model.version import VERSION
from transforms.storage.registry import open_store
from transforms.table.reader import Snapshot
from transforms.table.schema import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from transforms.exports.files import Output
    from transforms.exports.profile import Fault, Profile
    from transforms.loaders.changes import Feed
    from transforms.storage.protocol import Store

BATCH_ROWS = 1024
_MODEL = "embed_model"
_REFUSED_ROWS = 10**6
_SHOWN_IDS = 1_000
"""Characters of an id or of a document's name that the table of refused rows keeps."""


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


class TooManyRefusedError(GuardError):
    """More rows than allowed are not in the export."""

    exit_code = 3


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
    claim(store, profile.name, keep=profile.folder if isinstance(profile.form, Whole) else "")
    if isinstance(profile.form, Whole):
        return _published(job, profile, store, profile.form.publish(job, snapshot, wishes.sources))
    run = _Run(job, profile, profile.form, store)
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
    if not profile.folder:
        sizes = {name: size for name, size in sizes.items() if not is_ours(name)}
    yield from profile.check(Folder(store, sizes))


@dataclass
class _Run:
    """One export at work."""

    job: Job
    profile: Profile
    form: Rows
    store: Store
    rows: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.output = self.form.upserts(self.job)
        self.rules = (
            Rule("other_model", f"vectors are of model {self.job.model}", self._of_other_model),
            *vector_rules(self.job.dimension),
            *self.form.rules(self.job),
        )
        self.encoded_rules = (*self.output.rules, *_row_size(self.output))
        self.upserts = self.output.open(self.store)
        deletes = self.form.deletes(self.job) if self.form.deletes and self.job.since is not None else None
        self.delete_output, self.deletes = deletes, deletes.open(self.store) if deletes else None
        self.deleted = 0
        self.refusals = ParquetParts(self.store, REFUSED + "part-{:06}.parquet", Cap(_REFUSED_ROWS, 2**26))

    def upsert(self, batch: pa.RecordBatch) -> None:
        """Write the rows that the store takes."""
        kept = self._left_out(batch, batch, self.rules)
        if not kept.num_rows:
            return
        encoded = self.output.encode(kept)
        bad = first_broken(encoded, self.encoded_rules)
        if (bad >= 0).any():
            self._left_out(kept, encoded, self.encoded_rules)
            encoded = encoded.filter(pa.array(bad < 0))
            kept = kept.filter(pa.array(bad < 0))
        self.rows += encoded.num_rows
        self.upserts.add(encoded)
        if self.form.delete_first:
            self._delete(kept[ID])

    def delete(self, ids: Iterator[pa.Array]) -> None:
        """Write ids to delete."""
        for some in ids:
            self._delete(some)

    def end(self, share: float) -> Manifest:
        """Write what is left, and say that the export is complete."""
        upserts = tuple(self.upserts.close())
        deletes = tuple(self.deletes.close()) if self.deletes else ()
        refusals = tuple(self.refusals.close())
        self._guard(share)
        self._count_files(len(upserts) + len(deletes))
        beside = self.form.beside(self.job, Files(upserts, deletes))
        others = tuple(written(self.store, path, text.encode(), 0) for path, text in sorted(beside.items()))
        manifest = replace(
            _manifest(self.job, self.profile),
            upserts=self.rows,
            deletes=self.deleted,
            refused=dict(sorted(self.refused.items())),
            files=(*upserts, *deletes, *others, *refusals),
        )
        return _completed(self.store, self.profile, self.job, manifest)

    def _of_other_model(self, batch: pa.RecordBatch) -> pa.Array:
        return pc.not_equal(batch[_MODEL], self.job.model)

    def _left_out(
        self, rows: pa.RecordBatch, judged: pa.RecordBatch, rules: Sequence[Rule]
    ) -> pa.RecordBatch:
        """The rows that break no rule; the others are recorded, and in a change feed deleted."""
        place = first_broken(judged, rules)
        bad = np.flatnonzero(place >= 0)
        if not len(bad):
            return rows
        broken = [rules[int(place[row])] for row in bad]
        self.refused.update(rule.reason for rule in broken)
        out = rows.take(pa.array(bad))
        self.refusals.add(
            pa.RecordBatch.from_pydict(
                {
                    **{
                        name: pc.utf8_slice_codeunits(out[name], 0, _SHOWN_IDS)
                        for name in (ID, "source_name", "doc_id")
                    },
                    "reason": [rule.reason for rule in broken],
                    "detail": [rule.detail for rule in broken],
                }
            )
        )
        # What cannot be an id in the store is not there.
        known = pa.array([not rule.reason.startswith("id_") for rule in broken])
        self._delete(out[ID].filter(known))
        return rows.filter(pa.array(place < 0))

    def _delete(self, ids: pa.Array) -> None:
        if self.deletes is None or self.delete_output is None or not len(ids):
            return
        batch = pa.RecordBatch.from_pydict({ID: ids})
        self.deletes.add(self.delete_output.encode(batch))
        self.deleted += len(ids)

    def _guard(self, share: float) -> None:
        refused, total = self.refused.total(), self.refused.total() + self.rows
        if refused > share * total:
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in self.refused.most_common())
            raise TooManyRefusedError(
                f"{self.profile.title} would refuse {refused:,} of {total:,} rows ({reasons}), and {share:.2%} may be: "
                f"see {self.store.uri(REFUSED)}. Choose other --columns, or allow more with --max-refused-share."
            )

    def _count_files(self, count: int) -> None:
        most = self.profile.most_files
        if most is not None and count > most:
            raise ConfigError(
                f"{self.profile.title} takes {most:,} files at once, and this would be {count:,}: export the sources "
                "one by one, with --source."
            )


def _manifest(job: Job, profile: Profile) -> Manifest:
    """What an export holds before anything is in it."""
    return Manifest(
        format=FORMAT,
        profile=profile.name,
        name=job.name,
        table=job.table,
        snapshot=job.snapshot,
        since=job.since,
        created_at=job.created_at,
        program=VERSION,
        dimension=job.dimension,
        model=job.model,
        columns=job.names,
        upserts=0,
        deletes=0,
        refused={},
        files=(),
    )


def _published(job: Job, profile: Profile, store: Store, files: tuple[ExportedFile, ...]) -> Manifest:
    manifest = replace(_manifest(job, profile), upserts=sum(file.rows for file in files), files=files)
    return _completed(store, profile, job, manifest)


def _completed(store: Store, profile: Profile, job: Job, manifest: Manifest) -> Manifest:
    store.write(README, readme(profile, manifest, job.to).encode())
    complete(store, manifest)
    return manifest


def _job(table: str, snapshot: Snapshot, profile: Profile, wishes: Wishes) -> Job:
    if wishes.columns and isinstance(profile.form, Whole):
        raise ConfigError(
            f"{profile.title} takes the table's files as they are, with all columns: leave --columns out."
        )
    columns = tuple(name for name in wishes.columns or profile.columns if name not in (ID, VECTOR))
    check_columns({name: name for name in columns})
    if "*" in columns:
        columns = tuple(name for name in CHUNKS.names if name not in (ID, VECTOR))
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
    return Job(
        table=table,
        snapshot=snapshot.manifest.snapshot,
        since=wishes.since,
        created_at=snapshot.manifest.created_at,
        name=wishes.name,
        to=wishes.to.rstrip("/"),
        dimension=dimension,
        model=model,
        fields=tuple(CHUNKS.field(name).remove_metadata() for name in columns),
    )


def _feed(snapshot: Snapshot, job: Job, wishes: Wishes, since: int) -> Feed:
    """The way from the snapshot that the store holds; its vectors must be of the same model and length."""
    held = Snapshot.open(snapshot.store, since)
    there = model_of(held, wishes.sources, wishes.model)
    if there != (job.model, job.dimension):
        raise ConfigError(
            f"Snapshot {since} has vectors of {there[1]:,} numbers by {there[0]}, snapshot {job.snapshot} of "
            f"{job.dimension:,} by {job.model}: export the whole, without --since."
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
    return list(dict.fromkeys((*job.names, "source_name", "doc_id", _MODEL)))


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


def _row_size(output: Output) -> tuple[Rule, ...]:
    if not isinstance(output, TextOutput):
        return ()
    return (
        encoded_bytes(
            "line", output.cap.bytes - output.frame.size, "row_too_large", "a row as it is sent has"
        ),
    )
