"""A shard between two stages: what the next stage needs, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.model.shard import NO_WORK

if TYPE_CHECKING:
    import pyarrow as pa

    from transforms.model.document import Document
    from transforms.model.objects import ObjectInfo
    from transforms.model.shard import Rejection, ShardPlan, Work


@dataclass(frozen=True, slots=True)
class Carried:
    """The rows that the shard had in the last snapshot, all of them."""

    chunks: pa.Table
    documents: pa.Table
    stale: tuple[str, ...] = ()
    """Ids of documents that could not be read again although others of their object were: their rows stay."""
    read: tuple[str, ...] = ()
    """Names of objects that were read, and have no document here any more: their other rows go."""


@dataclass(frozen=True, slots=True)
class Payload:
    """The bytes of one object, or of a range of its records, at the version that was listed.

    ``sha256`` is of the whole object.
    """

    info: ObjectInfo
    data: bytes
    sha256: str


@dataclass(frozen=True, slots=True)
class ReadShard:
    """After reading.

    ``stored`` are documents whose text the table has, ``renew`` objects whose chunks are those of today's
    recipe but for the model, ``touched`` objects with a new version of the old bytes.
    """

    plan: ShardPlan
    carried: Carried
    payloads: tuple[Payload, ...] = ()
    stored: tuple[SourceDocument, ...] = ()
    renew: tuple[ObjectInfo, ...] = ()
    touched: tuple[ObjectInfo, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    work: Work = NO_WORK


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document and the object that it was read from."""

    info: ObjectInfo
    object_sha256: str
    doc_id: str
    document: Document


@dataclass(frozen=True, slots=True)
class ExtractedShard:
    """After extraction."""

    plan: ShardPlan
    carried: Carried
    documents: tuple[SourceDocument, ...] = ()
    renew: tuple[ObjectInfo, ...] = ()
    touched: tuple[ObjectInfo, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    work: Work = NO_WORK


@dataclass(frozen=True, slots=True)
class ChunkedShard:
    """After chunking: rows as Arrow data, the chunks still without their vectors."""

    plan: ShardPlan
    carried: Carried
    documents: pa.Table
    chunks: pa.Table
    touched: tuple[ObjectInfo, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    work: Work = NO_WORK
    stopped: bool = False
    """The budget was used up: there are no rows."""


@dataclass(frozen=True, slots=True)
class EmbeddedShard:
    """After embedding: complete rows of the documents that were worked on."""

    plan: ShardPlan
    carried: Carried
    documents: pa.Table
    chunks: pa.Table
    embedded: int
    """Texts that the embedder was given."""
    embedded_tokens: int
    touched: tuple[ObjectInfo, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    work: Work = NO_WORK
    repeated: int = 0
    """Chunks that share the vector of an equal text embedded in this run."""
    empty: int = 0
    """Texts that were embedded and got no vector, nor a refusal."""
    stopped: bool = False
    """The budget was used up: not all rows have their vectors."""
    notices: tuple[str, ...] = ()
    """What the embedder noticed that concerns the whole run."""
