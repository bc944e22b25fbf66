"""The keys of the configuration that decide how a document is cut and what is embedded for a chunk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from transforms.chunkers.compat.presets import Preset, with_preset

CHUNKING_VERSION = 1
"""Part of every recipe: raised whenever the same text and settings would be cut or composed differently."""

ONLY_COMPAT = frozenset({"semantic"})


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FromMetadata(_Keys):
    """A value that each document brings in its own metadata."""

    from_metadata: str = Field(min_length=1)


class SizeSettings(_Keys):
    """How large chunks are."""

    unit: Literal["chars", "tokens"] = Field(default="chars", description="Tokens are the embedder's own.")
    target: int = Field(default=1000, ge=1, description="What chunks aim at.")
    max: int = Field(default=1500, ge=1, description="No chunk is longer, whatever the input.")
    min_fill: float = Field(
        default=0.3, ge=0, lt=1, description="Share of target under which no cut is made."
    )
    merge_runts: bool = Field(default=True, description="A last piece under min_fill joins the one before.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.target > self.max:
            raise ValueError(f"target {self.target} is over max {self.max}")
        return self


class HeadingSettings(_Keys):
    """What headings do."""

    split_level: int = Field(default=2, ge=1, le=6, description="Headings up to here begin a section.")
    strict: bool = Field(default=False, description="Each of these headings begins a chunk.")
    keep_with_next: bool = Field(
        default=True, description="No chunk ends in a heading if it can be helped."
    )


class SemanticSettings(_Keys):
    """Where the meaning turns."""

    percentile: float = Field(
        default=95,
        ge=0,
        le=100,
        description="Cut where the distance of neighbours is over this percentile.",
    )


class StepSettings(_Keys):
    """Numbered steps, for the strategy `sections`."""

    protect: bool = Field(default=True, description="Keep a run of steps in one chunk.")
    doc_types: tuple[str, ...] = Field(
        default=("procedure",), description="Types of document that have steps, in any case of letters."
    )
    patterns: tuple[str, ...] = Field(
        default=(r"\d+\.\s", r"\d+\)\s", r"\(\d+\)", r"step\s+\d+", r"schritt\s+\d+", r"\|\s*\d+\s*\|"),
        description="What begins a step, at the start of a line; the first digits are its number.",
    )
    min_run: int = Field(default=2, ge=1, description="That many consecutive numbers make a run.")
    ceiling: int | None = Field(
        default=None,
        ge=1,
        description="In size.unit: a longer run is cut between steps. None: four times size.max.",
    )
    attach: tuple[str, ...] = Field(
        default=("WARNING", "CAUTION", "NOTE"),
        description="A paragraph that begins with one of these stays with the step behind it.",
    )

    @field_validator("patterns")
    @classmethod
    def _compile(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
        return patterns

    def protects(self, doc_type: str | None) -> bool:
        """Whether documents of this type have their steps kept together."""
        known = {name.casefold() for name in self.doc_types}
        return self.protect and doc_type is not None and doc_type.casefold() in known


class OverlapSettings(_Keys):
    """Context from the chunk before: embedded, never stored."""

    size: int | None = Field(
        default=None,
        ge=0,
        description="In size.unit. None: 200, or a fifth of size.target where that is less.",
    )
    snap: Literal["none", "word", "sentence"] = "word"
    across_headings: bool = False


class TitleSettings(_Keys):
    """Where a document's title comes from, and how much of it is embedded."""

    from_: tuple[Literal["metadata.title", "first_heading", "file_stem"], ...] = Field(
        default=("metadata.title", "first_heading", "file_stem"), alias="from"
    )
    max_chars: int = Field(default=120, ge=1)
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)


class BreadcrumbSettings(_Keys):
    """The headings above a chunk, as embedded."""

    from_: Literal["path", "section", "none"] = Field(default="path", alias="from")
    separator: str = " > "
    skip_equal_title: bool = True
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)


class ComposeSettings(_Keys):
    """What is embedded for a chunk."""

    parts: tuple[Literal["title", "breadcrumb", "context", "text"], ...] = (
        "title",
        "breadcrumb",
        "context",
        "text",
    )
    title: TitleSettings = Field(default_factory=TitleSettings)
    breadcrumb: BreadcrumbSettings = Field(default_factory=BreadcrumbSettings)
    separator: str = "\n"

    @model_validator(mode="after")
    def _has_text(self) -> Self:
        if "text" not in self.parts or len(set(self.parts)) < len(self.parts):
            raise ValueError("parts must hold `text`, and each part once")
        return self


class ChunkSettings(_Keys):
    """All of them, for one source."""

    doc_type: str | FromMetadata | None = None
    strategy: Literal["verbatim", "semantic", "sections", "headings", "window"] = "verbatim"
    compat: Preset | None = Field(
        default=None,
        description="Cut as this system did, faults and all: for a migration that may not move a boundary.",
    )
    size: SizeSettings = Field(default_factory=SizeSettings)
    headings: HeadingSettings = Field(default_factory=HeadingSettings)
    semantic: SemanticSettings = Field(default_factory=SemanticSettings)
    steps: StepSettings = Field(default_factory=StepSettings)
    overlap: OverlapSettings = Field(default_factory=OverlapSettings)
    compose: ComposeSettings = Field(default_factory=ComposeSettings)

    @model_validator(mode="before")
    @classmethod
    def _over_the_preset(cls, given: Any) -> Any:
        return with_preset(given) if isinstance(given, dict) else given

    @model_validator(mode="after")
    def _ceiling_is_over_max(self) -> Self:
        if self.steps_ceiling < self.size.max:
            raise ValueError(f"steps.ceiling {self.steps_ceiling} is under size.max {self.size.max}")
        return self

    @model_validator(mode="after")
    def _strategy_is_there(self) -> Self:
        if self.compat is None and self.strategy in ONLY_COMPAT:
            raise ValueError(f"strategy {self.strategy} needs `compat`")
        return self

    @model_validator(mode="after")
    def _overlap_is_small(self) -> Self:
        if self.compat is None and self.overlap_size * 2 >= self.size.target > 1:
            raise ValueError(
                f"overlap.size {self.overlap_size} must be under half of size.target {self.size.target}"
            )
        return self

    @property
    def overlap_size(self) -> int:
        """The overlap in force, in ``size.unit``."""
        fifth = self.size.target // 5
        return min(200, fifth) if self.overlap.size is None else self.overlap.size

    @property
    def steps_ceiling(self) -> int:
        """The longest run of steps that stays one chunk, in ``size.unit``."""
        return 4 * self.size.max if self.steps.ceiling is None else self.steps.ceiling

    def doc_type_of(self, metadata: Mapping[str, Any]) -> str | None:
        """A document's type: as set for all, or what its metadata says if that is text."""
        if self.doc_type is None or isinstance(self.doc_type, str):
            return self.doc_type
        value = metadata.get(self.doc_type.from_metadata)
        return value if isinstance(value, str) else None
