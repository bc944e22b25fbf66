"""Beam counters in the same words at every stage: in, out, rejected, reused, milliseconds."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from apache_beam.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMESPACE = "parquetry"


class StageMetrics:
    """The counters of one stage, named ``<stage>.<word>`` in the runner's view."""

    def __init__(self, stage: str) -> None:
        def counter(word: str) -> Metrics.DelegatingCounter:
            return Metrics.counter(NAMESPACE, f"{stage}.{word}")

        self._in = counter("in")
        self._out = counter("out")
        self._rejected = counter("rejected")
        self._reused = counter("reused")
        self._milliseconds = counter("milliseconds")

    def count(self, *, inputs: int = 0, outputs: int = 0, rejected: int = 0, reused: int = 0) -> None:
        """Add to the counters what one element brought."""
        self._in.inc(inputs)
        self._out.inc(outputs)
        self._rejected.inc(rejected)
        self._reused.inc(reused)

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        """Add the time spent inside, wall clock."""
        start = time.monotonic()
        try:
            yield
        finally:
            self._milliseconds.inc(round((time.monotonic() - start) * 1000))
