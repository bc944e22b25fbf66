"""The page about chunking shows what each strategy does to one text, and these are the cuts it shows."""

from __future__ import annotations

import os
from pathlib import Path

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.registry import STRATEGIES
from transforms.chunkers.settings import ChunkSettings
from transforms.embedders.hashed import CharCounter, HashEmbedder
from transforms.model.document import Document
from transforms.structure.blocks import parse_blocks

PAGE = Path(__file__).parents[3] / "docs" / "chunking.md"
TEXT = """# Pump

A pump moves water. It has a motor.

## Start

1. Open the valve.
2. Press the switch.

## Stop

Close the valve.
"""


def table() -> str:
    document = Document(TEXT, parse_blocks(TEXT, "markdown"), "text/markdown", "markdown/1")
    lines = ["| strategy | chunks |", "| --- | --- |"]
    for name in STRATEGIES:
        chosen = ChunkSettings.model_validate(
            {
                "strategy": name,
                "size": {"target": 60, "max": 90, "min_fill": 0},
                "overlap": {"size": 0},
                "headings": {"split_level": 2},
            }
        )
        chunks = chunk_document(document, "pump.md", chosen, CharCounter(), None, HashEmbedder(8).embed)
        shown = [" ⏎ ".join(line for line in chunk.text.split("\n") if line) for chunk in chunks]
        lines.append(f"| `{name}` | " + "<br>".join(f"`{text}`" for text in shown) + " |")
    return "\n".join(lines)


def test_the_page_shows_the_cuts_of_each_strategy() -> None:
    """Set WRITE_PAGES to write them anew."""
    page = PAGE.read_text(encoding="utf-8")
    before, opening, rest = page.partition("test_page.py -->\n")
    sample, closing, after = rest.partition("\n<!-- sample -->")
    if os.environ.get("WRITE_PAGES"):
        PAGE.write_text(before + opening + table() + closing + after, encoding="utf-8")
    else:
        assert "\n".join(f"    {line}".rstrip() for line in TEXT.splitlines()) in page
        assert sample == table()
