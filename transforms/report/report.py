"""The report of a snapshot: one record, written as JSON, and a page that shows that record and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from transforms.report.figures import Figures
from transforms.report.made import model_words, sparse_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from transforms.model.shard import Rejection
    from transforms.table.manifest import Manifest

_NAMED = 200
"""Rejected documents that the report names; all are in rejected.parquet."""


@dataclass(frozen=True, slots=True)
class Named:
    """A rejected document."""

    document: str
    stage: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """What is told of a snapshot. Counts are those of the manifest."""

    snapshot: int
    parent: int | None
    created_at: str
    program: str
    embedder: str
    """Its settings, as the manifest has them."""
    vectors: str
    """The model with its dimension, in words."""
    sparse: str
    """What made the sparse vectors, and how many terms there are, in words."""
    counts: Mapping[str, int]
    sources: Mapping[str, Mapping[str, int]]
    before: Mapping[str, Mapping[str, int]]
    """Counts by source of the parent."""
    incomplete: Mapping[str, str]
    """Sources that could not be listed and keep their rows, and why."""
    rejected: Mapping[str, int]
    """Rejected documents by reason."""
    rejected_documents: Sequence[Named]
    """The first of them."""
    files: int
    bytes: int
    embedded_tokens: int
    seconds: Mapping[str, float]
    """Spent in each stage in this run, by the workers together."""
    notices: Sequence[str] = ()
    """What the embedder noticed."""
    retrieval: Mapping[str, float] = field(default_factory=dict)
    """Measures of the gate's questions."""
    figures: Figures = field(default_factory=Figures)


def make_report(
    manifest: Manifest,
    parent: Manifest | None,
    rejected: Sequence[Rejection],
    incomplete: Mapping[str, str],
    *,
    model: tuple[str, int] | None = None,
    embedded_tokens: int = 0,
    seconds: Mapping[str, float] | None = None,
    notices: Sequence[str] = (),
    retrieval: Mapping[str, float] | None = None,
    figures: Figures | None = None,
) -> Report:
    """The report of a snapshot that is about to be published; ``model`` is that of its vectors."""
    return Report(
        snapshot=manifest.snapshot,
        parent=manifest.parent,
        created_at=manifest.created_at,
        program=manifest.program,
        embedder=manifest.recipe.get("embedder", ""),
        vectors=model_words(manifest, model),
        sparse=sparse_words(manifest),
        counts=manifest.counts,
        sources={name: entry.counts for name, entry in manifest.sources.items()},
        before={} if parent is None else {name: entry.counts for name, entry in parent.sources.items()},
        incomplete=dict(incomplete),
        rejected=dict(Counter(one.reason for one in rejected).most_common()),
        rejected_documents=[
            Named(f"{one.source}/{one.doc_id}", one.stage, one.reason, one.detail)
            for one in rejected[:_NAMED]
        ],
        files=len(manifest.files),
        bytes=sum(file.bytes for file in manifest.files),
        embedded_tokens=embedded_tokens,
        seconds=dict(seconds or {}),
        notices=list(notices),
        retrieval=dict(retrieval or {}),
        figures=figures or Figures(),
    )


def to_json(report: Report) -> bytes:
    """UTF-8 JSON."""
    return json.dumps(asdict(report), indent=2, ensure_ascii=False).encode()
