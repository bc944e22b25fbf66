"""The keys of the configuration that decide how a document is cut and what is embedded for a chunk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from transforms.chunkers.compat.presets import Preset, with_preset
from transforms.chunkers.counters import EMBEDDER, is_counter
from transforms.chunkers.entities import FOLDS, Fold, fold
from transforms.chunkers.rows import template_columns
from transforms.embedders.settings import EmbedderSettings
from transforms.structure.sentences import LANGUAGES, Language, SentenceRules, sentence_rules

CHUNKING_VERSION = 1
"""Part of every recipe. Raised with a release in which the same text and settings are cut or composed otherwise than
in the release before, so that a table is cut anew once; not between releases, because no table is made by one."""

StrategyName: TypeAlias = Literal[
    "verbatim",
    "semantic",
    "sections",
    "headings",
    "window",
    "recursive",
    "tokens",
    "records",
    "whole",
    "code",
]
BREAKS = ("paragraph", "line", "sentence", "word")
"""What ``recursive`` looks for if nothing else is asked for; `grapheme` is the last resort of all."""


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _compiled(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
    return patterns


Patterns: TypeAlias = Annotated[tuple[str, ...], AfterValidator(_compiled)]
"""Regular expressions."""


class FromMetadata(_Keys):
    """A value that each document brings in its own metadata."""

    from_metadata: str = Field(min_length=1)


class SizeSettings(_Keys):
    """How large chunks are."""

    unit: Literal["chars", "tokens"] = "chars"
    counter: str = Field(
        default=EMBEDDER,
        description="Of tokens: `embedder`, the model's own; `chars/4` or another estimate; `cl100k_base` "
        "or `o200k_base`, with the extra `tiktoken`; or the file `….json` of a tokenizer.",
    )
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

    @model_validator(mode="after")
    def _counts(self) -> Self:
        if not is_counter(self.counter):
            raise ValueError(
                f"counter {self.counter!r} is none: `embedder`, `chars/4`, an encoding or a file"
            )
        if self.counter != EMBEDDER and self.unit == "chars":
            raise ValueError(f"counter {self.counter!r} goes with unit tokens, not chars")
        return self


class HeadingSettings(_Keys):
    """What headings do."""

    split_level: int = Field(default=2, ge=1, le=6, description="Headings up to here begin a section.")
    strict: bool = Field(default=False, description="Each of these headings begins a chunk.")
    keep_with_next: bool = Field(
        default=True, description="No chunk ends in a heading if it can be helped."
    )


class SentenceSettings(_Keys):
    """What ends a sentence."""

    languages: tuple[Language, ...] = Field(
        default=LANGUAGES,
        min_length=1,
        description="Whose abbreviations are known; with `th`, a space between Thai letters ends a sentence.",
    )
    abbreviations: tuple[str, ...] = Field(
        default=(), description="More words behind which a full stop ends no sentence."
    )
    blank_line_ends: bool = Field(default=True, description="A blank line ends a sentence.")

    @property
    def rules(self) -> SentenceRules:
        """As the structure pass takes them."""
        return sentence_rules(self.languages, self.abbreviations, blank_line_ends=self.blank_line_ends)


class SemanticSettings(_Keys):
    """Where the meaning turns."""

    percentile: float = Field(
        default=95,
        ge=0,
        le=100,
        description="Cut where the distance of neighbours is over this percentile.",
    )
    min_distance: float = Field(
        default=0.0, ge=0, le=2, description="... and over this: below it nothing turns. At least 1e-6."
    )
    window: int = Field(default=1, ge=0, description="Sentences on each side that are compared along.")
    max_sentences: int = Field(default=2000, ge=2, description="Texts in one call of the embedder.")
    embedder: EmbedderSettings | None = Field(
        default=None, description="What sentences are compared by. None: the job's embedder."
    )


class StepSettings(_Keys):
    """Numbered steps, for the strategy `sections`."""

    protect: bool = Field(default=True, description="Keep a run of steps in one chunk.")
    doc_types: tuple[str, ...] = Field(
        default=("procedure",), description="Types of document that have steps, in any case of letters."
    )
    patterns: Patterns = Field(
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

    def protects(self, doc_type: str | None) -> bool:
        """Whether documents of this type have their steps kept together."""
        known = {name.casefold() for name in self.doc_types}
        return self.protect and doc_type is not None and doc_type.casefold() in known


class OverlapSettings(_Keys):
    """Context from the text around a chunk: embedded, never stored."""

    size: int | None = Field(
        default=None,
        ge=0,
        description="Of the text before. None: 200, or a fifth of size.target where that is less.",
    )
    after: int = Field(default=0, ge=0, description="Of the text behind, up to the next heading.")
    unit: Literal["chars", "tokens"] | None = Field(default=None, description="None: as size.unit.")
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
    max_chars: int = Field(default=120, ge=1, description="Of each heading; a longer one is cut at a word.")
    separator: str = " > "
    skip_equal_title: bool = True
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)


class ComposeSettings(_Keys):
    """What is embedded for a chunk."""

    parts: tuple[Literal["title", "breadcrumb", "context", "text", "context_after"], ...] = (
        "title",
        "breadcrumb",
        "context",
        "text",
        "context_after",
    )
    title: TitleSettings = Field(default_factory=TitleSettings)
    breadcrumb: BreadcrumbSettings = Field(default_factory=BreadcrumbSettings)
    separator: str = "\n"
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        description="No embedded text has more of the model's tokens. None: the model's input.",
    )

    @model_validator(mode="after")
    def _has_text(self) -> Self:
        if "text" not in self.parts or len(set(self.parts)) < len(self.parts):
            raise ValueError("parts must hold `text`, and each part once")
        return self


class FieldSettings(_Keys):
    """What stands in front of a value, and what the value looks like where that matters."""

    labels: tuple[str, ...] = ()
    patterns: Patterns = ()


class DateSettings(_Keys):
    """The date from which a document holds."""

    labels: tuple[str, ...] = ("effective", "issued", "approved")
    day_first: bool = Field(default=True, description="01/02/2026 is the first of February.")


class HeaderSettings(_Keys):
    """Fields that are read from a document's first page, as proposals."""

    window_chars: int = Field(default=4000, ge=1, description="Whole lines up to here, of the first page.")
    doc_number: FieldSettings = FieldSettings(
        labels=("document number", "document no", "document", "doc no"),
        patterns=(r"[A-Z]{2,6}(?:-[A-Z]{2,5})+-\d{2,5}",),
    )
    revision: FieldSettings = FieldSettings(
        labels=("revision", "rev", "issue"), patterns=(r"[A-Z]?\d{1,3}", r"[A-Z]")
    )
    effective_date: DateSettings = DateSettings()
    title: FieldSettings = FieldSettings(labels=("title",))
    authorising_role: FieldSettings = FieldSettings(
        labels=(
            "authorising role",
            "authorizing role",
            "authorised by",
            "authorized by",
            "authorised role",
            "authorized role",
        )
    )
    column_layout: bool = Field(
        default=True, description="A column of labels followed by a column of as many values."
    )


class RecordSettings(_Keys):
    """Rows of tables, for the strategy `records`."""

    template: str | None = Field(
        default=None,
        description="What is embedded for a row instead of it and its header: text with `{column}` for cells. A table "
        "without one of the columns is embedded as it is.",
    )

    @field_validator("template")
    @classmethod
    def _names_columns(cls, template: str | None) -> str | None:
        if template is not None and not template_columns(template):
            raise ValueError(f"template {template!r} names no {{column}}")
        return template


class EntitySettings(_Keys):
    """Names that are looked for in every chunk."""

    vocabulary: tuple[str, ...] | str = Field(
        description="The names as they are to be written in the table, or a file of them, one a line: a path or URI."
    )
    scope: tuple[Literal["text", "breadcrumb"], ...] = ("text", "breadcrumb")
    fold: tuple[Fold, ...] = Field(
        default=FOLDS,
        description="What makes no difference: `case`; `hyphens`, which of them; `spaces`, one in place of a hyphen.",
    )
    link: Literal["single", "first", "none"] = Field(
        default="single",
        description="Which mention is the chunk's `entity_id`: the only one, the first, or none.",
    )

    @field_validator("vocabulary")
    @classmethod
    def _not_blank(cls, names: tuple[str, ...] | str) -> tuple[str, ...] | str:
        """Without names that have no letter or digit, which would be everywhere or nowhere."""
        return names if isinstance(names, str) else tuple(name for name in names if fold(name))

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        """Refuse two names that no text could tell apart."""
        seen: dict[str, str] = {}
        for name in () if isinstance(self.vocabulary, str) else self.vocabulary:
            key = fold(name, self.fold)
            if key and key in seen:
                raise ValueError(f"{name!r} and {seen[key]!r} are one name")
            seen[key] = name
        return self


class ChunkSettings(_Keys):
    """All of them, for one source."""

    doc_type: str | FromMetadata | None = None
    strategy: StrategyName = "verbatim"
    compat: Preset | None = Field(
        default=None,
        description="Cut as this system did, faults and all: for a migration that may not move a boundary.",
    )
    size: SizeSettings = Field(default_factory=SizeSettings)
    breaks: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)] = Field(
        default=BREAKS,
        description="For `recursive`, and for `compat: rag`: separators in order, `paragraph`, `line`, `sentence`, "
        "`word`, `grapheme` or literal text.",
    )
    sentences: SentenceSettings = Field(default_factory=SentenceSettings)
    headings: HeadingSettings = Field(default_factory=HeadingSettings)
    semantic: SemanticSettings = Field(default_factory=SemanticSettings)
    records: RecordSettings = Field(default_factory=RecordSettings)
    steps: StepSettings = Field(default_factory=StepSettings)
    overlap: OverlapSettings = Field(default_factory=OverlapSettings)
    compose: ComposeSettings = Field(default_factory=ComposeSettings)
    header: HeaderSettings | None = None
    entities: EntitySettings | None = None

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
    def _overlap_is_small(self) -> Self:
        same = self.overlap.unit in (None, self.size.unit)
        if self.compat is not None or not same or self.size.target == 1:
            return self
        for name, size in (("size", self.overlap_size), ("after", self.overlap.after)):
            if size * 2 >= self.size.target:
                raise ValueError(
                    f"overlap.{name} {size} must be under half of size.target {self.size.target}"
                )
        return self

    @property
    def label(self) -> str:
        """How people name the way of cutting: the strategy, or the system whose cuts are reproduced."""
        return self.strategy if self.compat is None else f"compat {self.compat}"

    @property
    def overlap_size(self) -> int:
        """The overlap in force, in its own unit or ``size.unit``."""
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
