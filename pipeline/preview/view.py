"""What a preview shows of one document: its stretches of text, and how each strategy cuts them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.output import counted
from pipeline.preview.segments import Segment, segments

if TYPE_CHECKING:
    from transforms.model.chunk import Chunk
    from transforms.model.document import Document


@dataclass(frozen=True, slots=True)
class Cutting:
    """One strategy's chunks of a document."""

    strategy: str
    chunks: tuple[Chunk, ...]

    def summary(self) -> str:
        """Count and sizes in words."""
        if not self.chunks:
            return "no chunks"
        sizes = [len(chunk.text) for chunk in self.chunks]
        tokens = [chunk.tokens for chunk in self.chunks]
        count = counted(len(sizes), "chunk")
        return (
            f"{count}; characters {min(sizes):,} to {max(sizes):,}, median {statistics.median(sizes):,.0f}; "
            f"tokens {min(tokens):,} to {max(tokens):,}, median {statistics.median(tokens):,.0f}"
        )


@dataclass(frozen=True, slots=True)
class Stretch:
    """A page of the document, or all of it where it has no pages."""

    start: int
    end: int
    number: int | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class View:
    """One document and one or more ways to cut it."""

    name: str
    document: Document
    cuttings: tuple[Cutting, ...]

    def stretches(self) -> list[Stretch]:
        """Pages with what lies between them, in order; together the whole text."""
        whole, at = len(self.document.text), 0
        found = []
        for page in self.document.pages:
            if page.end > at or page.start >= at:
                found.append(Stretch(at, max(at, page.end), page.number, page.label))
                at = max(at, page.end)
        if at < whole or not found:
            found.append(Stretch(at, whole))
        return found

    def segments(self, stretch: Stretch, cutting: Cutting) -> list[Segment]:
        """How a cutting divides a stretch."""
        if stretch.start == stretch.end:
            return []
        return segments(stretch.start, stretch.end, cutting.chunks)


def facts(chunk: Chunk, number: int) -> list[str]:
    """What is known of a chunk, in the order in which people ask for it."""
    said = [f"chunk {number}", f"{len(chunk.text):,} characters", f"{chunk.tokens:,} tokens"]
    if chunk.page_start is not None:
        pages = str(chunk.page_start)
        if chunk.page_end not in (None, chunk.page_start):
            pages += f"\u2013{chunk.page_end}"
        said.append(f"page {pages}")
    if chunk.section_path:
        said.append(" > ".join(chunk.section_path))
    said.append(chunk.cut.kind.value)
    return [*said, *chunk.warnings]
