"""What a reader of a store sees of one row, in plain Python values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Seen:
    text: str
    source_name: str
    chunk_index: int
    section_path: list[str]
    doc_title: str | None
