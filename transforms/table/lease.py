"""The claim of a run on the snapshot it builds: one writer at a time, however many start.

The claim is a small object created if absent. Its holder renews it; a claim that was not renewed in time,
or whose process is gone from this very machine, is dead and may be taken over by exactly one other run.
"""

from __future__ import annotations

import datetime
import os
import socket
import threading
from typing import TYPE_CHECKING, Self

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from transforms.model.errors import GuardError, NotFoundError, PreconditionError, StorageError
from transforms.table.layout import claim_path

if TYPE_CHECKING:
    from types import TracebackType

    from transforms.storage.protocol import Store

LEASE_SECONDS = 120
RENEW_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Claim:
    """Who builds a snapshot, and until when that holds without word from them."""

    run_id: str
    host: str
    pid: int
    since: str
    expires_at: str

    def alive(self) -> bool:
        """Whether the holder may still be at work."""
        if self.host == socket.gethostname() and not _process_exists(self.pid):
            return False
        return datetime.datetime.fromisoformat(self.expires_at) > _now()


_CLAIM = TypeAdapter(Claim)


class Lease:
    """Hold the claim on a snapshot while the block runs.

    Entering raises GuardError where a live run holds it, or another one was faster.
    """

    def __init__(self, store: Store, number: int, run_id: str) -> None:
        self._store = store
        self._number = number
        self._path = claim_path(number)
        self._run_id = run_id
        self._since = _now().isoformat(timespec="seconds")
        self._token = ""
        self._stop = threading.Event()
        self._heartbeat = threading.Thread(target=self._renew_until_stopped, daemon=True)

    def __enter__(self) -> Self:
        try:
            self._token = self._store.create(self._path, self._claim())
        except PreconditionError:
            self._token = self._take_over()
        self._heartbeat.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._heartbeat.join()
        self._store.delete([self._path])

    def _claim(self) -> bytes:
        expires = _now() + datetime.timedelta(seconds=LEASE_SECONDS)
        claim = Claim(self._run_id, socket.gethostname(), os.getpid(), self._since, expires.isoformat())
        return _CLAIM.dump_json(claim)

    def _take_over(self) -> str:
        facts = self._store.stat(self._path)
        if facts is None:
            raise GuardError(f"Another run on {self._store.root} just ended; start again.")
        try:
            held = _CLAIM.validate_json(self._store.read(self._path, token=facts.token))
            if held.alive():
                raise GuardError(
                    f"Another run holds {self._store.root}: {held.run_id} on {held.host}, "
                    f"process {held.pid}, since {held.since}. Wait for it, or stop it."
                )
            return self._store.replace(self._path, self._claim(), facts.token)
        except (PreconditionError, NotFoundError) as error:
            raise GuardError(
                f"Another run on {self._store.root} was faster; start again when it is done."
            ) from error

    def _renew_until_stopped(self) -> None:
        while not self._stop.wait(RENEW_SECONDS):
            try:
                self._token = self._store.replace(self._path, self._claim(), self._token)
            except PreconditionError:
                # Taken over: the commit will find the pointer moved and refuse.
                return
            except StorageError:
                # The store is out of reach for a moment: the lease outlasts three missed renewals.
                continue


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _process_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
