"""Chunking: megabytes a CPU second on one core, by part and by strategy, beside splitters of other libraries.

    python benchmarks/chunking.py [--megabytes 2] [--hostile] [--out FILE]

English Markdown, chunks of 1,000 characters without overlap. Peers are measured where they are installed
(`pip install langchain-text-splitters semantic-text-splitter chonkie llama-index-core`): they return texts, we
return spans. A megabyte is 10^6 characters; the best of three runs counts.

With `--hostile`, texts that make splitters slow, at half their length and in full: CPU seconds of each strategy for
all that `chunk_document` does, which double where the work is linear.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.corpus import write_corpus  # noqa: E402 - no installed package
from transforms.chunkers.chunk import chunk_document  # noqa: E402
from transforms.chunkers.registry import STRATEGIES  # noqa: E402
from transforms.chunkers.settings import ChunkSettings  # noqa: E402
from transforms.chunkers.size import Measures  # noqa: E402
from transforms.chunkers.tools import Tools  # noqa: E402
from transforms.embedders.hashed import CharCounter, HashEmbedder  # noqa: E402
from transforms.embedders.registry import make_embedder  # noqa: E402
from transforms.embedders.settings import StaticSettings  # noqa: E402
from transforms.model.document import Document  # noqa: E402
from transforms.structure.blocks import parse_blocks  # noqa: E402

SIZE = 1000


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=2)
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    lines = _hostile() if chosen.hostile else _speeds(_text(int(chosen.megabytes * 1e6)))
    table = "\n".join(lines)
    print(table)
    if chosen.out:
        chosen.out.write_text(table + "\n", encoding="utf-8")


def _speeds(text: str) -> list[str]:
    lines = ["| what | MB/s | chunks |", "|---|---|---|"]
    for name, run in _runs(text).items():
        seconds, chunks = _best(run)
        lines.append(f"| {name} | {len(text) / 1e6 / seconds:.1f} | {chunks} |")
    return lines


HOSTILE: dict[str, Callable[[int], str]] = {
    "10 MB without a space": lambda share: "x" * (10_000_000 // share),
    "100,000 headings": lambda share: "## Heading\n\n" * (100_000 // share),
    "100,000 blank lines": lambda share: "a" + "\n" * (100_000 // share) + "b",
    "a line of 200,000 Chinese characters": lambda share: "料金は三つ" * (40_000 // share),
    "lists nested 1,000 deep": lambda share: ("".join("  " * n + "- a\n" for n in range(1000)) * 2)[
        : 2_000_000 // share
    ],
    "100,000 table rows": lambda share: "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * (100_000 // share),
}


def _hostile() -> list[str]:
    names = [name for name in STRATEGIES if name != "semantic"]
    lines = ["| text | structure | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for title, make in HOSTILE.items():
        cells = []
        for name in [None, *names]:
            seconds = [_once(make(share), name) for share in (2, 1)]
            cells.append(f"{seconds[0]:.2f}, {seconds[1]:.2f}")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def _once(text: str, strategy: str | None) -> float:
    """CPU seconds: of the structure pass, or of a strategy over it."""
    document = _document(text)
    began = time.process_time()
    if strategy is None:
        _document(text)
    else:
        chunk_document(document, "a", _settings(strategy), CharCounter(), None)
    return time.process_time() - began


def _text(size: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        write_corpus(Path(folder), max(1, size // 2500))
        pages = [page.read_text(encoding="utf-8") for page in sorted(Path(folder).rglob("*.md"))]
    return "\n\n".join(pages)[:size]


def _runs(text: str) -> dict[str, Callable[[], int]]:
    document = _document(text)
    counter, static = CharCounter(), make_embedder(StaticSettings())
    runs: dict[str, Callable[[], int]] = {"structure": lambda: len(parse_blocks(text, "markdown"))}
    for name in STRATEGIES:
        if name != "semantic":
            runs[f"`{name}` over a ready structure"] = _spans(document, name)
    runs |= {
        "structure and `headings`": lambda: _whole_way(text, "headings"),
        "`tokens` of 512 by the word pieces of static": lambda: len(
            chunk_document(document, "a", _settings("tokens", 512, "tokens"), static.counter, None)
        ),
        "`tokens` of 512 by cl100k_base": lambda: len(
            chunk_document(document, "a", _settings("tokens", 512, "tokens", "cl100k_base"), counter, None)
        ),
        "`verbatim` complete with embedded texts": lambda: len(
            chunk_document(document, "a", _settings("verbatim"), counter, None)
        ),
        "`semantic` complete, hash embedder": lambda: len(
            chunk_document(document, "a", _settings("semantic"), counter, None, HashEmbedder(64).embed)
        ),
        "bare loop over rfind": lambda: _bare(text),
    }
    return runs | _peers(text)


def _document(text: str) -> Document:
    return Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1")


def _settings(
    strategy: str, size: int = SIZE, unit: str = "chars", counter: str = "embedder"
) -> ChunkSettings:
    sizes = {"target": size, "max": size, "unit": unit, "counter": counter}
    return ChunkSettings.model_validate({"strategy": strategy, "size": sizes, "overlap": {"size": 0}})


def _spans(document: Document, strategy: str) -> Callable[[], int]:
    settings = _settings(strategy)
    measures = Measures(document.text, "chars", CharCounter(), None)
    tools = Tools(measures.up_to(SIZE), measures)
    return lambda: len(STRATEGIES[settings.strategy](document, settings, tools))


def _whole_way(text: str, strategy: str) -> int:
    return _spans(_document(text), strategy)()


def _bare(text: str) -> int:
    start = chunks = 0
    while start < len(text):
        end = text.rfind("\n\n", start + 1, start + SIZE)
        start = end if end > 0 else start + SIZE
        chunks += 1
    return chunks


def _peers(text: str) -> dict[str, Callable[[], int]]:
    peers: dict[str, Callable[[], int]] = {}
    if find_spec("langchain_text_splitters"):
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        splitter = RecursiveCharacterTextSplitter(chunk_size=SIZE, chunk_overlap=0)
        peers["langchain RecursiveCharacterTextSplitter"] = lambda: len(splitter.split_text(text))
    if find_spec("semantic_text_splitter"):
        from semantic_text_splitter import MarkdownSplitter, TextSplitter

        peers["semantic-text-splitter TextSplitter"] = lambda: len(TextSplitter(SIZE).chunks(text))
        peers["semantic-text-splitter MarkdownSplitter"] = lambda: len(MarkdownSplitter(SIZE).chunks(text))
    if find_spec("chonkie"):
        from chonkie import RecursiveChunker

        recursive = RecursiveChunker(tokenizer="character", chunk_size=SIZE)
        peers["chonkie RecursiveChunker"] = lambda: len(recursive.chunk(text))
    if find_spec("llama_index"):
        from llama_index.core.node_parser import SentenceSplitter

        by_sentences = SentenceSplitter(
            chunk_size=SIZE,
            chunk_overlap=0,
            tokenizer=list,
            chunking_tokenizer_fn=lambda part: part.split(". "),
        )
        peers["llama-index SentenceSplitter"] = lambda: len(by_sentences.split_text(text))
    if find_spec("bpe_openai"):
        from transforms.chunkers.counters import BytePairs

        encoding = BytePairs("cl100k_base")
        peers["cl100k_base: encoding alone, by bpe-openai"] = lambda: encoding.count([text])[0]
    return peers


def _best(run: Callable[[], int]) -> tuple[float, int]:
    seconds, chunks = [], 0
    for _ in range(3):
        began = time.process_time()
        chunks = run()
        seconds.append(time.process_time() - began)
    return min(seconds), chunks


if __name__ == "__main__":
    main()
