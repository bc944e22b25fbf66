"""The program of the process that reads objects: requests come on its input, answers go on its output."""

from __future__ import annotations

import os
import pickle
import sys
from typing import TYPE_CHECKING

from transforms.extractors.isolate import HEADER
from transforms.extractors.registry import extract
from transforms.model.errors import RejectedError
from transforms.model.lifeline import end_with

if TYPE_CHECKING:
    from transforms.extractors.extraction import Extraction
    from transforms.extractors.settings import ExtractSettings
    from transforms.model.objects import RecordRange


def main() -> None:
    """Answer until the input ends, or the worker does, even in the middle of a file.

    Argument: the worker's process id.
    """
    end_with(int(sys.argv[1]), group=True)
    # What a library prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    while header := requests.read(HEADER.size):
        (length,) = HEADER.unpack(header)
        data, name, settings, kind, part = pickle.loads(requests.read(length))  # noqa: S301 - from the worker
        answer = pickle.dumps(_answer(data, name, settings, kind, part))
        answers.write(HEADER.pack(len(answer)))
        answers.write(answer)
        answers.flush()


def _answer(
    data: bytes, name: str, settings: ExtractSettings, kind: str | None, part: RecordRange | None
) -> Extraction | tuple[str, str]:
    _allow(settings.max_memory_mb)
    try:
        return extract(data, name, settings, kind, part)
    except RejectedError as error:
        return error.reason, error.detail
    except MemoryError:
        return (
            "out_of_memory",
            f"Reading needed more than extract.max_memory_mb = {settings.max_memory_mb:,}.",
        )
    finally:
        _allow(None)


def _allow(megabytes: int | None) -> None:
    """Let the process grow by so much from where it is now; None: without end."""
    try:
        import resource
    except ImportError:
        # Not on this system; the time limit holds.
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = most if megabytes is None else _size() + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _size() -> int:
    """Bytes of address space in use."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - a device, read once a file
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 1 << 30


if __name__ == "__main__":
    main()
