"""The rows above a table's first row of values, as the one header that a table with pipes has."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_HEADERS = 5
"""More of them are no heads of columns."""


def one_header(rows: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """Titles that stand over all columns, and for each column its heads from above, each said once.

    >>> one_header([["Prices", "Prices"], ["Part", "Price"], ["Part", "net"]])
    (['Prices'], ['Part', 'Price net'])
    """
    inked = [row for row in rows if any(cell.strip() for cell in row)]
    titles = []
    while len(inked) > 1 and len(inked[0]) > 1 and len(set(inked[0])) == 1:
        titles.append(inked.pop(0)[0])
    columns = zip_longest(*inked, fillvalue="")
    return titles, [" ".join(dict.fromkeys(filter(None, map(str.strip, column)))) for column in columns]
