"""A corpus of any size to measure with: Markdown files of about 3 KB in English words, the same for the same seed."""

from __future__ import annotations

import random
from pathlib import Path

FILE_CHARS = 3_000
FILES_A_FOLDER = 200

_WORDS = Path(__file__).with_name("words.txt")
"""Three thousand English words in order of frequency: those of this project's own documentation. Detection of the
language, word pieces and lists of stop words have to do with them what they have to do with people's texts."""


def write_corpus(root: Path, files: int, seed: int = 1) -> int:
    """Write that many files below ``root``, 200 a folder, and return their bytes.

    A file depends on the seed and its own number alone: the first files of a large corpus are those of a
    small one.
    """
    words = _WORDS.read_text(encoding="ascii").split()
    size = 0
    for number in range(files):
        text = _page(random.Random(f"{seed}/{number}"), words, number)
        path = root / f"part-{number // FILES_A_FOLDER:05d}" / f"page-{number:07d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        size += path.write_bytes(text.encode())
    return size


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
