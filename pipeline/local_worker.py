"""The program of a worker process on this machine: Beam's own, that knows whose it is.

It ends with the process that started it; an interruption, which a terminal sends to both, is that one's to
answer; and an error goes to that one too, which says it once.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from pathlib import Path

from pipeline.lean import collect_rarely
from transforms.model.lifeline import end_with


def main() -> None:
    """Work until the runner has nothing more to do.

    Argument: the id of the process that started this one.
    """
    end_with(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What the program itself has to say goes the short way; the runner's log is shut.
    ours = logging.getLogger("transforms")
    ours.addHandler(logging.StreamHandler(sys.stderr))
    ours.propagate = False
    # Beam prints the trace of every error that it hands on.
    sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the life of the process
    from apache_beam.runners.worker import sdk_worker_main

    collect_rarely()
    sdk_worker_main.main(sys.argv)


if __name__ == "__main__":
    main()
