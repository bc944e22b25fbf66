"""A corpus of any size to measure with: Markdown files of about 3 KB, the same for the same seed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FILE_CHARS = 3_000
FILES_A_FOLDER = 200

_CONSONANTS, _VOWELS, _ENDS = "bcdfghklmnprstvw", "aeiou", ("", "", "", "n", "r", "l", "s")
_WORD_COUNT = 4_000


def write_corpus(root: Path, files: int, seed: int = 1) -> int:
    """Write that many files below ``root``, 200 a folder, and return their bytes.

    A file depends on the seed and its own number alone: the first files of a large corpus are those of a
    small one.
    """
    words = _vocabulary(random.Random(seed))
    size = 0
    for number in range(files):
        text = _page(random.Random(f"{seed}/{number}"), words, number)
        path = root / f"part-{number // FILES_A_FOLDER:05d}" / f"page-{number:07d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        size += path.write_bytes(text.encode())
    return size


def _vocabulary(draw: random.Random) -> list[str]:
    """Words in order of frequency: short ones first, as in a language."""
    found: dict[str, None] = {}
    while len(found) < _WORD_COUNT:
        length = 1 + min(len(found) // 400, 3)
        found["".join(_syllable(draw) for _ in range(draw.randint(length, length + 1)))] = None
    return list(found)


def _syllable(draw: random.Random) -> str:
    return "".join(draw.choice(letters) for letters in (_CONSONANTS, _VOWELS, _ENDS))


def _page(draw: random.Random, words: list[str], number: int) -> str:
    parts = [f"# {_title(draw, words)} {number}"]
    length = len(parts[0])
    while length < FILE_CHARS:
        kind = draw.choices((_section, _paragraph, _list, _table, _code), (2, 7, 1, 1, 1))[0]
        part = kind(draw, words)
        parts.append(part)
        length += len(part) + 2
    return "\n\n".join(parts) + "\n"


def _pick(draw: random.Random, words: list[str], count: int) -> list[str]:
    # The logarithm of the rank is uniform: the frequencies of Zipf's law.
    return [words[int(len(words) ** draw.random()) - 1] for _ in range(count)]


def _sentence(draw: random.Random, words: list[str]) -> str:
    return " ".join(_pick(draw, words, draw.randint(6, 22))).capitalize() + "."


def _title(draw: random.Random, words: list[str]) -> str:
    return " ".join(_pick(draw, words, draw.randint(2, 5))).capitalize()


def _section(draw: random.Random, words: list[str]) -> str:
    return f"{'#' * draw.randint(2, 3)} {_title(draw, words)}\n\n{_paragraph(draw, words)}"


def _paragraph(draw: random.Random, words: list[str]) -> str:
    return " ".join(_sentence(draw, words) for _ in range(draw.randint(2, 6)))


def _list(draw: random.Random, words: list[str]) -> str:
    return "\n".join(f"- {_title(draw, words)}" for _ in range(draw.randint(3, 7)))


def _table(draw: random.Random, words: list[str]) -> str:
    rows = [_pick(draw, words, 3) for _ in range(draw.randint(3, 6))]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---|---|---|", *lines[1:]])


def _code(draw: random.Random, words: list[str]) -> str:
    lines = [f"{a} = {b}({c!r})" for a, b, c in (_pick(draw, words, 3) for _ in range(draw.randint(2, 6)))]
    return "\n".join(["```python", *lines, "```"])
