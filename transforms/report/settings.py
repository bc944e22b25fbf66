"""What a configuration can ask of a snapshot before it is published."""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_Share = Annotated[float, Field(ge=0, le=1)] | None
TINY = 20
"""Characters under which a chunk says hardly anything."""
_MEASURE = re.compile(r"(?:recall|ndcg)@[1-9][0-9]*|mrr")


class QualitySettings(BaseModel):
    """Shares that stop a run before it publishes; each is checked only where it is set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_tiny_share: _Share = Field(
        default=None, description=f"Share of chunks that may have less than {TINY} characters."
    )
    max_oversize_share: _Share = Field(
        default=None,
        description="Share of chunks that may be longer than size.max, as whole steps and tables are.",
    )
    max_repeated_share: _Share = Field(
        default=None,
        description="Share of chunks that may have a text that another chunk has, as boilerplate does.",
    )
    max_empty_share: _Share = Field(default=None, description="Share of chunks that may have no vector.")
    max_suspect_share: _Share = Field(
        default=None, description="Share of documents whose text may be garbage, by their warnings."
    )
    max_stale_share: _Share = Field(
        default=None,
        description="Share of documents that may keep old rows because they cannot be read now.",
    )
    max_language_shift: _Share = Field(
        default=None,
        description="How far the shares of languages may move from the last snapshot: half the sum of the differences.",
    )


NO_THRESHOLDS = QualitySettings()


class GateSettings(BaseModel):
    """Questions, and the least that each measure must reach: ``recall@5: 0.8``."""

    model_config = ConfigDict(extra="allow", frozen=True)

    questions: str = Field(min_length=1, description="Questions with known answers, JSON Lines.")

    @model_validator(mode="after")
    def _has_measures(self) -> Self:
        extra: dict[str, Any] = self.model_extra or {}
        unknown = [key for key in extra if not _MEASURE.fullmatch(key)]
        if unknown or not extra:
            found = f"; {', '.join(unknown)} is none" if unknown else ""
            raise ValueError(
                f"needs a measure, as recall@5, ndcg@10 or mrr, with the least it must reach{found}"
            )
        if any(isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1
               for least in extra.values()):  # fmt: skip
            raise ValueError("the least that a measure must reach is a number from 0 to 1")
        return self

    @property
    def least(self) -> tuple[tuple[str, float], ...]:
        """Measures, and what each must reach."""
        return tuple((key, float(value)) for key, value in (self.model_extra or {}).items())
