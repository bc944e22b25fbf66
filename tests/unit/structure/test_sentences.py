"""Where sentences, words and graphemes end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.structure import sentences
from transforms.structure.sentences import sentence_spans, word_spans


def split(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentence_spans(text, 0, len(text))]


@pytest.mark.parametrize(
    "wanted",
    [
        ["Ask Dr. Lee!", "Then go home."],
        ["See e.g. Section 2, Fig. 3, etc. and pp. 4.", "Next."],
        ["J. R. Tolkien wrote it.", "He did."],
        ["It costs 3.50 or 1,000.75 now.", "Pay."],
        ["Go to https://a.example/b.html?c=d.e now.", "Then stop."],
        ["Write to a.b@c.example.", "We answer."],
        ['He said "Go."', "She went."],
        ["(It is so.)", "And so on."],
        ["What?!", "No…", "Yes!!!", "Well..."],
        ["Steps:\n1. Open it.", "2. Shut it."],
        ["one", "two"],
        ["料金は三つです。", "解約できますか？", "「返金します。」", "はい"],
        ["El Sr. Gómez llegó.", "¿Qué dijo?", "¡Nada!", "Se fue."],
        ["Das gilt z.B. für Dr. Müller bzw. Prof. Lang.", "Es gilt ca. 5 Tage.", "Ende."],
        ["Он живёт на ул. Ленина, см. рис. 2 и т.д. всегда.", "Потом ушёл.", "Да!"],
        ["यह है।", "वह भी।"],
        ["هل هذا؟", "نعم."],
    ],
)
def test_sentences_end_where_a_reader_would_end_them(wanted) -> None:
    cjk = all(part[-1] in "。？」い" for part in wanted)
    text = "" if cjk else " "
    joined = "one\n\ntwo" if wanted == ["one", "two"] else text.join(wanted)
    assert split(joined) == wanted


def test_a_lower_case_word_behind_a_full_stop_goes_on_with_the_sentence() -> None:
    assert split("Version approx. two. three. Four.") == ["Version approx. two. three.", "Four."]


def test_a_year_at_the_end_of_a_sentence_ends_it() -> None:
    assert split("It was 1999. We left.") == ["It was 1999.", "We left."]


def test_no_break_spaces_hold_words_together() -> None:
    text = "10\u00a0km is\u202f: far"
    assert [text[start:end] for start, end in word_spans(text, 0, len(text))] == [
        "10\u00a0km ",
        "is\u202f: ",
        "far",
    ]


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("ab A1.!?。」\"')\n\t\u00a0\u0301é👨\u200d"), max_size=40), st.integers(0, 5),
       st.sampled_from(
           ["sentence_spans", "line_spans", "word_spans", "loose_word_spans", "grapheme_spans"]
       ))  # fmt: skip
def test_spans_cover_the_text_without_a_gap(text, start, name) -> None:
    start = min(start, len(text))
    at = start
    for begin, end in getattr(sentences, name)(text, start, len(text)):
        assert begin == at < end
        at = end
    assert at == len(text)
