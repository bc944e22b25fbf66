"""Bring a collection of a store to the newest snapshot of a table, whatever it holds now.

The order is what makes it safe: whatever can be refused is refused first; then the store is told what is on the way;
then rows are written, which may be repeated; then rows and ids are held against the snapshot; and last the store is
told what it holds. Whoever dies in between leaves a collection that says it is unfinished, and the next load ends it.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from transforms.loaders.mapping import fields_of, id_and_vector
from transforms.loaders.plan import Wishes, plan_load
from transforms.loaders.protocol import Target
from transforms.loaders.refuse import (
    check_alias,
    check_existing,
    check_name,
    check_readers,
    check_same_table,
    check_sources,
    check_store_name,
    check_target,
    look_at,
)
from transforms.loaders.registry import open_loader
from transforms.loaders.selection import Selection
from transforms.loaders.state import SyncState, point_of, to_text
from transforms.loaders.stream import files_of
from transforms.loaders.survey import Vectors, rows_selected, some_ids, vectors_of
from transforms.loaders.words import words_of
from transforms.loaders.write import Work, write_all, write_changes
from transforms.model.errors import ConfigError, ParquetryError, StorageError
from transforms.storage.roots import place_of
from transforms.table.conditions import parse_conditions
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from transforms.loaders.address import Address
    from transforms.loaders.plan import Kind, Plan
    from transforms.loaders.protocol import Loader
    from transforms.loaders.settings import LoadSettings
    from transforms.loaders.words import Words
    from transforms.storage.protocol import Store

_SAMPLE = 256
"""Ids that are asked for after a load."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load did."""

    kind: Kind
    why: str
    """Why all of it or nothing, as the end of a sentence."""
    collection: str
    snapshot: int
    written: int
    deleted: int
    """Ids that were to be deleted, of which some may not have been there."""
    rows: int
    """Of the collection now."""
    switched: bool
    left_out: str
    """What of the table does not go with this store, as a sentence; empty: nothing."""


def load(
    store: Store,
    settings: LoadSettings,
    wishes: Wishes = Wishes(),  # noqa: B008 - frozen
    watch: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005 - nobody watches
) -> Loaded:
    """Load the newest snapshot of a table; the same call again changes nothing.

    Args:
        store: the table.
        settings: where to and what.
        wishes: what is asked of this load alone.
        watch: is told how many rows of how many are written.

    Raises:
        ConfigError: what is wanted does not go with the table or the store; nothing was written.
        GuardError: the rows do not, or the collection has other rows than loads have written; nothing was written.
        TableError: the table is damaged, or what the store says of itself is.
        StorageError: the store refused or is not there; the same call again goes on from there.
    """
    if wishes.full and wishes.since is not None:
        raise ConfigError("--since asks for changes and --full for all rows: one of them.")
    newest = Snapshot.newest(store)
    check_sources(newest, settings.sources)
    address = settings.address
    for name in (address.collection, settings.into or address.collection):
        check_name(name)
    with closing(open_loader(address)) as loader, _translated(address, loader):
        return _load(loader, newest, settings, wishes, watch)


def _load(
    loader: Loader,
    newest: Snapshot,
    settings: LoadSettings,
    wishes: Wishes,
    watch: Callable[[int, int], None],
) -> Loaded:
    alias = settings.address.collection
    collection = settings.into or loader.resolve(alias)
    for name in (alias, collection):
        check_store_name(loader, name)
    where = f"{settings.address.shown}#{collection}"
    if settings.switch:
        check_alias(loader, alias)
    existing, found = look_at(loader, collection, where, wishes)
    check_same_table(newest, found.state, where, wishes)
    vectors = _vectors(newest, settings, found.state)
    words = words_of(settings, newest.manifest.sparse, loader.limits, loader.name)
    target = _target(settings, collection, vectors, words)
    selection = _selection(settings, vectors.model)
    check_target(loader, target)
    if existing is not None:
        check_existing(existing, found.state, target, where, wishes)
        check_readers(loader, alias, target, found.state)
    plan = plan_load(newest, found, target, selection, wishes)
    known = found.state.rows if plan.kind == "nothing" and found.state else None
    work = Work(
        loader=loader,
        where=where,
        newest=newest,
        target=target,
        selection=selection,
        batch_rows=settings.batch or loader.limits.batch_rows,
        expected=_expected(newest, selection, vectors) if known is None else known,
        watch=watch,
    )
    written, deleted = _done(work, plan, found.state)
    if settings.switch:
        loader.switch(alias, collection)
    return Loaded(
        kind=plan.kind,
        why=plan.why,
        collection=collection,
        snapshot=newest.manifest.snapshot,
        written=written,
        deleted=deleted,
        rows=work.expected,
        switched=settings.switch,
        left_out=words.left_out,
    )


def _done(work: Work, plan: Plan, state: SyncState | None) -> tuple[int, int]:
    """Rows written and ids deleted."""
    if plan.kind == "nothing":
        return 0, 0
    announced = _announced(work, plan)
    if plan.feed is None:
        done = write_all(work, announced, state)
    else:
        done = write_changes(work, announced, plan.feed)
    work.loader.finish(work.target)
    _check_alone(work, announced)
    _check_done(work)
    work.loader.set_state(work.target.collection, to_text(announced.ended(work.expected)))
    return done


def _announced(work: Work, plan: Plan) -> SyncState:
    return SyncState(
        table=place_of(work.newest.store.root),
        held=plan.held,
        toward=point_of(work.newest.manifest),
        shape=work.target.shape,
        selection=work.selection.key,
        dimension=work.target.dimension,
        metric=work.target.metric,
        model=work.target.model,
        rows=0,
        encoder=work.target.encoder,
        load=uuid4().hex,
    )


def _selection(settings: LoadSettings, model: str) -> Selection:
    return Selection(settings.sources, parse_conditions(settings.filter), model)


def _vectors(newest: Snapshot, settings: LoadSettings, state: SyncState | None) -> Vectors:
    """What the last load has found, where table and choice are the same since or it is empty; else what it says."""
    if state is not None and settings.model in (None, state.model):
        if (
            state.held == point_of(newest.manifest)
            and state.selection == _selection(settings, state.model).key
        ):
            return Vectors(state.model, state.dimension, None)
        if not any(file.rows for file in files_of(newest, settings.sources)):
            return Vectors(state.model, state.dimension, 0)
    return vectors_of(newest, settings.sources, settings.model)


def _target(settings: LoadSettings, collection: str, vectors: Vectors, words: Words) -> Target:
    id_name, vector_name = id_and_vector(settings.columns)
    return Target(
        collection=collection,
        id=id_name,
        vector=vector_name,
        fields=fields_of(settings.columns),
        dimension=vectors.dimension,
        metric=settings.metric,
        model=vectors.model,
        index=settings.index.index(),
        sparse=words.sparse,
        encoder=words.encoder,
        full_text=words.full_text,
    )


def _expected(newest: Snapshot, selection: Selection, vectors: Vectors) -> int:
    """How many rows are to be there; all vectors, where there are no conditions."""
    if vectors.rows is None or selection.conditions:
        return rows_selected(newest, selection)
    return vectors.rows


def _check_alone(work: Work, announced: SyncState) -> None:
    """See that no other load has announced itself since; what it and this one have written is mixed."""
    if work.loader.state(work.target.collection) != to_text(announced):
        work.loader.set_state(work.target.collection, to_text(announced.disturbed()))
        raise StorageError(
            f"Another load wrote to {work.where} at the same time. The next one loads it in full: see that one runs "
            "at a time."
        )


def _check_done(work: Work) -> None:
    """Hold the collection against the snapshot."""
    count = work.loader.count(work.target.collection)
    repair = "Its state stays unfinished; load it again with --full."
    if count != work.expected:
        raise StorageError(f"{work.where} holds {count:,} rows and should hold {work.expected:,}. {repair}")
    ids = some_ids(work.newest, work.selection, _SAMPLE)
    missing = sorted(set(ids) - work.loader.held(work.target, ids)) if ids else []
    if missing:
        raise StorageError(
            f"{work.where} lacks {len(missing):,} of {len(ids):,} ids, such as {missing[0]}. {repair}"
        )


@contextmanager
def _translated(address: Address, loader: Loader) -> Iterator[None]:
    """What a vendor's library raises, as one sentence without secrets."""
    kinds: tuple[type[Exception], ...] = (OSError, *loader.errors)
    try:
        yield
    except kinds as error:
        if isinstance(error, ParquetryError):
            raise
        raise StorageError(
            f"{address.shown}: {address.said(error)}. What was written before is no harm; the same command goes on."
        ) from error
