"""``parquetry chunk``: how one file is cut, for people or as JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pydantic import ValidationError
from rich.rule import Rule

from pipeline.config import load_config
from pipeline.config.faults import faults_of
from pipeline.config.models import MAX_OBJECT_BYTES
from pipeline.output import json_line, plain_console
from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.settings import ChunkSettings
from transforms.chunkers.vocabulary import with_vocabulary
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import StaticSettings
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import ConfigError, ParquetryError, RejectedError, StorageError
from transforms.model.ids import doc_id, plain_id
from transforms.storage.local import read_file

if TYPE_CHECKING:
    from pathlib import Path

    from transforms.embedders.settings import EmbedderSettings
    from transforms.model.chunk import Chunk
    from transforms.model.document import Document


def run(file: Path, *, strategy: str | None, config: Path | None, source: str | None, as_json: bool) -> int:
    """Cut one file and print its chunks."""
    chunking, extraction, embedding = _settings(strategy, config, source)
    embedder = make_embedder(embedding)
    comparer = chunking.semantic.embedder
    embed = (make_embedder(comparer) if comparer else embedder).embed
    for document in _documents(file, extraction):
        name = doc_id(file.name, document.record)
        chunks = chunk_document(
            document, plain_id(name), chunking, embedder.counter, embedder.max_tokens, embed
        )
        if as_json:
            for chunk in chunks:
                row = {"document": name, **chunk._asdict(), "cut": chunk.cut._asdict()}
                print(json_line(row))
        else:
            _show(name, chunks)
    return 0


def _documents(file: Path, settings: ExtractSettings) -> tuple[Document, ...]:
    try:
        data = read_file(file, MAX_OBJECT_BYTES)
    except StorageError as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error
    try:
        found = extract(data, file.name, settings)
    except RejectedError as error:
        raise ParquetryError(f"{file} has no text to cut: {error}") from error
    for part in found.refused:
        print(
            f"{doc_id(str(file), part.record)} is left out: {part.reason}: {part.detail}", file=sys.stderr
        )
    return found.documents


def _settings(
    strategy: str | None, config: Path | None, source: str | None
) -> tuple[ChunkSettings, ExtractSettings, EmbedderSettings]:
    chunking, extraction = ChunkSettings(), ExtractSettings()
    embedding: EmbedderSettings = StaticSettings()
    if config is not None:
        job = load_config(config)
        found = [one for one in job.sources if source in (None, one.name)]
        if not found:
            names = ", ".join(one.name for one in job.sources)
            raise ConfigError(f"{config} has no source `{source}`; it has {names}.")
        chunking, extraction = found[0].chunk_settings(), found[0].extract
        embedding = job.embedder
    if strategy is not None:
        try:
            chunking = ChunkSettings.model_validate({**chunking.model_dump(), "strategy": strategy})
        except ValidationError as error:
            faults = faults_of(error, {"strategy": strategy}).values()
            raise ConfigError("; ".join(f"--{fault}" for fault in faults)) from error
    return with_vocabulary(chunking), extraction, embedding


def _show(name: str, chunks: list[Chunk]) -> None:
    console = plain_console()
    for n, chunk in enumerate(chunks, 1):
        facts = [f"{name}::{n}", f"[{chunk.cut.start}:{chunk.cut.end})", chunk.cut.kind.value]
        facts += [f"{len(chunk.text)} characters", f"{chunk.tokens} tokens"]
        if chunk.page_start is not None:
            facts.append(f"page {chunk.page_start}")
        if chunk.section_path:
            facts.append(" > ".join(chunk.section_path))
        console.print(Rule(align="left"))
        console.print("  ".join(facts), style="bold", soft_wrap=True)
        console.print(chunk.text, soft_wrap=True)
