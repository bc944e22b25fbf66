"""What loaders of SQL databases share: quoting, and the table in which they keep what their collections hold."""

from __future__ import annotations

STATE = "parquetry_state"
"""The table of sync states: collection, state."""


def quoted(name: str) -> str:
    """A name as it is, in double quotes: for table and column names of any characters but NUL."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text as an SQL literal, where no parameter can stand."""
    return "'" + value.replace("'", "''") + "'"
