"""One file, read and cut as a job would do it: what ``chunk`` and ``preview`` show."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from pipeline.config import load_config
from pipeline.config.faults import faults_of
from pipeline.config.models import MAX_OBJECT_BYTES
from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.settings import ChunkSettings
from transforms.chunkers.vocabulary import with_vocabulary
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import StaticSettings
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import ConfigError, ParquetryError, RejectedError, StorageError
from transforms.model.ids import doc_id, plain_id
from transforms.storage.local_files import read_file
from transforms.storage.registry import open_store

if TYPE_CHECKING:
    from transforms.embedders.settings import EmbedderSettings
    from transforms.model.chunk import Chunk
    from transforms.model.document import Document


@dataclass(frozen=True, slots=True)
class Settings:
    """How a source reads, cuts and embeds."""

    chunking: ChunkSettings
    extraction: ExtractSettings
    embedder: EmbedderSettings

    def with_strategy(self, strategy: str) -> Settings:
        """The same with another strategy.

        Raises:
            ConfigError: there is none of that name.
        """
        try:
            chosen = ChunkSettings.model_validate({**self.chunking.model_dump(), "strategy": strategy})
        except ValidationError as error:
            faults = faults_of(error, {"strategy": strategy}).values()
            raise ConfigError("; ".join(f"--{fault}" for fault in faults)) from error
        return Settings(with_vocabulary(chosen), self.extraction, self.embedder)


def settings_of(config: Path | None, source: str | None) -> Settings:
    """The settings of a job's source, or the defaults.

    Args:
        config: the job's file; None: the defaults.
        source: which of its sources; None: the first.

    Raises:
        ConfigError: the file is wrong, or has no such source.
    """
    if config is None:
        return Settings(with_vocabulary(ChunkSettings()), ExtractSettings(), StaticSettings())
    job = load_config(config)
    found = [one for one in job.sources if source in (None, one.name)]
    if not found:
        names = ", ".join(one.name for one in job.sources)
        raise ConfigError(f"{config} has no source `{source}`; it has {names}.")
    return Settings(with_vocabulary(found[0].chunk_settings()), found[0].extract, job.embedder)


def read_object(location: str) -> tuple[str, bytes]:
    """The name and the bytes of a local file, or of an object by its URI.

    Raises:
        ConfigError: it cannot be read.
    """
    root, mark, name = location.rpartition("/")
    try:
        if "://" in location and mark:
            return name, open_store(root).read(name, limit=MAX_OBJECT_BYTES)
        path = Path(location)
        return path.name, read_file(path, MAX_OBJECT_BYTES)
    except StorageError as error:
        raise ConfigError(f"{location} cannot be read: {error}") from error


def documents_of(location: str, name: str, data: bytes, settings: ExtractSettings) -> tuple[Document, ...]:
    """The documents that a file holds; parts of it that are none are told on standard error.

    Raises:
        ParquetryError: it has no text.
    """
    try:
        found = extract(data, name, settings)
    except RejectedError as error:
        raise ParquetryError(f"{location} has no text to cut: {error}") from error
    for part in found.refused:
        print(f"{doc_id(location, part.record)} is left out: {part.reason}: {part.detail}", file=sys.stderr)
    return found.documents


class Cutter:
    """Cuts documents with one choice of settings; the model is loaded once."""

    def __init__(self, settings: Settings) -> None:
        self._chunking = settings.chunking
        self._embedder = make_embedder(settings.embedder)
        comparer = settings.chunking.semantic.embedder
        self._embed = (make_embedder(comparer) if comparer else self._embedder).embed

    def cut(self, document: Document, name: str) -> list[Chunk]:
        """The chunks of a document called ``name`` by its id."""
        embedder = self._embedder
        return chunk_document(
            document, plain_id(name), self._chunking, embedder.counter, embedder.max_tokens, self._embed
        )
