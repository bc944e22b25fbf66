"""Conditions that rows of the chunk table must meet: ``doc_type=manual|guide``, ``chunk_index<10``, ``revision!=``.

A column, an operator (``= != < <= > >=``) and a value; several conditions must all hold. ``|`` divides values
of which one is enough (with ``=``) or none may be (with ``!=``); nothing means null. A list column meets ``=`` if
it holds one of the values, and ``!=`` if none. Numbers, dates (2026-11-30) and texts are compared as such; null
meets ``!=`` alone, and ``=`` with nothing.

``metadata.KEY`` is what a document's own metadata says under a key. It is compared as text, with ``< <= > >=`` as
numbers where both are; a key with a list meets ``=`` if one of its values does.
"""

from __future__ import annotations

import datetime
import json
import operator as op
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.model.errors import ConfigError
from transforms.table.schema import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CONDITION = re.compile(
    r"\s*([A-Za-z_][A-Za-z0-9_]*(?:\.[^=!<>]*[^=!<>\s])?)\s*(!=|<=|>=|=|<|>)(.*)", re.DOTALL
)
_OF_METADATA = "metadata."
_ORDERED: dict[str, Callable[[pa.Array, pa.Scalar], pa.Array]] = {
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_COMPARED = {"<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge}


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


@dataclass(frozen=True, slots=True)
class MetadataCondition(Condition):
    """One condition on a key of the documents' own metadata."""

    key: str

    def mask(self, array: pa.Array) -> pa.Array:
        # All chunks of a document have the same metadata: each is read once a batch.
        encoded = pc.dictionary_encode(array)
        met = [self._meets(json.loads(text).get(self.key)) for text in encoded.dictionary.to_pylist()]
        return pa.array(met, pa.bool_()).take(encoded.indices)

    def _meets(self, value: object) -> bool:
        said = [_said(one) for one in (value if isinstance(value, list) else [value]) if one is not None]
        if self.operator in _ORDERED:
            return any(_in_order(one, self.operator, str(self.values[0])) for one in said)
        among = any(one in self.values for one in said) or (self.null and not said)
        return among == (self.operator == "=")


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
    if column.startswith(_OF_METADATA):
        return _metadata_condition(column.removeprefix(_OF_METADATA), operator, rest, text)
    if column not in CHUNKS.names or column == "embedding":
        raise ConfigError(f"{text!r}: the chunk table has no column {column} to filter by.")
    kind = CHUNKS.field(column).type
    kind = kind.value_type if pa.types.is_list(kind) else kind
    parts = [part.strip() for part in rest.split("|")]
    if operator in _ORDERED and (len(parts) > 1 or not rest or pa.types.is_list(CHUNKS.field(column).type)):
        raise ConfigError(f"{text!r}: {operator} compares a column of single values with one value.")
    values = tuple(_value(part, kind, text) for part in parts if part)
    return Condition(column, operator, values, null="" in parts)


def _metadata_condition(key: str, operator: str, rest: str, text: str) -> MetadataCondition:
    parts = [part.strip() for part in rest.split("|")]
    if operator in _ORDERED and (len(parts) > 1 or not rest):
        raise ConfigError(f"{text!r}: {operator} compares with one value.")
    values = tuple(part for part in parts if part)
    return MetadataCondition("metadata", operator, values, null="" in parts, key=key)


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _in_order(one: str, operator: str, other: str) -> bool:
    compare = _COMPARED[operator]
    try:
        return bool(compare(float(one), float(other)))
    except ValueError:
        return bool(compare(one, other))


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
