"""``parquetry chunk``: how one file is cut, for people or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.rule import Rule

from pipeline.one_file import Cutter, documents_of, read_object, settings_of
from pipeline.output import json_line, plain_console, visible
from transforms.model.ids import doc_id

if TYPE_CHECKING:
    from pathlib import Path

    from transforms.model.chunk import Chunk


def run(file: str, *, strategy: str | None, config: Path | None, source: str | None, as_json: bool) -> int:
    """Cut one file and print its chunks."""
    settings = settings_of(config, source)
    if strategy is not None:
        settings = settings.with_strategy(strategy)
    cutter = Cutter(settings)
    file_name, data = read_object(file)
    for document in documents_of(file, file_name, data, settings.extraction):
        name = doc_id(file_name, document.record)
        chunks = cutter.cut(document, name)
        if as_json:
            for chunk in chunks:
                row = {"document": name, **chunk._asdict(), "cut": chunk.cut._asdict()}
                print(json_line(row))
        else:
            _show(name, chunks)
    return 0


def _show(name: str, chunks: list[Chunk]) -> None:
    console = plain_console()
    for n, chunk in enumerate(chunks, 1):
        facts = [f"{name}::{n}", f"[{chunk.cut.start}:{chunk.cut.end})", chunk.cut.kind.value]
        facts += [f"{len(chunk.text)} characters", f"{chunk.tokens} tokens"]
        if chunk.page_start is not None:
            facts.append(f"page {chunk.page_start}")
        if chunk.section_path:
            facts.append(" > ".join(chunk.section_path))
        console.print(Rule(align="left"))
        console.print(visible("  ".join(facts)), style="bold", soft_wrap=True)
        console.print(visible(chunk.text), soft_wrap=True)
