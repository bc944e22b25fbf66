"""Reads objects in a process of its own, which is ended when one takes too long or too much memory.

Each worker has one such process, started when the first file needs it and kept for all that follow. Small
files of plain formats are read in the worker itself: their readers are linear, and cheaper than the way to
another process and back.

The process is a program of its own that speaks over its standard streams, rather than a fork or a spawned
copy: a fork of a worker with threads can stand still for ever, and a spawned copy imports the worker's main
program, all of Beam, each time it starts.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import selectors
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from transforms.extractors.code import CODE
from transforms.extractors.delimited import CSV, TSV
from transforms.extractors.detect import HTML, MARKDOWN, PICTURE, PLAIN, media_type, record_type
from transforms.extractors.json_files import JSON, JSONL
from transforms.extractors.registry import extract
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    from transforms.extractors.extraction import Extraction
    from transforms.extractors.settings import ExtractSettings
    from transforms.model.objects import RecordRange

HEADER = struct.Struct(">Q")
"""Before each message: its length in bytes."""
_IN_WORKER = (MARKDOWN, PLAIN, CODE, CSV, TSV, JSON, JSONL, HTML)
_IN_WORKER_BYTES = 1 << 20
_PIECE = 1 << 16
_ROOT = Path(__file__).resolve().parents[2]


def extract_isolated(
    data: bytes, name: str, settings: ExtractSettings, part: RecordRange | None = None
) -> Extraction:
    """What one object holds, as :func:`~transforms.extractors.registry.extract` makes it.

    Raises:
        RejectedError: as there; besides ``timeout``, ``out_of_memory``, and ``crashed`` where the process
            that read it ended.
    """
    kind = (record_type(name) if part is not None else None) or media_type(data, name)
    if not settings.isolate or _is_harmless(kind, len(data), settings):
        return extract(data, name, settings, kind, part)
    return _shared().extract(data, name, settings, kind, part)


def _is_harmless(kind: str, size: int, settings: ExtractSettings) -> bool:
    if kind == PICTURE:
        return settings.ocr.engine == "off"
    return size <= _IN_WORKER_BYTES and kind in _IN_WORKER


class ReaderProcess:
    """A process that reads one object at a time; a new one is started when it was ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def extract(
        self,
        data: bytes,
        name: str,
        settings: ExtractSettings,
        kind: str | None = None,
        part: RecordRange | None = None,
    ) -> Extraction:
        """As :func:`extract_isolated`, always in the process."""
        with self._lock:
            try:
                answer = self._ask(pickle.dumps((data, name, settings, kind, part)), settings.max_seconds)
            except TimeoutError:
                self.close()
                raise RejectedError(
                    "timeout", f"Reading took longer than extract.max_seconds = {settings.max_seconds:g}."
                ) from None
            except (EOFError, BrokenPipeError):
                raise self._ended() from None
        found: Extraction | tuple[str, str] = pickle.loads(answer)  # noqa: S301 - our own
        if isinstance(found, tuple):
            raise RejectedError(*found)
        return found

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        # With what it has started itself, as a program for OCR.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                # What was left to write has no reader any more.
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()

    def _ask(self, request: bytes, seconds: float) -> bytes:
        process = self._started()
        assert process.stdin is not None  # noqa: S101 - it was opened with pipes
        assert process.stdout is not None  # noqa: S101
        until = time.monotonic() + seconds
        # The process reads a whole request before it does anything: writing cannot stand still.
        process.stdin.write(HEADER.pack(len(request)))
        process.stdin.write(request)
        process.stdin.flush()
        stream = process.stdout.fileno()
        (length,) = HEADER.unpack(_received(stream, HEADER.size, until))
        return _received(stream, length, until)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(  # noqa: S603 - a module of this program
                [sys.executable, "-m", "transforms.extractors.isolated", str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(_ROOT), *sys.path]))},
                start_new_session=True,
            )
        return self._process

    def _ended(self) -> RejectedError:
        status = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self._process.wait(timeout=5)
        self.close()
        how = "without a word" if status is None or status >= 0 else f"by {_signal_name(-status)}"
        return RejectedError(
            "crashed", f"The process that read the file ended {how}; the file may be damaged or too large."
        )


def _received(stream: int, length: int, until: float) -> bytes:
    pieces = []
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while length:
            if not selector.select(max(0.0, until - time.monotonic())):
                raise TimeoutError
            piece = os.read(stream, min(length, _PIECE))
            if not piece:
                raise EOFError
            pieces.append(piece)
            length -= len(piece)
    return b"".join(pieces)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_reader: ReaderProcess | None = None
_reader_lock = threading.Lock()


def _shared() -> ReaderProcess:
    """The worker's one process; a forked copy of the worker gets its own."""
    global _reader  # noqa: PLW0603 - one a process, like the process itself
    with _reader_lock:
        if _reader is None:
            _reader = ReaderProcess()
            atexit.register(_reader.close)
        return _reader


def _forget() -> None:
    """In a forked copy, the process belongs to the one that was copied."""
    global _reader, _reader_lock
    _reader, _reader_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)
