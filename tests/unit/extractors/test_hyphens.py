"""Which hyphens at the ends of lines belong to their words."""

from collections import Counter

import pytest

from transforms.extractors.hyphens import Vocabulary, joined


def line_break(before: str, after: str, language: str | None, elsewhere: str = "") -> str:
    words = Counter([*elsewhere.split(), before.rpartition("-")[2], after])
    start, joint = joined(before, after, Vocabulary(words, language))
    return start + joint + after


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ("well", "known", "well-known"),
        ("up-to", "date", "up-to-date"),
        ("state-of-the", "art", "state-of-the-art"),
        ("long", "term", "long-term"),
        ("self", "contained", "self-contained"),
        ("non", "zero", "non-zero"),
        ("third", "party", "third-party"),
        ("left-hand", "side", "left-hand-side"),
        ("decision", "making", "decision-making"),
        ("environ", "ment", "environment"),
        ("develop", "ments", "developments"),
        ("for", "mats", "formats"),
        ("in", "to", "into"),
        ("thous", "and", "thousand"),
        ("build", "ing", "building"),
        ("iter", "ated", "iterated"),
        ("over", "whelmed", "overwhelmed"),
        ("an", "other", "another"),
        ("work-force-develop", "ment", "work-force-development"),
        ("quad", "copter", "quadcopter"),
        ("SE", "QUENCE", "SEQUENCE"),
        ("ANGLO", "SAXON", "ANGLO-SAXON"),
        ("Anglo", "Saxon", "Anglo-Saxon"),
        ("high", "quality", "high-quality"),
        ("high", "lights", "highlights"),
        ("life", "threatening", "life-threatening"),
        ("life", "style", "lifestyle"),
        ("over", "the-counter", "over-the-counter"),
        ("head", "to-head", "head-to-head"),
        ("DNA", "based", "DNA-based"),
    ],
)
def test_english_words_tell_compounds_from_broken_words(before: str, after: str, whole: str) -> None:
    assert line_break(before, after, "en") == whole


@pytest.mark.parametrize(
    ("before", "after", "language", "elsewhere", "whole"),
    [
        ("wild", "card", "en", "a wildcard stands", "wildcard"),
        ("wild", "card", "en", "a wild-card stands", "wild-card"),
        ("Haus", "tür", "de", "haus haus tür tür", "Haustür"),
        ("Haus", "tür", "de", "die haus-tür", "Haus-tür"),
        ("peut", "être", "fr", "peut peut être être", "peut-être"),
        ("Zusammen", "arbeit", "de", "", "Zusammenarbeit"),
        ("US", "amerikanischen", "de", "", "US-amerikanischen"),
        ("well", "known", None, "", "wellknown"),
    ],
)
def test_what_the_document_says_elsewhere_counts_more_than_the_language(
    before: str, after: str, language: str | None, elsewhere: str, whole: str
) -> None:
    assert line_break(before, after, language, elsewhere) == whole


@pytest.mark.parametrize(
    ("before", "after", "language", "whole"),
    [
        ("pre", "and", "en", "pre-\nand"),
        ("Ein", "und", "de", "Ein-\nund"),
        ("Vor", "oder", "de", "Vor-\noder"),
    ],
)
def test_a_hyphen_that_stands_for_what_follows_later_stays_before_a_space(
    before: str, after: str, language: str, whole: str
) -> None:
    assert line_break(before, after, language) == whole
