"""What commands print: as it is, whatever names and texts hold, and to whatever takes it."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
import unicodedata
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.table import Table

_DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""They turn the order of what a terminal shows."""
_WIDEST = 10_000
"""Columns of text that no table of figures has."""
_UNPRINTABLE = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def plain_console() -> Console:
    """Where text for people goes: brackets and colons in it are characters like others."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def print_figures(table: Table) -> None:
    """Print a table as wide as it is: figures that are cut off say something else than they are.

    Where that is more than the place has, a terminal breaks its lines, and a log keeps them.
    """
    console = plain_console()
    needed = console.measure(table, options=console.options.update(max_width=_WIDEST))
    console.width = max(console.width, needed.maximum)
    console.print(table)


def visible(text: str) -> str:
    """A text as it stands, line by line, with U+FFFD for what would steer a terminal: it comes from anyone's file."""
    if text.isprintable():
        return text
    return "".join(
        one if one in "\n\t" or one.isprintable() or not _steers(one) else "\ufffd" for one in text
    )


def _steers(character: str) -> bool:
    return unicodedata.category(character) == "Cc" or character in _DIRECTIONS


def json_line(record: Any, indent: int | None = None) -> str:
    """A record as JSON that standard output can write: in escapes only if it must be."""
    text = json.dumps(record, ensure_ascii=False, indent=indent)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(record, indent=indent)
    return text


def counted(count: int, what: str) -> str:
    """A number of things, as in ``1 text`` and ``1,200 texts``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def prepare_output() -> None:
    """Let standard output take everything: what it has no bytes for in escapes, and nothing if it is closed."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the life of the process
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


@contextmanager
def done_before_it_is_said() -> Iterator[None]:
    """Print the end of work that is done already: if nobody can take it, the work is done all the same."""
    with suppress(SystemExit), printed():
        yield


@contextmanager
def printed() -> Iterator[None]:
    """Print all of it, or end with a sentence and exit code 1; a reader that went away is told nothing."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None or error.errno not in _UNPRINTABLE:
            raise
        _print_no_more()
        if error.errno != errno.EPIPE:
            print(f"parquetry: the output cannot be written: {error.strerror}.", file=sys.stderr)
        raise SystemExit(1) from None


def _print_no_more() -> None:
    """Let what is left to print go nowhere; flushing it at the very end would fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
