"""Bring an error of ours back out of Beam, which hands it on as the text of a traceback."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from transforms.model import errors

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHERE = re.compile(r" \[while running .*", re.DOTALL)
"""What Beam puts behind the message of an error."""
_OURS = re.compile(
    r"transforms\.model\.errors\.(\w+): (.*?)(?: \[while running|\n\n|\n\s*(?:Traceback|The above)|\Z)",
    re.DOTALL,
)


def shortened(message: str, limit: int = 400) -> str:
    """The first line of a message, as much as fits a sentence."""
    line = message.strip().partition("\n")[0]
    return line if len(line) <= limit else f"{line[:limit]}…"


def our_errors(error: BaseException) -> Iterator[errors.ParquetryError]:
    """The errors of ours in a chain of exceptions or in the text of one, the first cause first, in our words.

    One that came out as itself is the only one.
    """
    if isinstance(error, errors.ParquetryError):
        yield _plain(error)
        return
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    for one in reversed(chain):
        if isinstance(one, errors.ParquetryError):
            yield _plain(one)
        for name, message in _OURS.findall(str(one)):
            kind = getattr(errors, name, None)
            if isinstance(kind, type) and issubclass(kind, errors.ParquetryError):
                yield kind(message.strip())


def _plain(error: errors.ParquetryError) -> errors.ParquetryError:
    plain = _WHERE.sub("", str(error))
    # One that says nothing of Beam may be of a class that is made of more than a sentence.
    return error if plain == str(error) else type(error)(plain)
