"""Run a server that ends with whoever started this: `python guarded.py PARENT COMMAND...`.

A test run that is killed cannot stop its servers. This looks twice a second whether its parent is still the
process that it was, and takes the server along, with all that the server has started.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys


def main(parent: int, command: list[str]) -> int:
    """The exit code of the command, or 1 where the parent went first."""
    server = subprocess.Popen(command, process_group=0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while os.getppid() == parent:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return server.wait(0.5)
        return 1
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
