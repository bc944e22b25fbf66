"""Conditions that rows must meet to be loaded: ``doc_type=manual|guide``, ``chunk_index<10``, ``revision!=``.

A column, an operator (``= != < <= > >=``) and a value; several conditions must all hold. ``|`` divides values
of which one is enough (with ``=``) or none may be (with ``!=``); nothing means null. A list column meets ``=`` if
it holds one of the values, and ``!=`` if none. Numbers, dates (2026-11-30) and texts are compared as such; null
meets ``!=`` alone, and ``=`` with nothing.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.model.errors import ConfigError
from transforms.table.schema import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CONDITION = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(!=|<=|>=|=|<|>)(.*)", re.DOTALL)
_ORDERED: dict[str, Callable[[pa.Array, pa.Scalar], pa.Array]] = {
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, checked against the table's columns."""

    column: str
    operator: str
    values: tuple[str | int | float | datetime.date, ...]
    null: bool
    """Whether null is among the values."""

    def mask(self, array: pa.Array) -> pa.Array:
        """Which rows of its column meet it: booleans without null."""
        kind = array.type
        if self.operator in _ORDERED:
            met = _ORDERED[self.operator](array, pa.scalar(self.values[0], kind))
            return pc.fill_null(met, fill_value=False)
        among = self._holds(array) if pa.types.is_list(kind) else self._equals(array)
        return among if self.operator == "=" else pc.invert(among)

    def _equals(self, array: pa.Array) -> pa.Array:
        among = pc.is_in(array, value_set=pa.array(self.values, array.type))
        return pc.or_(among, array.is_null()) if self.null else among

    def _holds(self, array: pa.Array) -> pa.Array:
        found = pc.is_in(array.flatten(), value_set=pa.array(self.values, array.type.value_type))
        rows = pc.list_parent_indices(array).filter(found)
        among = pc.is_in(pa.array(range(len(array)), rows.type), value_set=rows)
        empty = pc.fill_null(pc.equal(pc.list_value_length(array), 0), fill_value=True)
        return pc.or_(among, empty) if self.null else among


def parse_conditions(written: Sequence[str]) -> tuple[Condition, ...]:
    """The conditions as people write them.

    Raises:
        ConfigError: one is none, its column is not in the table, or its value is not of the column's type.
    """
    return tuple(_condition(text) for text in written)


def _condition(text: str) -> Condition:
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise ConfigError(f"{text!r} is no condition; write COLUMN=VALUE, with one of = != < <= > >=.")
    column, operator, rest = found[1], found[2], found[3].strip()
    if column not in CHUNKS.names or column == "embedding":
        raise ConfigError(f"{text!r}: the chunk table has no column {column} to filter by.")
    kind = CHUNKS.field(column).type
    kind = kind.value_type if pa.types.is_list(kind) else kind
    parts = [part.strip() for part in rest.split("|")]
    if operator in _ORDERED and (len(parts) > 1 or not rest or pa.types.is_list(CHUNKS.field(column).type)):
        raise ConfigError(f"{text!r}: {operator} compares a column of single values with one value.")
    values = tuple(_value(part, kind, text) for part in parts if part)
    return Condition(column, operator, values, null="" in parts)


def _value(part: str, kind: pa.DataType, text: str) -> str | int | float | datetime.date:
    try:
        if pa.types.is_integer(kind):
            return int(pa.scalar(int(part), kind).as_py())
        if pa.types.is_floating(kind):
            return float(part)
        if pa.types.is_date(kind):
            return datetime.date.fromisoformat(part)
    except (ValueError, OverflowError, pa.ArrowException):
        raise ConfigError(f"{text!r}: {part!r} is no {kind}, which the column holds.") from None
    if not pa.types.is_string(kind):
        raise ConfigError(f"{text!r}: a column of {kind} cannot be filtered by.")
    return part
