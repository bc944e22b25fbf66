"""From a checked configuration to the values that workers get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.chunkers.settings import CHUNKING_VERSION
from transforms.embedders.registry import make_embedder
from transforms.embedders.registry import recipe as embed_recipe
from transforms.extractors.registry import recipe as extract_recipe
from transforms.model.ids import fingerprint
from transforms.stages.job import Job, Recipe, SourceSpec, settings_fingerprint

if TYPE_CHECKING:
    from pipeline.config import JobConfig, SourceConfig


def make_job(
    config: JobConfig, run_id: str, snapshot: int, parent: int | None, *, allow_deletes: bool = False
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
        allow_deletes=allow_deletes,
    )


def _spec(source: SourceConfig, config: JobConfig) -> SourceSpec:
    chunk = source.chunk_settings()
    embedder = make_embedder(config.embedder)
    # Chunks are bounded by the model's input and counted in its tokens.
    model_input = (embedder.counter.name, str(embedder.max_tokens))
    recipe = Recipe(
        extract=fingerprint(extract_recipe(source.extract), str(source.store_text)),
        chunk=fingerprint(str(CHUNKING_VERSION), settings_fingerprint(chunk), *model_input),
        embed=embed_recipe(config.embedder),
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
    )
