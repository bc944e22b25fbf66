"""``code``: definitions stay whole, and what is too long is cut where the tree is shallowest."""

from __future__ import annotations

import pytest

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.settings import ChunkSettings
from transforms.embedders.hashed import CharCounter
from transforms.model.document import Block, BlockKind, Document
from transforms.structure.blocks import parse_blocks


def cut(text: str, language: str, target: int, top: int | None = None) -> list[str]:
    blocks = (Block(BlockKind.CODE, 0, len(text.rstrip()), language=language),)
    return texts(Document(text, blocks, "text/x-source", "code/1"), target, top)


def texts(document: Document, target: int, top: int | None = None) -> list[str]:
    chosen = ChunkSettings.model_validate(
        {
            "strategy": "code",
            "size": {"target": target, "max": top or target, "min_fill": 0.1},
            "overlap": {"size": 0},
        }
    )
    return [chunk.text for chunk in chunk_document(document, "a.py", chosen, CharCounter(), None)]


PYTHON = """import os

# Adds.
def add(a, b):
    total = a + b

    return total


class Box:
    def open(self):
        return 1

    def close(self):
        return 2
"""


def test_definitions_are_packed_whole_with_the_comment_above_them() -> None:
    assert cut(PYTHON, "python", 80) == [
        "import os\n\n# Adds.\ndef add(a, b):\n    total = a + b\n\n    return total",
        "class Box:\n    def open(self):\n        return 1",
        "    def close(self):\n        return 2",
    ]


def test_a_definition_too_long_is_cut_between_its_statements() -> None:
    body = "".join(f"    value_{n} = {n}\n" for n in range(8))
    chunks = cut(f"def f():\n{body}", "py", 60)
    assert chunks[0] == "def f():\n    value_0 = 0\n    value_1 = 1\n    value_2 = 2"
    assert all(chunk.startswith("    value_") for chunk in chunks[1:])


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("javascript", "function a() {\n  return 1;\n}", "function b() {\n  return 2;\n}"),
        ("typescript", "function a(): number {\n  return 1;\n}", "type B = {\n  c: number;\n};"),
        ("java", "class A {\n  int a() { return 1; }\n}", "class B {\n  int b() { return 2; }\n}"),
        ("go", "func a() int {\n\treturn 1\n}", "func b() int {\n\treturn 2\n}"),
        ("rust", "fn a() -> i32 {\n    1\n}", "struct B {\n    c: i32,\n}"),
        ("c", "int a(void) {\n  return 1;\n}", "struct b {\n  int c;\n};"),
        ("cpp", "class A {\n  int a();\n};", "int A::a() {\n  return 1;\n}"),
        ("sql", "SELECT a,\n  b\nFROM c;", "SELECT d\nFROM e\nWHERE f = 1;"),
    ],
)
def test_each_language_is_cut_between_definitions(language: str, first: str, second: str) -> None:
    size = max(len(first), len(second)) + 6
    assert cut(f"{first}\n\n{second}\n", language, size) == [first, second]


def test_letters_of_more_than_one_byte_shift_nothing() -> None:
    text = 'a = "größe 料金 👍"\n\n\ndef f():\n    return "ü"\n'
    assert cut(text, "python", 35) == ['a = "größe 料金 👍"', 'def f():\n    return "ü"']


def test_code_that_no_grammar_understands_loses_nothing() -> None:
    broken = "def (((:\n  ]] £ 3 {{\n" * 12
    for language in ("python", "java", "sql", "cobol"):
        assert "".join("".join(cut(broken, language, 50)).split()) == "".join(broken.split())


def test_a_fence_in_a_page_is_cut_by_its_language_and_the_page_like_any() -> None:
    page = "# How\n\nCall it.\n\n```python\n" + PYTHON + "```\n\nDone."
    document = Document(page, parse_blocks(page, "markdown"), "text/markdown", "markdown/1")
    chunks = texts(document, 90)
    assert chunks[0] == "# How\n\nCall it."
    assert chunks[1].startswith("```python\nimport os\n\n# Adds.\ndef add")
    assert chunks[-1] == "Done."
    assert "".join("".join(chunks).split()) == "".join(page.split())


@pytest.mark.parametrize(
    ("above", "first"),
    [
        ("## Install\n\n", []),
        ("Intro text of the page.\n\n## Example\n\n", ["Intro text of the page."]),
        ("Intro text of the page.\n\n# Use\n\n## Example\n\n", ["Intro text of the page."]),
    ],
)
def test_headings_go_with_the_first_piece_of_the_fence_below_them(above: str, first: list[str]) -> None:
    page = above + "```python\n" + "def f(x):\n    return x\n\n" * 8 + "```\n\n## End"
    chunks = texts(Document(page, parse_blocks(page, "markdown"), "text/markdown", "markdown/1"), 80)
    headings = above[above.index("#") :]
    assert chunks[: len(first)] == first
    assert chunks[len(first)].startswith(f"{headings}```python\ndef f(x):\n    return x")
    assert chunks[-1] == "## End"
    assert "".join("".join(chunks).split()) == "".join(page.split())


def test_a_heading_between_two_fences_goes_with_the_second() -> None:
    fence = "```python\nx = 1\n\ny = 2\n```"
    page = f"{fence}\n\n## Next\n\n{fence}"
    document = Document(page, parse_blocks(page, "markdown"), "text/markdown", "markdown/1")
    assert texts(document, 40) == [fence, f"## Next\n\n{fence}"]


def test_nesting_deeper_than_a_stack_is_cut_all_the_same() -> None:
    text = "x = " + "(" * 5000 + "1" + ")" * 5000 + "\n"
    assert "".join(cut(text, "python", 100)) == text.strip()
