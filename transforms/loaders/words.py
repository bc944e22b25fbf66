"""How a collection is searched by words: by a sparse vector where table and store have it, else by an index of texts.

Neither is asked for by most settings: what goes is taken along, and what does not is left out with a word. What is
asked for by name and does not go is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from transforms.loaders.protocol import Limits
    from transforms.loaders.settings import LoadSettings

TEXT = "text"
"""The column that an index of words is built for."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a collection gets beside the vector."""

    sparse: str | None
    """Name of the sparse vector."""
    encoder: str
    """What made it; empty without it."""
    full_text: str | None
    """Name of the field that the store is to index by words."""
    left_out: str
    """What the table has and the collection does not get, as a sentence; empty: nothing."""


def words_of(settings: LoadSettings, encoder: str | None, limits: Limits, store: str) -> Words:
    """What goes of what is wished.

    Args:
        settings: the wishes.
        encoder: what made the table's sparse vectors; None: it has none.
        limits: of the store.
        store: as people call it.

    Raises:
        ConfigError: something is asked for by name that the store does not take, or the text that would be indexed
            does not go along.
    """
    wanted = settings.sparse is not None and encoder is not None
    if wanted and not limits.sparse and "sparse" in settings.model_fields_set:
        raise ConfigError(f"{store} takes no sparse vectors: leave `sparse` out of the settings.")
    full_text = _full_text(settings, limits, store, instead=wanted and not limits.sparse)
    if wanted and limits.sparse:
        return Words(settings.sparse, encoder or "", full_text, "")
    return Words(None, "", full_text, _said(store, limits, full_text) if wanted else "")


def _full_text(settings: LoadSettings, limits: Limits, store: str, *, instead: bool) -> str | None:
    """The name of the field to be indexed; ``instead``: of the sparse vectors, if nothing is said."""
    name = TEXT if "*" in settings.columns else settings.columns.get(TEXT)
    if settings.full_text:
        if limits.full_text == "none":
            raise ConfigError(f"{store} has no index of words: leave `full_text` out of the settings.")
        if name is None:
            raise ConfigError("`full_text` needs the column text, which `columns` leaves out.")
    asked = instead if settings.full_text is None else settings.full_text
    return name if asked and limits.full_text == "index" else None


def _said(store: str, limits: Limits, full_text: str | None) -> str:
    left = f"The sparse vectors were left out, because {store} takes none"
    if full_text is not None:
        return f"{left}; its index of words over {full_text} is in their place."
    return f"{left}; it finds texts by words itself." if limits.full_text == "always" else f"{left}."
