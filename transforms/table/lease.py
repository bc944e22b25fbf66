"""The claim of a run on the snapshot it builds: one writer at a time, however many start.

The claim is a small object created if absent. On the machine of its holder it lives as long as the process does,
whatever the clock says; elsewhere it lives while it is renewed in time. A dead one may be taken over by exactly one
other run. The clocks of machines that share a table have to agree to a minute or so; where they do not, two runs may
work, and still only one can publish, because the pointer moves from the snapshot it was planned on and no other.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from transforms.model.errors import GuardError, NotFoundError, PreconditionError, StorageError, TableError
from transforms.table.damage import fault_of
from transforms.table.layout import claim_path, manifest_path
from transforms.table.pointer import read_pointer

if TYPE_CHECKING:
    from types import TracebackType

    from transforms.storage.protocol import Store

LEASE_SECONDS = 120
RENEW_SECONDS = 30
_ENDED: set[str] = set()
"""Runs of this process that are over: where a store was out of reach at their end, their claims still stand in it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Who builds a snapshot, and until when that holds without word from them."""

    run_id: str
    host: str
    pid: int
    since: str
    expires_at: str
    machine: str = ""
    """Boot and process namespace: where the same pid is the same process. Hosts may share a name."""
    started: str = ""
    """When the process began, in the kernel's ticks: a pid is used again, the pair is not."""
    parent: int | None = None
    """The snapshot that the run continues and reads."""
    over: bool = False
    """Whether the run has ended and says so itself: its process may live on and do other things."""

    def __post_init__(self) -> None:
        if self.ended().tzinfo is None:
            raise ValueError("its time has no zone")

    def alive(self) -> bool:
        """Whether the holder may still be at work.

        A machine that was asleep wakes up with a clock that has gone on and claims that nobody could renew.
        """
        if self.over:
            return False
        if self.machine == _machine():
            if self.pid == os.getpid() and self.run_id in _ENDED:
                return False
            runs = _runs(self.pid, self.started)
            return runs and (bool(self.started) or self.ended() > _now())
        return self.ended() > _now()

    def is_here(self) -> bool:
        """Whether the holder is at work for certain: its process runs on this very machine."""
        return self.machine == _machine() and bool(self.started) and self.alive()

    def ended(self) -> datetime.datetime:
        """When the holder ended, or will count as gone unless it renews the claim."""
        return datetime.datetime.fromisoformat(self.expires_at)

    def holder(self) -> str:
        """Who it is, for a person."""
        return f"{self.run_id} on {self.host}, process {self.pid}, since {self.since}"


_CLAIM = TypeAdapter(Claim)


class Lease:
    """Hold the claim on a snapshot while the block runs.

    ``take_over`` takes the claim of another machine's run before it runs out, on a person's word that the
    run is dead; one whose process is alive here is never taken. A block that ends in an error leaves its
    claim behind as one that has run out: it says who was at work last, and until when.

    Entering raises GuardError where a live run holds it, another one was faster, or the snapshot was
    published since its number was chosen.
    """

    def __init__(
        self, store: Store, number: int, run_id: str, *, parent: int | None = None, take_over: bool = False
    ) -> None:
        self._store = store
        self._number = number
        self._path = claim_path(number)
        self._run_id = run_id
        self._parent = parent
        self._forced = take_over
        self._since = _now().isoformat(timespec="seconds")
        self._token = ""
        self._stop = threading.Event()
        self._heartbeat = threading.Thread(target=self._renew_until_stopped, daemon=True)

    def __enter__(self) -> Self:
        _ENDED.discard(self._run_id)
        try:
            self._token = self._store.create(self._path, self._claim())
        except PreconditionError:
            self._token = self._take_over()
        pointer = read_pointer(self._store)
        if pointer is not None and pointer.highest >= self._number:
            self._release()
            raise GuardError(
                f"Another run on {self._store.root} has just published snapshot {pointer.highest}; "
                "start again."
            )
        # A run that died just before its last step left a manifest; only published snapshots have one for long.
        self._store.delete([manifest_path(self._number)])
        self._heartbeat.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._heartbeat.join()
        _ENDED.add(self._run_id)
        if error is None:
            self._release()
        else:
            self._expire()

    def _claim(self, *, over: bool = False) -> bytes:
        expires = _now() + datetime.timedelta(seconds=0 if over else LEASE_SECONDS)
        pid = os.getpid()
        claim = Claim(
            run_id=self._run_id,
            host=socket.gethostname(),
            pid=pid,
            since=self._since,
            expires_at=expires.isoformat(),
            machine=_machine(),
            started=_started(pid),
            parent=self._parent,
            over=over,
        )
        return _CLAIM.dump_json(claim)

    def _take_over(self) -> str:
        facts = self._store.stat(self._path)
        if facts is None:
            raise GuardError(f"Another run on {self._store.root} just ended; start again.")
        try:
            held = _read_claim(self._store, self._path, facts.token)
            if held.is_here() or (held.alive() and not self._forced):
                remedy = (
                    "Wait for it, or stop it."
                    if held.is_here()
                    else "Wait for it. If it is dead, its claim runs out within two minutes, or take its "
                    "place at once with --take-over."
                )
                raise GuardError(f"Another run is at work on {self._store.root}: {held.holder()}. {remedy}")
            return self._store.replace(self._path, self._claim(), facts.token)
        except (PreconditionError, NotFoundError) as error:
            raise GuardError(
                f"Another run on {self._store.root} was faster; start again when it is done."
            ) from error

    def _release(self) -> None:
        """Leave the claim if it is ours still. Where no store answers, it runs out: here, as the process ends."""
        with contextlib.suppress(StorageError):
            facts = self._store.stat(self._path)
            if facts is not None and facts.token == self._token:
                self._store.delete([self._path])

    def _expire(self) -> None:
        """Leave word of who was at work, if the claim is ours still; on a full disk, leave nothing."""
        try:
            self._store.replace(self._path, self._claim(over=True), self._token)
        except PreconditionError:
            return
        except StorageError:
            self._release()

    def _renew_until_stopped(self) -> None:
        while not self._stop.wait(RENEW_SECONDS):
            try:
                self._token = self._store.replace(self._path, self._claim(), self._token)
            except PreconditionError:
                # Taken over: require_claim refuses to publish.
                return
            except StorageError:
                # The store is out of reach for a moment: the lease outlasts three missed renewals.
                continue


def read_claim(store: Store, number: int) -> Claim | None:
    """Who holds the claim on a snapshot; None where nobody does."""
    try:
        return _read_claim(store, claim_path(number))
    except NotFoundError:
        return None


def require_claim(store: Store, number: int, run_id: str) -> None:
    """Pass a run that may write below the snapshot's directory, and publish it.

    A runner may outlive the process that started it and held the claim: where nobody holds one, the
    pointer alone decides.

    Raises:
        GuardError: another run has taken the claim over, or has published the snapshot.
    """
    held = read_claim(store, number)
    if held is not None and held.run_id != run_id:
        raise GuardError(
            f"Snapshot {number} of {store.root} was taken over by {held.holder()}. "
            "This run publishes nothing."
        )
    pointer = read_pointer(store)
    if pointer is not None and pointer.highest >= number:
        raise GuardError(
            f"{store.root} has got snapshot {pointer.highest} since this run planned snapshot {number}. "
            "Nothing was published; start again."
        )


def _read_claim(store: Store, path: str, token: str | None = None) -> Claim:
    try:
        return _CLAIM.validate_json(store.read(path, token=token))
    except ValueError as error:
        raise TableError(
            f"{store.uri(path)} {fault_of(error)}. Where no run is at work, delete it and start again."
        ) from error


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _machine() -> str:
    """What is the same only where process ids mean the same: else the name of the host has to serve."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}-{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def _started(pid: int) -> str:
    """When a process began; "" where it is gone, or the system does not say it this way."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The command's name is in parentheses and may hold anything, blanks and parentheses included.
    fields = facts.rpartition(")")[2].split()
    # A process that is dead and only waits to be asked how it ended may wait for as long as its parent likes.
    return "" if fields[0] in "ZX" else fields[19]


def _runs(pid: int, started: str) -> bool:
    if started and _started(pid) != started:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
