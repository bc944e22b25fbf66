"""How many tokens a run may still send: one number beside the table, from which its processes take parts.

A process that reserved every request there would wait for storage each time, so it takes a part of what is
left, smaller as the end comes near; what all processes have taken is never more than the budget.
"""

from __future__ import annotations

import json
import random
import threading
import time
from dataclasses import dataclass

from transforms.model.errors import BudgetReachedError, PreconditionError
from transforms.storage.registry import open_store

_PARTS = 4
"""A process takes this part of its share of what is left, or what it needs."""
_LONGEST_WAIT = 0.2


@dataclass(frozen=True, slots=True)
class Budget:
    """The tokens that a run may send, and where it is written down what its processes have taken."""

    root: str
    """The table."""
    path: str
    """Of the ledger, below the root; each run has its own."""
    tokens: int

    def take(self, need: int, workers: int) -> int:
        """Take ``need`` tokens, or more where much is left; 0 if there are not so many.

        Raises:
            StorageError: the ledger cannot be read or written.
        """
        store = open_store(self.root)
        while True:
            found = store.stat(self.path)
            try:
                taken = 0 if found is None else int(json.loads(store.read(self.path, found.token))["taken"])
                left = self.tokens - taken
                if left < need:
                    return 0
                part = max(need, left // (_PARTS * workers))
                data = json.dumps({"tokens": self.tokens, "taken": taken + part}).encode()
                if found is None:
                    store.create(self.path, data)
                else:
                    store.replace(self.path, data, found.token)
            except PreconditionError:
                # Another process was first.
                time.sleep(random.uniform(0, _LONGEST_WAIT))  # noqa: S311
            else:
                return part


class Purse:
    """What one process has taken of a budget and not yet spent. Safe to use from many threads.

    What a request needs is set aside by our own count, which may be several times what the server bills, so a request
    for which there is not enough waits as long as others are under way and may give some back.
    """

    def __init__(self, budget: Budget | None, workers: int) -> None:
        self._budget = budget
        self._workers = workers
        self._held = 0
        self._under_way = 0
        """Requests that tokens are set aside for."""
        self._not_there: int | None = None
        """So many tokens, and more, the ledger did not have; it never gets more."""
        self._settled = threading.Condition()

    def can_ever_reach_for(self, tokens: int) -> bool:
        """Whether a run that has spent nothing could send so many."""
        return self._budget is None or tokens <= self._budget.tokens

    def reserve(self, tokens: int) -> None:
        """Set tokens aside for a request, before it is sent; :meth:`settle` follows, whatever becomes of it.

        Raises:
            BudgetReachedError: there are not so many left, and no request is under way.
        """
        if self._budget is None:
            return
        with self._settled:
            while not self._has(tokens, self._budget):
                if not self._under_way:
                    raise BudgetReachedError(
                        f"The budget of {self._budget.tokens:,} tokens is used up; the next text needs "
                        f"{tokens:,} more."
                    )
                self._settled.wait()
            self._held -= tokens
            self._under_way += 1

    def settle(self, reserved: int, spent: int) -> None:
        """A request is over for which tokens were set aside; it has spent fewer, or more."""
        if self._budget is None:
            return
        with self._settled:
            self._held += reserved - spent
            self._under_way -= 1
            self._settled.notify_all()

    def _has(self, tokens: int, budget: Budget) -> bool:
        """Whether so many are held, after taking what is missing."""
        missing = tokens - self._held
        if missing > 0 and (self._not_there is None or missing < self._not_there):
            part = budget.take(missing, self._workers)
            self._held += part
            if not part:
                self._not_there = missing
        return self._held >= tokens
