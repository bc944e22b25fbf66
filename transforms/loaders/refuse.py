"""What is refused before anything is written: wishes that the table or the store cannot meet, and strange rows."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from transforms.loaders.plan import Found
from transforms.loaders.sql import STATE
from transforms.loaders.state import from_text, is_of
from transforms.model.errors import ConfigError, GuardError, TableError
from transforms.storage.roots import place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.loaders.plan import Wishes
    from transforms.loaders.protocol import Existing, Loader, Target
    from transforms.loaders.state import SyncState
    from transforms.table.reader import Snapshot

_ELSEWHERE = "Name another collection with --into, or drop this one."
_TAKE_OVER = (
    "Load into another collection, or take it over with --adopt: then it holds the table's rows alone."
)


def check_sources(newest: Snapshot, sources: Sequence[str]) -> None:
    """Pass names of sources that the table has.

    Raises:
        ConfigError: it has one of them not.
    """
    there = newest.manifest.sources
    unknown = [name for name in sources if name not in there]
    if unknown:
        raise ConfigError(
            f"The table has no source called {', '.join(unknown)}; it has {', '.join(there) or 'none'}."
        )


def check_name(name: str) -> None:
    """Pass a name that a collection or an alias may have.

    Raises:
        ConfigError: it has control characters, or loads keep there what collections hold.
    """
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise ConfigError(f"{name!r} is no name of a collection: it has control characters.")
    if name.lower() == STATE:
        raise ConfigError(f"{name} is where loads note what collections hold: name another collection.")


def check_store_name(loader: Loader, name: str) -> None:
    """Pass a name that the store lets a collection have.

    Raises:
        ConfigError: it does not.
    """
    names = loader.limits.names
    if names is not None and not re.fullmatch(names.pattern, name):
        raise ConfigError(f"{name!r} is no name of a collection of {loader.name}: {names.rule}.")


def check_alias(loader: Loader, alias: str) -> None:
    """Pass a name that can be made to stand for a collection.

    Raises:
        ConfigError: the store has no aliases, or the name is a collection's own.
    """
    if not loader.limits.aliases:
        raise ConfigError(f"{loader.name} has no aliases or views to switch.")
    if loader.resolve(alias) == alias and loader.describe(alias) is not None:
        raise ConfigError(
            f"{alias} is a collection itself and cannot stand for another one: rename it, or name an alias in `to`."
        )


def check_target(loader: Loader, target: Target) -> None:
    """Pass what the store can hold at all.

    Raises:
        ConfigError: it has no such metric or index, or takes no such vectors.
    """
    limits = loader.limits
    if target.metric not in limits.metrics:
        raise ConfigError(
            f"{loader.name} does not compare by {target.metric}; it does by {', '.join(sorted(limits.metrics))}."
        )
    if target.index.kind not in limits.indexes:
        raise ConfigError(
            f"{loader.name} has no index of kind {target.index.kind}; it has {', '.join(sorted(limits.indexes))}."
        )
    indexed = limits.indexed if target.index.kind == "hnsw" else None
    most = min((limit for limit in (limits.dimensions, indexed) if limit is not None), default=None)
    if most is not None and target.dimension > most:
        under = " under HNSW" if most == indexed else ""
        raise ConfigError(
            f"{loader.name} takes vectors of {most:,} numbers at most{under}; those of {target.model} have "
            f"{target.dimension:,}."
        )


def check_readers(loader: Loader, alias: str, target: Target, state: SyncState | None) -> None:
    """Pass a collection that need not be dropped, or that no reader comes to by the alias.

    Raises:
        ConfigError: the store would forget the alias with the collection.
    """
    if loader.limits.atomic or not loader.limits.aliases or state is None or state.shape == target.shape:
        return
    if alias != target.collection and loader.resolve(alias) == target.collection:
        raise ConfigError(
            f"{target.collection} must be made anew, because columns, dimension or index are others, and {alias} "
            "stands for it: its readers would find nothing meanwhile. Load into another collection with --into and "
            "--switch."
        )


def check_existing(
    existing: Existing, state: SyncState | None, target: Target, where: str, wishes: Wishes
) -> None:
    """Pass a collection of the dimension and metric wanted, or one that is ours to make anew.

    Raises:
        ConfigError: it has others.
    """
    ours = state is not None and existing.dimension in (None, state.dimension)
    if existing.dimension not in (None, target.dimension) and not ours:
        raise ConfigError(
            f"{where} has vectors of {existing.dimension:,} numbers; those of the table have "
            f"{target.dimension:,}. {_ELSEWHERE}"
        )
    if existing.metric not in (None, target.metric) and not (ours and wishes.full):
        raise ConfigError(
            f"{where} compares by {existing.metric}, and {target.metric} is wanted. {_ELSEWHERE} "
            "One that a load has made is made anew with --full."
        )


def look_at(loader: Loader, collection: str, where: str, wishes: Wishes) -> tuple[Existing | None, Found]:
    """What is there, if it may be written to.

    Raises:
        GuardError: it has rows that no load has written, and nobody said to take them over.
        TableError: what it says of itself is damaged.
    """
    existing = loader.describe(collection)
    if existing is None:
        return None, Found(exists=False, state=None, strange=False)
    state = _state(loader, collection, where, wishes)
    count = loader.count(collection)
    strange = state is None or (state.toward is None and count != state.rows)
    if not strange or wishes.adopt:
        return existing, Found(exists=True, state=state, strange=strange)
    if state is None:
        raise GuardError(f"{where} is there already, and no load has made it. {_TAKE_OVER}")
    raise GuardError(
        f"{where} has {count:,} rows, and the last load left {state.rows:,}: somebody else writes there. {_TAKE_OVER}"
    )


def check_same_table(newest: Snapshot, state: SyncState | None, where: str, wishes: Wishes) -> None:
    """Pass a collection that this table was loaded into, or none.

    Raises:
        GuardError: another table was, and nobody said to take the collection over.
    """
    if state is None or wishes.adopt or is_of(state, newest.store):
        return
    raise GuardError(
        f"{where} holds another table, the one at {state.table}; this one is at {place_of(newest.store.root)}, and has "
        f"no snapshot that was loaded there. {_TAKE_OVER}"
    )


def _state(loader: Loader, collection: str, where: str, wishes: Wishes) -> SyncState | None:
    text = loader.state(collection)
    try:
        return None if text is None else from_text(text, where)
    except TableError:
        if wishes.adopt:
            return None
        raise
