"""Canonical text: normalised once, and only so far."""

import pytest

from transforms.model.document import canonical_text


@pytest.mark.parametrize(
    ("read", "canonical"),
    [
        ("\ufeffone\ufeff", "one\ufeff"),
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("a\0b", "ab"),
        ("ab\ud83dcd", "ab\ufffdcd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("e\u0301 \u2028 \x0b", "e\u0301 \u2028 \x0b"),
        ("", ""),
    ],
)
def test_text_is_normalised_once_and_only_so_far(read, canonical):
    assert canonical_text(read) == canonical
    assert canonical_text(canonical) == canonical
