"""Whether a hyphen at a line's end was made by the line end, or belongs to the word.

The document itself says most: the whole word or the compound stands elsewhere in it. Where it does not, English,
which parts its compounds by hyphens, is asked by its words: those of the embedded model's vocabulary. German and
its neighbours write compounds in one, so there a hyphen before a small letter goes.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from transforms.extractors.language import detect

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_WORD = re.compile(r"(?P<before>[-\u2010]?)(?P<word>[\w'’]+)$")
_FIRST_WORD = re.compile(r"^[\w'’]+")
_FOOTNOTE = re.compile(r"\d+(?:[^\W\d]| [^\W\d_a-z])")
_SIGNS = re.compile(r"[\W\d_]+")
_SAMPLE_LINES = 60
_WORD_AT_LEAST = 4
_IN_ONE = frozenset(("da", "de", "fi", "is", "nb", "nl", "nn", "no", "sv"))
"""Languages that write compounds without hyphens."""
_AND = frozenset(("and", "or", "und", "oder", "bzw", "sowie", "och", "eller"))
"""Words behind a hyphen that stands for what follows later, as in ``pre- and post-war``."""
_BEGINNINGS = frozenset((
    "ab", "ad", "after", "back", "be", "cap", "car", "care", "check", "com", "con", "data", "de", "dia", "dis", "down",
    "even", "every", "for", "fore", "form", "hand", "head", "here", "home", "inter", "iter", "know", "land", "line",
    "mar", "mean", "micro", "mis", "multi", "never", "news", "note", "other", "out", "over", "par",
    "part", "pass", "per", "pro", "semi", "some", "sub", "super", "sur", "syn", "there", "time", "tran", "trans", "un",
    "under", "want", "water", "where", "with", "work",
))  # fmt: skip
"""English words and prefixes that more words begin with than compounds with a hyphen do."""
_PREFIXES = frozenset(("non", "self"))
"""Those that take a hyphen."""
_ENDINGS = frozenset((
    "able", "age", "ally", "ant", "ate", "ated", "ates", "ating", "ation", "ations", "ence", "ent", "ers", "ess", "est",
    "ful", "hood", "ial", "ian", "ing", "ings", "ion", "ions", "ish", "ism", "ist", "ity", "ive", "less", "ling", "ly",
    "man", "ment", "ments", "ness", "ons", "ous", "red", "ship", "sing", "sion", "son", "ted", "ten", "ter", "ters",
    "tic", "tics", "ties", "tion", "tions", "ton", "ward", "wards", "wise",
))  # fmt: skip
"""Of English words; some are words themselves."""
_INFLECTIONS = (
    "s", "es", "ed", "d", "ing", "ly", "er", "ers", "or", "ors", "able", "ment", "ments", "ness", "ity", "al", "ally",
    "ation", "ations", "ize", "ized", "izes", "less", "ful", "ship", "ward", "wards",
)  # fmt: skip
_SHORT = frozenset((
    "an", "as", "at", "be", "by", "co", "do", "go", "he", "in", "is", "it", "me", "my", "no", "of", "on", "re", "so",
    "to", "up", "us", "we",
))  # fmt: skip
_STEM_AT_LEAST = 3


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a document with their counts, and its language."""

    words: Counter[str]
    language: str | None

    @classmethod
    def of(cls, lines: list[str]) -> Vocabulary:
        """The words of a document's lines."""
        words = Counter(word.lower() for text in lines for word in _WORD.findall(text))
        sample = " ".join(lines[len(lines) // 2 :][:_SAMPLE_LINES])
        return cls(words, detect(_SIGNS.sub(" ", sample)))

    def __contains__(self, word: str) -> bool:
        return self.words[word] > 0

    def knows_elsewhere(self, part: str) -> bool:
        """Whether a part of a broken word, which was counted once itself, is a word of its own."""
        return self.words[part] > 1

    def knows_both(self, left: str, right: str) -> bool:
        return self.knows_elsewhere(left) and self.knows_elsewhere(right)


def joined(start: str, rest: str, vocabulary: Vocabulary) -> tuple[str, str]:
    """A line without the hyphen that it ends in, as it is to stand before the next, and what joins them.

    The hyphen goes where the whole word is known from elsewhere in the document, or nothing speaks for a compound.
    It stays where the compound is known, at digits, single letters and capitals, where it stands for a part that
    follows later, and where the language says so.
    """
    last, first = _LAST_WORD.search(start), _FIRST_WORD.search(rest)
    if last is None or first is None:
        return start + "-", "\n"
    left, right = last["word"].lower(), first[0].lower()
    if right in _AND and not _is_whole(left + right, vocabulary):
        return start + "-", "\n"
    if _in_capitals(last["word"], first[0]) and _is_whole(left + right, vocabulary):
        return start, ""
    if not first[0][0].islower() or len(left) < 2 or not left.isalpha():
        return start + "-", "\n" if _FOOTNOTE.match(rest) else ""
    stays = (last["word"].isupper() and left + right not in vocabulary) or _is_compound(
        left, right, vocabulary, is_in_chain=bool(last["before"] or _goes_on(right, rest))
    )
    return (start + "-" if stays else start), ""


def _goes_on(right: str, rest: str) -> bool:
    """Whether a small word is one of a chain of words with hyphens, as in ``over-the-counter``."""
    return (right in _SHORT or right == "the") and rest[len(right) :].startswith(("-", "\u2010"))


def _in_capitals(left: str, right: str) -> bool:
    return left.isalpha() and left.isupper() and right.isupper()


def _is_whole(word: str, vocabulary: Vocabulary) -> bool:
    return word in vocabulary or (vocabulary.language == "en" and _is_english(word))


def _is_compound(left: str, right: str, vocabulary: Vocabulary, *, is_in_chain: bool) -> bool:
    if _is_whole(left + right, vocabulary):
        return False
    if f"{left}-{right}" in vocabulary:
        return True
    if vocabulary.language == "en":
        return _is_english_compound(left, right, vocabulary, is_in_chain=is_in_chain)
    return vocabulary.language not in _IN_ONE and vocabulary.knows_both(left, right)


def _is_english_compound(left: str, right: str, vocabulary: Vocabulary, *, is_in_chain: bool) -> bool:
    """Whether the parts are words and the whole is none; of long first parts, whether they are words."""
    is_word = left in _english() or vocabulary.knows_elsewhere(left)
    if left in _PREFIXES or (is_in_chain and is_word):
        return True
    if left in _BEGINNINGS or right in _ENDINGS:
        return vocabulary.knows_both(left, right)
    if is_word and (right in _english() or vocabulary.knows_elsewhere(right)):
        return True
    return len(left) >= _WORD_AT_LEAST and vocabulary.knows_elsewhere(left)


def _is_english(word: str) -> bool:
    """Whether it is a word of English, or one with an ending."""
    return word in _english() or any(
        word.endswith(ending) and any(stem in _english() for stem in _stems(word.removesuffix(ending)))
        for ending in _INFLECTIONS
    )


def _stems(stem: str) -> Iterable[str]:
    """What a word may be without an ending before which letters change."""
    if len(stem) < _STEM_AT_LEAST:
        return ()
    found = [stem, stem + "e"]
    if stem[-1] == "i":
        found.append(stem[:-1] + "y")
    if len(stem) > _STEM_AT_LEAST and stem[-1] == stem[-2]:
        found.append(stem[:-1])
    return found


@functools.cache
def _english() -> frozenset[str]:
    """Some 20,000 frequent words of English: those that the vocabulary of the embedded model has whole."""
    path = files("transforms") / "embedders" / "data" / "static-en-256" / "tokenizer.json"
    pieces = json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"]
    words = {
        piece for piece in pieces if len(piece) >= _STEM_AT_LEAST and piece.isascii() and piece.isalpha()
    }
    return _SHORT | words
