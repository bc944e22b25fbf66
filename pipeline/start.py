"""Where the program begins: it can be interrupted before it has read its command line, without a trace.

Reading the modules of the command line takes some tenths of a second, so this one imports next to nothing.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command line; see :func:`pipeline.cli.main`."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    from pipeline.cli import main as command_line

    command_line()


def _end(number: int, _frame: object) -> None:
    """Nothing has begun, so there is nothing to tell of it but the end."""
    word = "interrupted" if number == signal.SIGINT else "told to end"
    print(f"parquetry: {word} before anything was done.", file=sys.stderr)
    sys.stderr.flush()
    os._exit(128 + number)


if __name__ == "__main__":
    main()
