"""From a checked configuration to the values that workers get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.scope import ALL, Scope
from transforms.chunkers.counters import size_counter
from transforms.chunkers.settings import CHUNKING_VERSION
from transforms.chunkers.vocabulary import with_vocabulary
from transforms.embedders.presets import price_of
from transforms.embedders.registry import make_embedder
from transforms.embedders.registry import recipe as embed_recipe
from transforms.embedders.settings import ServerSettings
from transforms.evaluation.questions import questions_of
from transforms.extractors.registry import recipe as extract_recipe
from transforms.model.errors import ConfigError
from transforms.model.ids import fingerprint
from transforms.report.gate import Gate
from transforms.sparse.registry import sparse_recipe
from transforms.stages.job import Job, Recipe, SourceSpec, settings_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.config import JobConfig, SourceConfig
    from transforms.chunkers.settings import ChunkSettings
    from transforms.embedders.protocol import Embedder


def make_job(
    config: JobConfig,
    run_id: str,
    snapshot: int,
    parent: int | None,
    *,
    allow_deletes: bool = False,
    scope: Scope = ALL,
) -> Job:
    """The job that builds ``snapshot`` from ``parent``."""
    return Job(
        table=config.table,
        snapshot=snapshot,
        parent=parent,
        run_id=run_id,
        sources=tuple(_spec(source, config) for source in config.sources),
        embedder=config.embedder,
        max_object_bytes=config.limits.max_object_bytes,
        max_rejected_share=config.limits.max_rejected_share,
        shard_bytes=config.run.shard_bytes,
        max_deleted_share=config.limits.max_deleted_share,
        always_allowed_deletes=config.limits.always_allowed_deletes,
        max_empty_share=config.limits.max_empty_share,
        budget_tokens=budget_tokens(config),
        allow_deletes=allow_deletes,
        selection=scope.selection,
        full=scope.full,
        quality=config.quality,
        gate=gate_of(config),
        sparse=config.sparse,
        search=config.search.as_fusion(),
    )


def price_of_job(config: JobConfig) -> float | None:
    """US dollars a million tokens: 0 for a model that runs here, None for a server whose price is not known."""
    return price_of(config.embedder) if isinstance(config.embedder, ServerSettings) else 0.0


def gate_of(config: JobConfig) -> Gate | None:
    """The questions that a snapshot must answer, read from their file.

    Raises:
        ConfigError: it cannot be read, or a line is no question.
    """
    if config.gate is None:
        return None
    return Gate(tuple(questions_of(config.gate.questions)), config.gate.least)


def budget_tokens(config: JobConfig) -> int | None:
    """Tokens that a run may send to a server; None: any number, or there is no server.

    Raises:
        ConfigError: a cost is limited, and what a token costs is not known.
    """
    limits, embedder = config.limits, config.embedder
    if not isinstance(embedder, ServerSettings):
        return None
    budgets = [] if limits.max_tokens is None else [limits.max_tokens]
    if limits.max_cost is not None:
        price = price_of_job(config)
        if price is None:
            raise ConfigError(
                f"limits.max_cost needs the price of {embedder.model}: set embedder.price_per_million_tokens."
            )
        if price:
            budgets.append(int(limits.max_cost / price * 1_000_000))
    return min(budgets, default=None)


def _spec(source: SourceConfig, config: JobConfig) -> SourceSpec:
    chunk = with_vocabulary(source.chunk_settings())
    embedder = make_embedder(config.embedder)
    vectors = embed_recipe(config.embedder)
    cut_by = _of_model(chunk, embedder, embed_recipe(chunk.semantic.embedder or config.embedder))
    recipe = Recipe(
        extract=fingerprint(extract_recipe(source.extract), str(source.store_text)),
        chunk=fingerprint(str(CHUNKING_VERSION), settings_fingerprint(chunk), *cut_by),
        # The tokens in each row are counted as this model counts.
        embed=fingerprint(vectors, embedder.counter.name),
        sparse=fingerprint(sparse) if (sparse := sparse_recipe(config.sparse)) else None,
    )
    return SourceSpec(
        name=source.name,
        slug=source.slug,
        root=source.root,
        include=source.include,
        exclude=source.exclude,
        extract=source.extract,
        chunk=chunk,
        store_text=source.store_text,
        recipe=recipe,
        inventory=source.inventory,
    )


def _of_model(chunk: ChunkSettings, embedder: Embedder, compared: str) -> Iterator[str]:
    """What cuts depend on of the model: another one that agrees in it needs no document to be cut again."""
    if chunk.size.unit == "tokens":
        yield size_counter(chunk.size.counter, embedder.counter).name
    if embedder.max_tokens is not None or chunk.compose.max_tokens is not None:
        yield from (embedder.counter.name, str(embedder.max_tokens))
    if chunk.strategy == "semantic" or chunk.compat == "rag":
        yield compared
