"""The keys of the configuration file and what each means.

The settings of extraction, chunking and embedding are declared by the layers that use them; this module
puts them together and adds what belongs to the job: sources, table, limits and the run itself.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from pipeline.config.globs import fault_of
from transforms.chunkers.settings import ChunkSettings
from transforms.embedders.settings import EmbedderSettings, StaticSettings
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import ConfigError
from transforms.model.fusion import DEFAULT, Fusion, Method
from transforms.model.ids import slug
from transforms.planning.inventory.settings import InventorySettings
from transforms.report.settings import GateSettings, QualitySettings
from transforms.sparse.settings import BM25Settings, SparseSettings
from transforms.storage.roots import local_path, name_below, normal_root

_GLOB = ("*", "?", "[")
_MAX_NAME = 200
MAX_OBJECT_BYTES = 256 * 2**20
"""Of an object, where the configuration says nothing; and of a file that a command is given."""


def _root(written: str) -> str:
    try:
        return normal_root(written)
    except ConfigError as error:
        raise ValueError(str(error)) from None


_Root = Annotated[str, AfterValidator(_root)]
"""A folder or a bucket prefix, in its one form."""


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceConfig(ChunkSettings):
    """A named part of the corpus: where its objects are, and how they are read and cut."""

    name: str = Field(min_length=1, max_length=_MAX_NAME, description="Name of the source.")
    root: _Root = Field(
        default="",
        description="Folder or bucket prefix; document ids are names below it. "
        "Left out, it is the longest folder that all of `include` have in common.",
    )
    include: tuple[str, ...] = Field(
        default=("**",), min_length=1, description="Globs of names below the root, or whole URIs."
    )
    exclude: tuple[str, ...] = Field(
        default=("**/.*", "**/.*/**", "**/~$*"), description="Globs of names to leave out."
    )
    inventory: InventorySettings | None = Field(
        default=None,
        description="A report in which the bucket's service lists it, read in place of a listing.",
    )
    extract: ExtractSettings = Field(default_factory=ExtractSettings)
    store_text: bool = Field(default=True, description="Keep the canonical text in the documents table.")

    @field_validator("name")
    @classmethod
    def _printable(cls, name: str) -> str:
        if not name.isprintable() or name != name.strip():
            raise ValueError("must be printable text without white space around it")
        return name

    @field_validator("include", "exclude")
    @classmethod
    def _can_match(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        faults = [f"{pattern!r} {fault}" for pattern in patterns if (fault := fault_of(pattern))]
        if faults:
            raise ValueError("; ".join(faults))
        return patterns

    @model_validator(mode="before")
    @classmethod
    def _root_from_include(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("root"):
            return values
        include = values.get("include")
        if not isinstance(include, list | tuple) or not all(isinstance(i, str) for i in include):
            return values
        root = common_root(include)
        relative = [pattern[len(root) :] or "**" for pattern in include]
        return {**values, "root": root, "include": relative}

    @model_validator(mode="after")
    def _has_root(self) -> Self:
        if not self.root:
            raise ValueError("needs a `root`, or `include` patterns that begin with a folder or URI")
        if self.inventory is not None and local_path(self.root) is not None:
            raise ValueError("an inventory is of a bucket, and `root` is a folder; leave `inventory` out")
        return self

    @property
    def slug(self) -> str:
        """The value of the partition directory."""
        return slug(self.name)

    def chunk_settings(self) -> ChunkSettings:
        """The keys that decide how a document is cut and composed, and none of the others."""
        return ChunkSettings.model_validate({key: getattr(self, key) for key in ChunkSettings.model_fields})


class Limits(_Keys):
    """What stops a run before it publishes."""

    max_rejected_share: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.2,
        description="Share of all documents that may be rejected; types that are not read do not count.",
    )
    max_deleted_share: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.3, description="Share of a source's documents that one run may delete."
    )
    always_allowed_deletes: Annotated[int, Field(ge=0)] = Field(
        default=10, description="That many deletions a source are not refused, unless they are all of it."
    )
    max_empty_share: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.5, description="Share of the texts embedded in one run that may come without a vector."
    )
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Tokens that one run may send to an embedding server; it stops before more, to be resumed.",
    )
    max_cost: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="US dollars that one run may spend on embedding, likewise."
    )
    max_object_bytes: Annotated[int, Field(ge=1)] = Field(
        default=MAX_OBJECT_BYTES,
        description="Larger objects are rejected unread; of large files of records: larger ranges of them.",
    )


_WORTH_A_WORKER = 8 * 2**20
"""Bytes of objects whose work takes longer than starting a process for it."""


class SearchConfig(_Keys):
    """How `parquetry search` and `gate` make one score of vectors and words; options of the command go before it."""

    fusion: Method = Field(
        default=DEFAULT.method, description="`sum`: a sum of scores; `rrf`: one of reciprocal ranks."
    )
    weight: Annotated[float, Field(ge=0, le=1)] = Field(
        default=DEFAULT.weight,
        description="How much words count beside vectors: 0 not at all, 1 alone. `parquetry evaluate` finds yours; "
        "no row is made anew for it.",
    )

    def as_fusion(self) -> Fusion:
        """The same, as searches take it."""
        return Fusion(self.fusion, self.weight)


class RunConfig(_Keys):
    """How the work is cut and spread."""

    workers: Annotated[int, Field(ge=1, le=256)] | Literal["auto"] = Field(
        default="auto",
        description="Local worker processes; auto: all cores where it pays. On another runner: how many "
        "processes share the embedder's quotas, if its own options do not say.",
    )
    shard_bytes: Annotated[int, Field(ge=1024)] = Field(
        default=4 * 2**20,
        description="Bytes of objects that make a shard, about. A worker's memory grows with it, twenty to thirty "
        "times for text. Files of records larger than two of them are read in ranges of that size.",
    )

    def worker_count(self, work_bytes: int) -> int:
        """Processes for that much work: starting one costs about five seconds of CPU."""
        if self.workers != "auto":
            return self.workers
        worth_starting = max(1, work_bytes // _WORTH_A_WORKER)
        return int(min(os.cpu_count() or 1, worth_starting))


class JobConfig(_Keys):
    """One job: its sources, its vectors and its table."""

    version: Literal[1] = 1
    table: _Root = Field(description="Where the table is: a folder or a bucket prefix.")
    embedder: EmbedderSettings = Field(default_factory=StaticSettings)
    sparse: SparseSettings = Field(default_factory=BM25Settings)
    search: SearchConfig = Field(default_factory=SearchConfig)
    sources: tuple[SourceConfig, ...] = Field(min_length=1)
    limits: Limits = Field(default_factory=Limits)
    quality: QualitySettings = Field(default_factory=QualitySettings)
    gate: GateSettings | None = Field(
        default=None, description="Questions that a snapshot must answer before it is published."
    )
    run: RunConfig = Field(default_factory=RunConfig)

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [source.name for source in self.sources]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"source names must differ; more than one is called {', '.join(twice)}")
        slugs = Counter(source.slug for source in self.sources)
        shared = [source.name for source in self.sources if slugs[source.slug] > 1]
        if shared:
            raise ValueError(
                f"the sources {' and '.join(shared)} would share one folder of the table; rename one"
            )
        places = [(source.root, source.include, source.exclude) for source in self.sources]
        if len(set(places)) < len(places):
            raise ValueError("two sources read the same objects: root, include and exclude are equal")
        return self

    @model_validator(mode="after")
    def _sources_are_outside_the_table(self) -> Self:
        inside = [s.name for s in self.sources if name_below(self.table, s.root) is not None]
        if inside:
            raise ValueError(
                f"the table's own folder is no source: {', '.join(inside)} would read {self.table}"
            )
        return self


def common_root(patterns: list[str] | tuple[str, ...]) -> str:
    """The longest folder, with its slash, that all patterns begin with before any glob character."""
    folders = []
    for pattern in patterns:
        ends = [pattern.find(mark) for mark in _GLOB if mark in pattern]
        literal = pattern[: min(ends)] if ends else pattern
        folders.append(literal.split("/")[:-1])
    # Compared folder by folder and not as paths: a URI's double slash counts.
    common = [parts[0] for parts in zip(*folders, strict=False) if len(set(parts)) == 1]
    while common and any(folder[: len(common)] != common for folder in folders):
        common.pop()
    return "/".join(common) + "/" if common else ""
