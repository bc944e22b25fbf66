"""Where a text may be cut: places that are found from near by are those of the whole."""

import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from transforms.structure.breaks import next_grapheme

CHARACTERS = st.sampled_from([
    "a", "\u00e9", "\u0301", "\u200d", "\u0600", "\u0628", "\u064e", "\u05d0", "\u05b0", "\u0e01", "\u0e33",
    "\u0915", "\u094d", "\u1100", "\u1161", "\uac00", "\u11a8", "\u6f22", "\u304b", "\u3099", "\U0001f468",
    "\U0001f1e9", "\U000110bd", "\r", "\n", " ",
])  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.text(CHARACTERS, min_size=1, max_size=30), st.integers(0, 30))
@example("\u0600\u0628\u0628", 2)
def test_the_next_grapheme_is_the_one_that_a_walk_from_the_beginning_finds(text: str, place: int) -> None:
    place = min(place, len(text))
    starts = [0, *(found.end() for found in regex.finditer(r"\X", text))]
    assert next_grapheme(text, 0, place, len(text)) == min(start for start in starts if start >= place)
