"""What a snapshot is made with, in words: its model, its sparse vectors, and the settings behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from transforms.embedders.settings import settings_from_json as embedder_from_json
from transforms.model.fusion import DEFAULT
from transforms.sparse.settings import settings_from_json as sparse_from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import BaseModel

    from transforms.table.manifest import Manifest
    from transforms.table.reader import Snapshot

_SHORT = 8
"""Characters of a fingerprint that tell one from another."""
_SOURCES = 10
"""Sources of one fingerprint that are named; the rest are counted."""


def model_of(snapshot: Snapshot) -> tuple[str, int] | None:
    """Name and dimension of the vectors, by the first row that has one; None where none has."""
    for batch in snapshot.chunks(["embed_model", "embed_dim"]):
        found = batch.drop_null()
        if found.num_rows:
            return found["embed_model"][0].as_py(), found["embed_dim"][0].as_py()
    return None


def model_words(manifest: Manifest, model: tuple[str, int] | None) -> str:
    """The model with its dimension, and what its settings say that is not the default."""
    name = "no vectors yet" if model is None else f"{model[0]}, {model[1]:,} dimensions"
    return f"{name} ({_settings(manifest.recipe.get('embedder', ''), embedder_from_json)})"


def sparse_words(manifest: Manifest) -> str:
    """What made the sparse vectors, how many terms there are, and how they are searched where not by default."""
    if manifest.sparse is None:
        return "none"
    terms = "" if manifest.terms is None else f", {manifest.terms.rows:,} terms"
    searched = "" if manifest.search == DEFAULT else f", searched by {manifest.search}"
    return f"{manifest.sparse}{terms} ({_settings(manifest.recipe.get('sparse', ''), sparse_from_json)}){searched}"


def recipe_words(manifest: Manifest) -> str:
    """The beginning of the fingerprint of all settings of each source, those of one fingerprint together."""
    sources: dict[str, list[str]] = {}
    for key, fingerprint in manifest.recipe.items():
        if key.startswith("source:"):
            sources.setdefault(fingerprint, []).append(key.removeprefix("source:"))
    if len(sources) == 1:
        return f"{next(iter(sources))[:_SHORT]} of all sources"
    return "; ".join(f"{one[:_SHORT]} of {_listed(names)}" for one, names in sources.items()) or "not known"


def _listed(names: list[str]) -> str:
    more = len(names) - _SOURCES
    return ", ".join(names[:_SOURCES]) + (f" and {more:,} more" if more > 0 else "")


def _settings(text: str, read: Callable[[str], BaseModel]) -> str:
    """The kind, and each setting that is not the default; as it stands where another program wrote it."""
    try:
        settings = read(text)
    except ValidationError:
        return text or "the manifest names none"
    return ", ".join([f"kind {getattr(settings, 'kind', '')}", *_said(settings)])


def _said(settings: BaseModel) -> Iterator[str]:
    for key, value in settings.model_dump(mode="json", exclude_defaults=True).items():
        if key == "kind":
            continue
        listed = value if isinstance(value, list) else [value]
        yield f"{key} {' '.join(str(one) for one in listed) or 'none'}"
