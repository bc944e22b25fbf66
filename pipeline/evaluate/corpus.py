"""Read the corpus of a job once, for all variants that extract alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.job import make_job
from transforms.evaluation.questions import Text
from transforms.extractors.isolate import extract_isolated
from transforms.model.errors import RejectedError, StorageError
from transforms.model.ids import doc_id
from transforms.planning.listing import listing_tables
from transforms.storage.registry import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.config import JobConfig
    from transforms.model.document import Document
    from transforms.stages.job import Job, SourceSpec


@dataclass(frozen=True, slots=True)
class Entry:
    """A document, and the source whose settings cut it."""

    source: str
    doc_id: str
    document: Document
    text: Text


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents of all sources in the order of their names, and what could not be read."""

    entries: tuple[Entry, ...]
    rejected: dict[str, str]
    """Of each object the reason."""


def read_corpus(config: JobConfig) -> Corpus:
    """All documents that a run of the job would index.

    Raises:
        StorageError: a source cannot be listed.
    """
    job = make_job(config, "evaluate", 1, None)
    rejected: dict[str, str] = {}
    entries = tuple(entry for source in job.sources for entry in _entries(source, job, rejected))
    return Corpus(entries, rejected)


def _entries(source: SourceSpec, job: Job, rejected: dict[str, str]) -> Iterator[Entry]:
    store = open_store(source.root)
    names = [
        name for table in listing_tables(job, source.name) for name in table["object_name"].to_pylist()
    ]
    for name in sorted(names):
        uri = store.uri(name)
        try:
            found = extract_isolated(store.read(name, limit=job.max_object_bytes), name, source.extract)
        except RejectedError as error:
            rejected[uri] = str(error)
            continue
        except StorageError as error:
            rejected[uri] = f"unreadable: {error}"
            continue
        for document in found.documents:
            called = doc_id(name, document.record)
            record = "" if document.record is None else f"#{document.record}"
            pages = tuple((page.start, page.end, page.number) for page in document.pages)
            text = Text(f"{source.name}/{called}", uri + record, document.text, pages)
            yield Entry(source.name, called, document, text)
