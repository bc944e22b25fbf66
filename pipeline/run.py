"""Run the job once: check, claim, plan, work, publish.

On this machine the plan is made first, in this process, so that a quiet night costs no worker and a guard
can stop the run before it spends anything; then the work runs on as many processes as it is worth. What is
worth one process is done in this one, without Beam, by the functions that its transforms call. On another
runner the same graph is one pipeline.
"""

from __future__ import annotations

import logging
import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from pipeline.beam_errors import our_errors, shortened
from pipeline.beam_options import LOCAL_RUNNERS, runner_of
from pipeline.elsewhere import for_workers, only_writes_template
from pipeline.job import make_job, price_of_job
from pipeline.preflight import check_job
from pipeline.scope import ALL, Scope
from pipeline.signals import apart
from pipeline.workers import processes_elsewhere, processes_here
from transforms.model.errors import GuardError, NotFoundError, ParquetryError
from transforms.planning.source import plan_alone
from transforms.stages.about import about, keep_about
from transforms.stages.commit import commit_snapshot
from transforms.stages.guards import check_plans
from transforms.stages.outcome import forget_old_outcomes, handed_over, read_outcome
from transforms.stages.plans import keep_plan
from transforms.stages.progress import Watch
from transforms.stages.shard import finish_shard
from transforms.storage.registry import open_store
from transforms.table.layout import claim_path, snapshot_dir
from transforms.table.lease import Lease, require_claim
from transforms.table.pointer import next_number, read_pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipeline.config import JobConfig
    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job
    from transforms.stages.outcome import Outcome


def run_job(
    config: JobConfig,
    beam_args: Sequence[str] = (),
    *,
    allow_deletes: bool = False,
    take_over: bool = False,
    scope: Scope = ALL,
    watch: Callable[[Watch], None] | None = None,
) -> Outcome:
    """Bring the table up to date with its sources.

    Args:
        config: the job.
        beam_args: options for Beam; ``--runner`` chooses another runner than the local one.
        allow_deletes: delete however much is gone.
        take_over: ask no claim of another machine whether its run may live still.
        scope: what the run is about, and what it may spend.
        watch: is given what looks at the run from outside, before it begins.

    Raises:
        ConfigError: a source, the table, the embedder or an option cannot be used; nothing was written.
        GuardError: a guard refused, or another run holds the table; nothing was published.
        ParquetryError: anything else that a person can act on.
    """
    check_job(config, beam_args)
    store = open_store(config.table)
    pointer = read_pointer(store)
    parent = pointer.snapshot if pointer else None
    number = next_number(pointer)
    run_id = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{uuid.uuid4().hex[:8]}"
    job = make_job(config, run_id, number, parent, allow_deletes=allow_deletes, scope=scope)
    with Lease(store, number, run_id, parent=parent, take_over=take_over):
        known = about(job, price_of_job(config))
        keep_about(known, job.table)
        if watch is not None:
            watch(Watch(store, known))
        outcome = _run(job, config, list(beam_args))
        forget_old_outcomes(store)
        if outcome.status == "refused":
            raise GuardError(outcome.refusal)
        if outcome.status == "unchanged":
            _remove_unfinished(job)
    return outcome


def plan_job(config: JobConfig, scope: Scope = ALL) -> tuple[Job, list[SourcePlan]]:
    """What a run would do now, without writing anything.

    Raises:
        ConfigError, TableError: as a run would.
    """
    check_job(config)
    store = open_store(config.table)
    pointer = read_pointer(store)
    parent = pointer.snapshot if pointer else None
    job = make_job(config, "plan", next_number(pointer), parent, scope=scope)
    return job, [plan_alone(job, source.name) for source in job.sources]


def _run(job: Job, config: JobConfig, beam_args: list[str]) -> Outcome:
    # Beam warns of what is this program's own business, and prints the trace of an error that comes out below.
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    try:
        if runner_of(beam_args) not in LOCAL_RUNNERS:
            apart(lambda: _run_elsewhere(job, config, beam_args))
        else:
            apart(lambda: _run_here(job, config, beam_args))
    except (RuntimeError, ParquetryError) as error:
        ours = next(our_errors(error), None)
        if ours is None:
            raise
        raise ours from error
    try:
        return read_outcome(job)
    except NotFoundError as error:
        if only_writes_template(beam_args):
            return handed_over(job)
        raise ParquetryError(
            f"The runner ended without a result for run {job.run_id}; the table is as it was. "
            "Its log says what happened; the same command goes on from where this run stopped."
        ) from error


def _run_elsewhere(job: Job, config: JobConfig, beam_args: list[str]) -> None:
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipeline.dag import run_everything

    options = PipelineOptions(beam_args)
    job = replace(for_workers(job), workers=processes_elsewhere(options, config))
    try:
        with beam.Pipeline(options=options) as pipeline:
            run_everything(pipeline, job)
    except Exception as error:
        if next(our_errors(error), None) is not None:
            raise
        # A runner has its own log; what it raises here is a trace of how it was called.
        raise ParquetryError(
            f"The runner failed, and run {job.run_id} published nothing: {shortened(str(error))}"
        ) from error


def _run_here(job: Job, config: JobConfig, beam_args: list[str]) -> None:
    plans = plan_here(job)
    check_plans(plans, job)
    shards = [shard for plan in plans for shard in plan.shards]
    workers = min(config.run.worker_count(sum(plan.work_bytes for plan in plans)), len(shards))
    if shards and (beam_args or workers > 1):
        # Whoever gives Beam options wants it, however little there is to do.
        _work_in_beam(job, plans, workers, beam_args)
    else:
        # Beam takes longer to load than a small night takes, and has nothing to spread over one process.
        commit_snapshot(job, plans, [finish_shard(shard, job) for shard in shards])


def _work_in_beam(job: Job, plans: Sequence[SourcePlan], workers: int, beam_args: list[str]) -> None:
    import apache_beam as beam

    from pipeline.dag import build_snapshot

    options = _local_options(beam_args, workers)
    job = replace(job, workers=processes_here(options))
    with _local_pipeline(options) as pipeline:
        build_snapshot(pipeline | "Plans" >> beam.Create(plans), job)


def plan_here(job: Job) -> list[SourcePlan]:
    """The plans of all sources, made in this process, in the order of the sources."""
    plans = [plan_alone(job, source.name) for source in job.sources]
    for plan in plans:
        keep_plan(plan, job)
    return plans


def _local_options(beam_args: list[str], workers: int) -> PipelineOptions:
    from apache_beam.options.pipeline_options import PipelineOptions

    mode = "multi_processing" if workers > 1 else "in_memory"
    local = [f"--direct_num_workers={workers}", f"--direct_running_mode={mode}"]
    kept = [arg for arg in beam_args if not arg.startswith("--runner")]
    return PipelineOptions([*local, *kept])


def _local_pipeline(options: PipelineOptions) -> beam.Pipeline:
    import apache_beam as beam

    from pipeline.local_runner import LocalRunner

    return beam.Pipeline(runner=LocalRunner(), options=options)


def _remove_unfinished(job: Job) -> None:
    """Nothing was published: leave no half snapshot behind, and harm none that another run has published."""
    store = open_store(job.table)
    require_claim(store, job.snapshot, job.run_id)
    folder = snapshot_dir(job.snapshot)
    names = [info.name for page in store.list(folder) for info in page]
    store.delete([name for name in names if name != claim_path(job.snapshot)])
