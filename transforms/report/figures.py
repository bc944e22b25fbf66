"""Figures about the rows of a snapshot, from a few narrow columns: sizes, repeated texts, languages, warnings.

Memory and time are bounded: of a very large table the files that are read are a sample, the same each time, and the
figures say how many rows they are of.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.report.settings import TINY
from transforms.table.damage import opened, read_parquet
from transforms.table.layout import CHUNKS, DOCUMENTS, snapshot_dir

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from transforms.model.shard import FileInfo
    from transforms.table.reader import Snapshot

MOST_ROWS = 500_000
"""Rows of each table that are looked at, about: half a second of CPU and 100 MB."""
BINS = 20
"""Equal bins of the histogram of sizes, up to the largest size allowed."""
_GARBAGE = "^(suspect_text|charset_damaged)"
_TOP = 10
_SHOWN = 160
_CHUNK_COLUMNS = ("chars", "tokens", "text_sha256", "embed_model", "warnings")
_DOCUMENT_COLUMNS = ("doc_id", "text_chars", "language", "status", "warnings")


@dataclass(frozen=True, slots=True)
class Allowed:
    """The sizes that a source's settings ask for."""

    strategy: str
    unit: str
    """``chars`` or ``tokens``."""
    target: int
    most: int

    @property
    def label(self) -> str:
        """How people tell it from others."""
        return f"{self.strategy}, {self.unit} {self.target:,} to {self.most:,}"


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of sizes in ``BINS`` bins of equal width up to ``most``, and one of what is over it."""

    unit: str
    target: int
    most: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A text that is in many chunks."""

    count: int
    text: str
    """Its beginning."""


@dataclass(frozen=True, slots=True)
class Large:
    """A large document."""

    document: str
    chars: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What was found. Shares are of the rows that were looked at."""

    chunks_seen: int = 0
    documents_seen: int = 0
    sizes: Mapping[str, Histogram] = field(default_factory=dict)
    """By strategy and sizes allowed."""
    tiny: int = 0
    """Chunks of less than ``TINY`` characters."""
    oversize: int = 0
    """Chunks longer than the most allowed."""
    without_vector: int = 0
    repeated: int = 0
    """Chunks with a text that another chunk has."""
    most_repeated: tuple[Repeated, ...] = ()
    stale: int = 0
    """Documents that keep the rows of before because they cannot be read now."""
    suspect: int = 0
    """Documents with a warning that their text may be garbage."""
    languages: Mapping[str, int] = field(default_factory=dict)
    """Documents by language; "" where it is not known."""
    warnings: Mapping[str, int] = field(default_factory=dict)
    """Chunks and documents by the kind of warning."""
    largest: tuple[Large, ...] = ()


def figures_of(snapshot: Snapshot, allowed: Mapping[str, Allowed]) -> Figures:
    """Look at the files of a snapshot.

    Args:
        snapshot: its files are in place.
        allowed: by source the sizes that its chunks should have.

    Raises:
        TableError: a file is missing or damaged.
    """
    chunks, documents = _Chunks(allowed), _Documents()
    for file, table in _tables(snapshot, CHUNKS, _CHUNK_COLUMNS):
        chunks.add(file, table)
    for file, table in _tables(snapshot, DOCUMENTS, _DOCUMENT_COLUMNS):
        documents.add(file, table)
    warnings = chunks.warnings + documents.warnings
    repeated, most_repeated = chunks.repetitions(snapshot)
    return Figures(
        chunks_seen=chunks.seen,
        documents_seen=documents.seen,
        sizes=chunks.histograms(),
        tiny=chunks.tiny,
        oversize=chunks.oversize,
        without_vector=chunks.without_vector,
        repeated=repeated,
        most_repeated=most_repeated,
        stale=documents.stale,
        suspect=documents.suspect,
        languages=dict(documents.languages.most_common()),
        warnings=dict(warnings.most_common()),
        largest=tuple(sorted(documents.largest, key=lambda one: (-one.chars, one.document))[:_TOP]),
    )


def _tables(snapshot: Snapshot, kind: str, columns: Sequence[str]) -> Iterator[tuple[FileInfo, pa.Table]]:
    """Files in the order of their hashes, which is as good as chance and the same each time."""
    seen = 0
    for file in sorted(snapshot.files(kind), key=lambda one: one.sha256):
        if seen >= MOST_ROWS:
            return
        seen += file.rows
        yield file, _columns(snapshot, file, columns)


def _columns(snapshot: Snapshot, file: FileInfo, columns: Sequence[str]) -> pa.Table:
    with opened(snapshot.store, snapshot_dir(snapshot.manifest.snapshot) + file.path) as found:
        return read_parquet(found, columns)


class _Chunks:
    def __init__(self, allowed: Mapping[str, Allowed]) -> None:
        self._allowed = allowed
        self._sizes: dict[Allowed, list[NDArray[np.int32]]] = {}
        self._hashes: list[tuple[FileInfo, pa.ChunkedArray]] = []
        self.seen = self.tiny = self.oversize = self.without_vector = 0
        self.warnings: Counter[str] = Counter()

    def add(self, file: FileInfo, table: pa.Table) -> None:
        self.seen += len(table)
        self.tiny += int(pc.sum(pc.less(table["chars"], TINY)).as_py() or 0)
        self.without_vector += table["embed_model"].null_count
        self.warnings += _kinds(table["warnings"])
        self._hashes.append((file, table["text_sha256"]))
        asked = self._allowed.get(file.source)
        if asked is not None:
            sizes = table[asked.unit].to_numpy()
            self.oversize += int(np.count_nonzero(sizes > asked.most))
            self._sizes.setdefault(asked, []).append(sizes)

    def histograms(self) -> dict[str, Histogram]:
        return {
            asked.label: Histogram(
                asked.unit, asked.target, asked.most, _counted(np.concatenate(parts), asked.most)
            )
            for asked, parts in sorted(self._sizes.items(), key=lambda item: item[0].label)
        }

    def repetitions(self, snapshot: Snapshot) -> tuple[int, tuple[Repeated, ...]]:
        """How many chunks have a text that another has, and the most repeated texts."""
        hashes = pa.chunked_array(
            [part for _, column in self._hashes for part in column.chunks], pa.string()
        )
        counted = pc.value_counts(hashes)
        counts = counted.field("counts").to_numpy()
        several = counts > 1
        top = sorted(
            zip(
                counts[several].tolist(),
                counted.field("values").filter(pa.array(several)).to_pylist(),
                strict=True,
            ),
            key=lambda pair: (-pair[0], pair[1]),
        )[:_TOP]
        texts = self._texts(snapshot, [sha256 for _, sha256 in top])
        return int(counts[several].sum()), tuple(Repeated(count, texts[sha256]) for count, sha256 in top)

    def _texts(self, snapshot: Snapshot, wanted: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for file, hashes in self._hashes:
            left = [sha256 for sha256 in wanted if sha256 not in found]
            if not left:
                break
            if pc.any(pc.is_in(hashes, pa.array(left))).as_py():
                table = _columns(snapshot, file, ("text_sha256", "text"))
                table = table.filter(pc.is_in(table["text_sha256"], pa.array(left)))
                found |= {row["text_sha256"]: row["text"][:_SHOWN] for row in table.to_pylist()}
        return found


def _counted(sizes: NDArray[np.int32], most: int) -> tuple[int, ...]:
    places = np.minimum(np.maximum(sizes.astype(np.int64) - 1, 0) * BINS // most, BINS)
    return tuple(np.bincount(places, minlength=BINS + 1).tolist())


class _Documents:
    def __init__(self) -> None:
        self.seen = self.stale = self.suspect = 0
        self.languages: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()
        self.largest: list[Large] = []

    def add(self, file: FileInfo, table: pa.Table) -> None:
        self.seen += len(table)
        self.stale += int(pc.sum(pc.equal(table["status"], "stale")).as_py() or 0)
        self.warnings += _kinds(table["warnings"])
        self.suspect += _suspect(table["warnings"])
        counted = pc.value_counts(table["language"])
        for one in counted.to_pylist():
            self.languages[one["values"] or ""] += one["counts"]
        order = pc.select_k_unstable(table, _TOP, [("text_chars", "descending"), ("doc_id", "ascending")])
        rows = table.select(["doc_id", "text_chars"]).take(order).to_pylist()
        self.largest += [Large(f"{file.source}/{row['doc_id']}", row["text_chars"]) for row in rows]


def _suspect(warnings: pa.ChunkedArray) -> int:
    """Rows with a warning that the text may be garbage."""
    bad = pc.match_substring_regex(pc.list_flatten(warnings), _GARBAGE)
    return len(pc.unique(pc.list_parent_indices(warnings).filter(bad)))


def _kinds(warnings: pa.ChunkedArray) -> Counter[str]:
    """How often each kind of warning is given: what stands before a colon, without the particulars."""
    counted = pc.value_counts(pc.list_flatten(warnings)).to_pylist()
    kinds: Counter[str] = Counter()
    for one in counted:
        kinds[one["values"].split(":")[0]] += one["counts"]
    return kinds
