"""What sparse vectors cost: CPU, bytes in Parquet, and how many terms share an id.

    python benchmarks/sparse.py [--text FOLDER] [--chars 800] [--most 20000]

The texts are files of a folder, this repository's documentation and sources if none is named, cut into pieces of
``--chars``. They are encoded in lots of 1,000, as shards are: the first lots meet most words for the first time, the
later ones few. The bytes are those of the two columns in a file as the table's writer writes it. CPU seconds are of
this process, one thread.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from transforms.sparse.analysis import Analyzer  # noqa: E402 - the folder is no installed package
from transforms.sparse.bm25 import BM25  # noqa: E402
from transforms.sparse.columns import to_columns  # noqa: E402
from transforms.sparse.settings import BM25Settings  # noqa: E402
from transforms.sparse.vocabulary import term_id  # noqa: E402
from transforms.table.writer import to_parquet  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOT = 1_000
_KINDS = {".md", ".txt", ".rst", ".html", ".py"}


def main() -> None:
    """Measure and print."""
    args = _arguments()
    texts = list(_pieces(args.text, args.chars, args.most))
    lots = [texts[first : first + LOT] for first in range(0, len(texts), LOT)]
    print(f"{len(texts):,} texts of {args.chars} characters from {', '.join(map(str, args.text))}")
    seconds = _encoding(lots)
    whole = [one for one, lot in zip(seconds, lots, strict=True) if len(lot) == LOT] or seconds
    print(
        f"CPU s per 1,000 texts: first lot {whole[0]:.3f}, mean {sum(seconds) / len(texts) * LOT:.3f}, ",
        end="",
    )
    print(f"median {np.median(whole):.3f}, last lot {whole[-1]:.3f}; again, all words known: ", end="")
    print(f"{_again(lots[-1]):.3f}")
    _bytes(lots[0])
    _collisions(texts)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Cost of sparse vectors.")
    parser.add_argument("--text", type=Path, nargs="+", default=[ROOT / "docs", ROOT / "transforms"])
    parser.add_argument("--chars", type=int, default=800)
    parser.add_argument("--most", type=int, default=20_000, help="texts")
    return parser.parse_args()


def _pieces(folders: Sequence[Path], chars: int, most: int) -> Iterator[str]:
    """Pieces of the folders' files, as many as are wanted."""
    left = most
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in _KINDS):
        text = path.read_text(encoding="utf-8", errors="replace")
        for start in range(0, len(text), chars):
            if not left:
                return
            yield text[start : start + chars]
            left -= 1


def _encoding(lots: Sequence[Sequence[str]]) -> list[float]:
    encoder = BM25(BM25Settings())
    return [_cpu(encoder, lot) for lot in lots]


def _again(lot: Sequence[str]) -> float:
    encoder = BM25(BM25Settings())
    encoder.encode(lot)
    return _cpu(encoder, lot) / len(lot) * LOT


def _cpu(encoder: BM25, lot: Sequence[str]) -> float:
    begun = time.process_time()
    encoder.encode(lot)
    return time.process_time() - begun


def _bytes(lot: Sequence[str]) -> None:
    table = pa.table(to_columns(BM25(BM25Settings()).encode(lot)))
    data = to_parquet(table, {})
    facts = pq.read_metadata(pa.BufferReader(data))
    sizes: Counter[str] = Counter()
    for group in range(facts.num_row_groups):
        for place in range(facts.num_columns):
            column = facts.row_group(group).column(place)
            sizes[column.path_in_schema.partition(".")[0]] += column.total_compressed_size
    for name, size in sizes.items():
        print(f"{name}: {size / len(lot):.0f} bytes a text, ", end="")
    print(f"{len(table['sparse_indices'].combine_chunks().flatten()) / len(lot):.0f} terms a text")


def _collisions(texts: Sequence[str]) -> None:
    analyzer = Analyzer(BM25Settings().languages, ())
    pieces = {piece for text in texts for piece in text.split()}
    terms = {term for piece in pieces for term in analyzer.terms(piece)}
    ids = Counter(map(term_id, terms))
    shared = sum(count for count in ids.values() if count > 1)
    expected = len(terms) ** 2 / 2**33
    print(
        f"{len(terms):,} terms: {shared} share an id with another ({2 * expected:.1f} expected of chance)"
    )


if __name__ == "__main__":
    main()
