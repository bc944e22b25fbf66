"""Beam's runner on this machine, with worker processes that live no longer than this one."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

from apache_beam.portability import python_urns
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.portability.api import beam_runner_api_pb2
    from apache_beam.runners.runner import PipelineResult


class LocalRunner(FnApiRunner):
    """FnApiRunner itself: DirectRunner would first try to download another runner."""

    def run_via_runner_api(
        self, pipeline_proto: beam_runner_api_pb2.Pipeline, options: PipelineOptions
    ) -> PipelineResult:
        """As the runner does, with our own program for worker processes."""
        for environment in pipeline_proto.components.environments.values():
            if environment.urn == python_urns.SUBPROCESS_SDK:
                environment.payload = _command().encode()
        return super().run_via_runner_api(pipeline_proto, options)


def _command() -> str:
    """A line of the shell; ``exec`` makes this process the worker's parent, and not a shell between them."""
    words = [sys.executable, "-m", "pipeline.local_worker", str(os.getpid())]
    return f"exec {shlex.join(words)}"
