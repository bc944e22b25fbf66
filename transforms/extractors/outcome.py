"""The few states that a file ends in, for programs that compare extractors."""

from __future__ import annotations

_OUTCOMES = {
    "empty": "empty",
    "no_text": "no_text",
    "pdf_encrypted": "encrypted",
    "encrypted": "encrypted",
    "pdf_corrupt": "corrupt",
    "corrupt": "corrupt",
    "unsupported_type": "unsupported",
    "too_large": "too_large",
    "too_many_pages": "too_large",
    "decompression_bomb": "too_large",
    "timeout": "timeout",
    "suspect_text": "suspect_text",
}


def outcome_of(reason: str) -> str:
    """The state that a reason belongs to; ``rejected`` for all others."""
    return _OUTCOMES.get(reason, "rejected")
