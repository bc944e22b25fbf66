"""From a source's columns to its plan."""

import pyarrow as pa
import pytest

from transforms.planning.diff import LISTING
from transforms.planning.source import each_once


def listing(*rows: tuple[str, str, int | None]) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {"object_name": name, "size": 1, "token": token, "checksum": "", "modified": modified}
            for name, token, modified in rows
        ],
        schema=LISTING,
    )


@pytest.mark.parametrize(
    ("rows", "tokens"),
    [
        ([], []),
        ([("b", "1", None), ("a", "1", 5)], ["1", "1"]),
        ([("a", "1", None), ("b", "2", None), ("a", "1", None)], ["2", "1"]),
        ([("a", "new", 7), ("b", "b", 7), ("a", "old", 5), ("a", "untold", None)], ["new", "b"]),
        ([("a", "first", 5), ("a", "last", 5)], ["last"]),
    ],
)
def test_an_object_that_is_told_twice_counts_once_as_it_was_written_last(rows, tokens):
    assert each_once(listing(*rows))["token"].to_pylist() == tokens
