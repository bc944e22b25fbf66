"""What a run is about, and what it may spend, from the words of the command line."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.model.errors import ConfigError
from transforms.planning.selection import EVERYTHING, Selection

if TYPE_CHECKING:
    from pipeline.config import JobConfig


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the table or all of it, from scratch or not."""

    selection: Selection = EVERYTHING
    full: bool = False


ALL = Scope()


@dataclass(frozen=True, slots=True)
class Words:
    """The options as they were given."""

    sources: Sequence[str] = ()
    prefix: str = ""
    since: str | None = None
    recipe: str = ""
    full: bool = False
    max_tokens: int | None = None
    max_cost: float | None = None


NOTHING_SAID = Words()


def scope_of(words: Words, config: JobConfig) -> Scope:
    """The scope that the options stand for.

    Raises:
        ConfigError: a source is not configured, or a date is none.
    """
    names = {source.name for source in config.sources}
    unknown = [name for name in words.sources if name not in names]
    if unknown:
        raise ConfigError(
            f"There is no source `{unknown[0]}` in the configuration; its sources are "
            f"{', '.join(f'`{name}`' for name in sorted(names))}."
        )
    selection = Selection(tuple(words.sources), words.prefix, _seconds(words.since), words.recipe)
    return Scope(selection, words.full)


def with_budget(config: JobConfig, words: Words) -> JobConfig:
    """The configuration with the budget that the options set in place of its own."""
    said = {"max_tokens": words.max_tokens, "max_cost": words.max_cost}
    update = {name: value for name, value in said.items() if value is not None}
    return config.model_copy(update={"limits": config.limits.model_copy(update=update)})


def _seconds(since: str | None) -> int | None:
    if since is None:
        return None
    try:
        moment = datetime.datetime.fromisoformat(since)
    except ValueError:
        raise ConfigError(
            f"--since wants a date as 2026-11-30 or 2026-11-30T18:00, not {since!r}."
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return int(moment.timestamp())
