"""What a worker has to know of the job: plain values that travel with the stages.

No secret is among them, and no client: a worker opens what it needs, once a process.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from transforms.embedders.settings import settings_to_json
from transforms.model.fusion import DEFAULT, Fusion
from transforms.model.ids import fingerprint
from transforms.planning.selection import EVERYTHING, Selection
from transforms.report.settings import NO_THRESHOLDS, QualitySettings
from transforms.sparse.settings import NO_SPARSE
from transforms.sparse.settings import settings_to_json as sparse_to_json

if TYPE_CHECKING:
    from pydantic import BaseModel

    from transforms.chunkers.settings import ChunkSettings
    from transforms.embedders.settings import EmbedderSettings
    from transforms.extractors.settings import ExtractSettings
    from transforms.planning.inventory.settings import InventorySettings
    from transforms.report.gate import Gate
    from transforms.sparse.settings import SparseSettings


@dataclass(frozen=True, slots=True)
class Recipe:
    """Fingerprints of what decides a row, one a stage."""

    extract: str
    chunk: str
    embed: str
    sparse: str | None = None
    """Of the sparse vectors; None where there are none."""

    @property
    def fingerprint(self) -> str:
        """One fingerprint over all of them."""
        return fingerprint(self.extract, self.chunk, self.embed, *([self.sparse] if self.sparse else []))


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One source: where it is, and how its objects become rows."""

    name: str
    slug: str
    root: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    extract: ExtractSettings
    chunk: ChunkSettings
    store_text: bool
    recipe: Recipe
    inventory: InventorySettings | None = None
    """What is read in place of a listing."""


@dataclass(frozen=True)
class Job:
    """One run of the job: the snapshot it builds, and from what."""

    table: str
    snapshot: int
    parent: int | None
    run_id: str
    sources: tuple[SourceSpec, ...]
    embedder: EmbedderSettings
    max_object_bytes: int
    max_rejected_share: float
    shard_bytes: int
    max_deleted_share: float = 0.3
    always_allowed_deletes: int = 10
    max_empty_share: float = 0.5
    """Share of the texts embedded in this run that may have no vector."""
    workers: int = 1
    """Processes that share the embedder's quotas and the machine's cores."""
    budget_tokens: int | None = None
    """Tokens that this run may send to a server."""
    allow_deletes: bool = False
    """Delete however much is gone, and replace another table."""
    selection: Selection = EVERYTHING
    full: bool = False
    """Take nothing for done: read, extract, chunk and embed everything that is selected."""
    quality: QualitySettings = NO_THRESHOLDS
    gate: Gate | None = None
    """Questions that a snapshot must answer to be published."""
    sparse: SparseSettings = NO_SPARSE
    search: Fusion = DEFAULT
    """How the table is searched by vectors and words where nothing else is said; no row depends on it."""

    @cached_property
    def recipe(self) -> dict[str, str]:
        """What the table is made with: settings of the embedder and of sparse vectors, each source's fingerprint."""
        settings = {"embedder": settings_to_json(self.embedder), "sparse": sparse_to_json(self.sparse)}
        return settings | {f"source:{source.name}": source.recipe.fingerprint for source in self.sources}

    @cached_property
    def source(self) -> dict[str, SourceSpec]:
        """Sources by name."""
        return {source.name: source for source in self.sources}


def settings_fingerprint(*settings: BaseModel) -> str:
    """A fingerprint of settings that does not depend on the order of their keys."""
    return fingerprint(*(json.dumps(one.model_dump(mode="json"), sort_keys=True) for one in settings))
