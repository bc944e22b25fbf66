"""What one would write in an afternoon instead: list, read, split, embed, write, in one process.

It is the yardstick for the job's overhead. It does what a first script does and no more: no snapshots, no
bad files, no offsets that survive an edit, nothing kept from the last run. The embedder is the job's own; ``card`` is
the model of ``static`` by the lines that its card asks for, as one would write them without the job at hand.

    python benchmarks/plain.py CORPUS OUT.parquet {hash,static,card}
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter
from tokenizers import Tokenizer

from transforms.embedders import static
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import EmbedderSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

TARGET = 1_000
BATCH_CHUNKS = 2_000
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("path", pa.string()),
        ("title", pa.string()),
        ("section", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("text", pa.string()),
        ("embed_text", pa.string()),
        ("embedding", pa.list_(pa.float32())),
    ]
)
_PARAGRAPH = re.compile(r"\S(?:.|\n(?!\s*\n))*")


def main(corpus: str, target: str, kind: str) -> None:
    """Index a folder of Markdown files into one Parquet file and print the counts."""
    embedder = embedder_of(kind)
    documents = chunks = 0
    rows: list[dict[str, object]] = []
    with pq.ParquetWriter(target, SCHEMA, compression="zstd") as writer:
        for path in sorted(Path(corpus).rglob("*.md")):
            rows.extend(chunks_of(str(path), path.read_text(encoding="utf-8")))
            documents += 1
            if len(rows) >= BATCH_CHUNKS:
                chunks += write(writer, rows, embedder)
                rows = []
        chunks += write(writer, rows, embedder)
    print(json.dumps({"documents": documents, "chunks": chunks}))


def embedder_of(kind: str) -> Embeds:
    """The job's own, or that of the card."""
    if kind == "card":
        return ByTheCard(Path(static.__file__).parent / "data" / static.NAME.partition("@")[0])
    settings: EmbedderSettings = TypeAdapter(EmbedderSettings).validate_python({"kind": kind})
    return make_embedder(settings)


class Embeds(Protocol):
    """What the script needs of an embedder."""

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        """A row a text."""


class ByTheCard:
    """Tokenize, drop what is unknown, add the rows, divide by their number and by the norm."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._unknown = self._tokenizer.token_to_id("[UNK]")
        model = np.load(folder / "model.npz")
        self._table, self._scale = model["table"], model["scale"].astype(np.float64)

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        vectors = []
        for encoding in self._tokenizer.encode_batch(texts, add_special_tokens=False):
            ids = np.array(encoding.ids)
            ids = ids[ids != self._unknown]
            mean = (self._table[ids] * self._scale[ids, None]).sum(axis=0) / len(ids)
            vectors.append((mean / np.linalg.norm(mean)).astype(np.float32))
        return np.stack(vectors)


def chunks_of(path: str, text: str) -> Iterator[dict[str, object]]:
    """Pack paragraphs up to the target; a heading opens a section and its text goes before the chunk's."""
    title = section = ""
    start = end = 0
    for match in _PARAGRAPH.finditer(text):
        if end > start and match.end() - start > TARGET:
            yield row(path, title, section, start, end, text)
            start = match.start()
        elif end == start:
            start = match.start()
        end = match.end()
        if match[0].startswith("#"):
            section = match[0].lstrip("# ")
            title = title or section
    if end > start:
        yield row(path, title, section, start, end, text)


def row(path: str, title: str, section: str, start: int, end: int, text: str) -> dict[str, object]:
    """One chunk as a row, still without its vector."""
    part = text[start:end]
    return {
        "id": hashlib.sha256(f"{path}:{start}:{part}".encode()).hexdigest(),
        "path": path,
        "title": title,
        "section": section,
        "start": start,
        "end": end,
        "text": part,
        "embed_text": f"{title}\n{section}\n{part}",
    }


def write(writer: pq.ParquetWriter, rows: list[dict[str, object]], embedder: Embeds) -> int:
    """Embed rows and write them as one row group."""
    if not rows:
        return 0
    vectors = embedder.embed([str(one["embed_text"]) for one in rows])
    table = pa.Table.from_pylist(rows, schema=SCHEMA.remove(len(SCHEMA) - 1))
    offsets = range(0, vectors.size + 1, vectors.shape[1])
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(vectors.ravel()))
    writer.write_table(table.append_column("embedding", lists).cast(SCHEMA))
    return len(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
