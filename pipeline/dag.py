"""The picture of the design as code: the stages, in their order, by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apache_beam as beam

from transforms.chunk import ChunkText
from transforms.coders import use_shard_coder
from transforms.commit import CommitSnapshot
from transforms.embed import EmbedChunks
from transforms.extract import ExtractText
from transforms.guard import CheckPlans
from transforms.list import LISTING, PROBLEMS, TABLES, ListObjects
from transforms.plan import PlanShards, ReadSnapshot
from transforms.read import DONE, ReadObjects
from transforms.write import WriteShard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.model.shard import ShardPlan
    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job
    from transforms.stages.outcome import Outcome


def plan_sources(pipeline: beam.Pipeline, job: Job) -> beam.PCollection[SourcePlan]:
    """List every source, compare it with the last snapshot, cut the work into shards."""
    sources = pipeline | "Sources" >> beam.Create([source.name for source in job.sources])
    spread = sources | "SpreadSources" >> beam.Reshuffle()
    listed = spread | "ListObjects" >> ListObjects(job)
    inputs = {
        "sources": spread,
        "listing": listed[LISTING],
        "problems": listed[PROBLEMS],
        "tables": listed[TABLES],
        "documents": spread | "ReadSnapshot" >> ReadSnapshot(job),
    }
    return inputs | "PlanShards" >> PlanShards(job)


def run_everything(pipeline: beam.Pipeline, job: Job) -> beam.PCollection[Outcome]:
    """The whole job as one pipeline: plan, let the guards look at the plans, work, commit."""
    plans = plan_sources(pipeline, job) | "CheckPlans" >> CheckPlans(job)
    return build_snapshot(plans, job)


def build_snapshot(plans: beam.PCollection[SourcePlan], job: Job) -> beam.PCollection[Outcome]:
    """Work on every planned shard and commit what comes out.

    Only plans cross the shuffle; from reading to writing a shard stays in one fused stage.
    """
    use_shard_coder()
    shards = plans | "Shards" >> beam.FlatMap(_shards) | "Spread" >> beam.Reshuffle()
    read = shards | "ReadObjects" >> ReadObjects(job)
    written = (
        read["read"]
        | "ExtractText" >> ExtractText(job)
        | "ChunkText" >> ChunkText(job)
        | "EmbedChunks" >> EmbedChunks(job)
        | "WriteShard" >> WriteShard(job)
    )
    receipts = (written, read[DONE]) | "Receipts" >> beam.Flatten()
    return {"plans": plans, "receipts": receipts} | "CommitSnapshot" >> CommitSnapshot(job)


def _shards(plan: SourcePlan) -> Sequence[ShardPlan]:
    # Of a lambda, the pipeline would carry the code and the path of this file.
    return plan.shards
