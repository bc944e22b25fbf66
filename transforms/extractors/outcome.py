"""The few states that a file ends in, for programs that compare extractors."""

from __future__ import annotations

from transforms.extractors.reasons import OUTCOMES


def outcome_of(reason: str) -> str:
    """The state that a reason belongs to; ``rejected`` for all others."""
    return OUTCOMES.get(reason, "rejected")
