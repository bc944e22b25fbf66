"""What changes where other machines work on a job: places are named so that they find them, or refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.beam_options import runner_of
from transforms.model.errors import ConfigError
from transforms.storage.roots import local_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.stages.job import Job


def for_workers(job: Job) -> Job:
    """The job with its folders as whole paths: a worker begins in another folder than the command."""
    sources = tuple(replace(source, root=_whole(source.root)) for source in job.sources)
    return replace(job, table=_whole(job.table), sources=sources)


def check_reach(root: str, beam_args: Sequence[str]) -> None:
    """Pass a place that the workers of the runner can reach.

    Flink, Spark and others may have a disk in common with this machine; Dataflow has not.

    Raises:
        ConfigError: it is a folder of this machine, and the job goes to Dataflow.
    """
    if beam_args and local_path(root) is not None and runner_of(beam_args) == "DataflowRunner":
        raise ConfigError(f"{root} is a folder of this machine, which workers of Dataflow do not see")


def only_writes_template(beam_args: Sequence[str]) -> bool:
    """Whether the pipeline is only written down, for Dataflow to start it later: so its launcher does it."""
    if not beam_args:
        return False
    from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions

    return bool(PipelineOptions(list(beam_args)).view_as(GoogleCloudOptions).template_location)


def _whole(root: str) -> str:
    path = local_path(root)
    if path is None or path.is_absolute():
        return root
    # Not resolved: a link and `..` mean to every machine what they mean here.
    return f"{'file://' if root.startswith('file://') else ''}{Path.cwd() / path}"
