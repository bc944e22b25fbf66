"""How fast requests may be sent: quotas that are known, and limits that a server teaches.

Additive increase, multiplicative decrease. All threads of a process share one pace, so that one refusal
is one pause and one halving, however many requests it hit.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FIRST_CONCURRENCY = 2
_WINDOW = 10.0
"""Seconds over which the rate that the server bore is measured."""
_ENOUGH = 5
"""Answers in them that make a rate; after fewer, a refusal is a pause and no more."""
_BACK_TO = 0.7
"""Part of that rate to go on with after a refusal."""
_GAIN_A_SECOND = 0.02
"""Part of that rate regained each second: a server that refuses is asked too fast once in 15 seconds."""


class Pace:
    """Lets requests through at a rate and concurrency that the server bears.

    Args:
        concurrency: requests in flight, at most.
        requests_per_minute: of this process; None: unknown.
        tokens_per_minute: of this process; None: unknown.
        clock: monotonic seconds.
        sleep: waits for seconds, in place of what :meth:`turn` is given; for clocks of another speed.
    """

    def __init__(
        self,
        concurrency: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self._most = float(concurrency)
        self._concurrency = min(float(FIRST_CONCURRENCY), self._most)
        self._request_seconds = 60 / requests_per_minute if requests_per_minute else 0.0
        self._token_seconds = 60 / tokens_per_minute if tokens_per_minute else 0.0
        self._clock = clock
        self._sleep = sleep
        self._turn = threading.Condition()
        self._running = 0
        self._next_at = self._paused_until = self._began_at = clock()
        self._last_refusal = -1.0
        self._borne: deque[float] = deque()
        self._rate: float | None = None
        self._rate_at = 0.0
        self._rate_base = 0.0

    @property
    def concurrency(self) -> int:
        """Requests that may be in flight now."""
        return int(self._concurrency)

    @contextmanager
    def turn(self, tokens: int, sleep: Callable[[float], object] | None = None) -> Iterator[float]:
        """Wait for a turn to send ``tokens``; gives the moment of sending, for :meth:`refused`.

        ``sleep`` waits in place of the pace's own, and may raise to give the turn up.
        """
        with self._turn:
            self._turn.wait_for(lambda: self._running < int(self._concurrency))
            self._running += 1
        try:
            yield self._wait_for_slot(tokens, self._sleep or sleep or time.sleep)
        finally:
            with self._turn:
                self._running -= 1
                self._turn.notify_all()

    def went_well(self) -> None:
        """A request was answered: a little more may be in flight."""
        with self._turn:
            now = self._clock()
            self._borne.append(now)
            while self._borne[0] < now - _WINDOW:
                self._borne.popleft()
            self._concurrency = min(self._most, self._concurrency + 1 / self._concurrency)
            self._turn.notify_all()

    def refused(self, sent_at: float, wait: float) -> None:
        """A request that was sent at ``sent_at`` was refused: pause for ``wait`` seconds, then go slower.

        Requests that were sent before the last refusal was known belong to the same event.
        """
        with self._turn:
            now = self._clock()
            self._paused_until = max(self._paused_until, now + wait)
            if sent_at <= self._last_refusal:
                return
            self._last_refusal = now
            self._concurrency = max(1.0, self._concurrency / 2)
            borne = sum(1 for at in self._borne if at > now - _WINDOW)
            if borne >= _ENOUGH:
                self._learn(borne / max(1.0, min(_WINDOW, now - self._began_at)), now)

    def _learn(self, borne: float, now: float) -> None:
        known = self._rate_now(now)
        self._rate_base = _BACK_TO * (borne if known is None else min(borne, known))
        self._rate, self._rate_at = self._rate_base, now

    def _wait_for_slot(self, tokens: int, sleep: Callable[[float], object]) -> float:
        with self._turn:
            now = self._clock()
            at = max(now, self._next_at, self._paused_until)
            self._next_at = at + self._spacing(tokens, now)
        while (wait := max(at, self._paused_until) - self._clock()) > 0:
            sleep(wait)
        return self._clock()

    def _spacing(self, tokens: int, now: float) -> float:
        rate = self._rate_now(now)
        learnt = 1 / rate if rate else 0.0
        return max(self._request_seconds, tokens * self._token_seconds, learnt)

    def _rate_now(self, now: float) -> float | None:
        """The learnt rate in requests a second; None until a server has refused one."""
        if self._rate is None:
            return None
        return self._rate + self._rate_base * _GAIN_A_SECOND * (now - self._rate_at)
