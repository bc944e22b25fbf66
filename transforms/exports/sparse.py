"""The sparse vector of a row on its way into a store: what every store asks of it, and the forms that several share.

In the table it is two columns. Most stores take it as one thing, under a name of its own; where the text of a row has
no terms, or a row has no sparse vector, that thing is left out. All stores compare by the inner product, so that a
question's weights carry the inverse document frequency and the rows do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.exports.json_text import json_column, relisted, text_lists, without_empty_lists
from transforms.exports.rules import Rule
from transforms.sparse.columns import INDICES, VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

LARGEST_INDEX = 2**32 - 1
_SMALLEST = float(np.finfo(np.float32).tiny)
"""Lucene refuses what is smaller, and no term weighs so little."""


@dataclass(frozen=True, slots=True)
class Sparse:
    """How a store takes sparse vectors."""

    most: int | None = None
    """Numbers of one; None: no limit is published."""
    largest: int = LARGEST_INDEX
    """The highest index."""
    columns: bool = False
    """Whether it stays what it is in the table: two columns of lists."""
    note: str = ""
    """What a person has to know to load or to search it, as sentences."""


COLUMNS_OF_LISTS = Sparse(
    columns=True,
    note="They are the columns `sparse_indices` and `sparse_values`, in the same order.",
)
"""For stores of SQL and files."""


def sparse_rules(form: Sparse) -> tuple[Rule, ...]:
    """What stores ask of a sparse vector; rows that have none break nothing."""
    too_long = (
        ()
        if form.most is None
        else (
            Rule(
                "sparse_too_long",
                f"a sparse vector has at most {form.most:,} numbers",
                lambda batch: pc.greater(pc.list_value_length(batch[INDICES]), form.most),
            ),
        )
    )
    return (
        Rule("sparse_uneven", "a sparse vector has as many values as indices", _uneven),
        Rule("sparse_order", "the indices of a sparse vector ascend, none of them twice", _unordered),
        Rule(
            "sparse_index",
            f"the indices of a sparse vector are at most {form.largest:,}",
            lambda batch: _any_of(batch[INDICES], _numbers(batch[INDICES]) > form.largest),
        ),
        Rule("sparse_value", "the values of a sparse vector are finite and above zero", _not_positive),
        *too_long,
    )


def json_lists(batch: pa.RecordBatch, indices: str, values: str) -> pa.Array:
    """Objects of two lists as JSON text; null where there is nothing."""
    return pc.binary_join_element_wise(
        f'{{"{indices}":',
        json_column(without_empty_lists(batch[INDICES])),
        f',"{values}":',
        json_column(without_empty_lists(batch[VALUES])),
        "}",
        "",
    )


def json_map(batch: pa.RecordBatch) -> pa.Array:
    """Objects from index to value as JSON text; null where there is nothing."""
    indices = without_empty_lists(batch[INDICES])
    pairs = pc.binary_join_element_wise(
        '"', json_column(indices.flatten()), '":', json_column(batch[VALUES].flatten()), ""
    )
    return pc.binary_join_element_wise("{", text_lists(relisted(indices, pairs), ","), "}", "")


def sparse_faults(indices: object, values: object, form: Sparse) -> Iterator[tuple[str, str]]:
    """What breaks the rules above in a sparse vector that was read from a file, as rule and detail."""
    if not isinstance(indices, list) or not isinstance(values, list):
        yield "sparse", "the sparse vector is no list of indices and list of values"
        return
    if not indices or len(indices) != len(values):
        yield "sparse", f"the sparse vector has {len(indices):,} indices and {len(values):,} values"
        return
    if not all(type(index) is int and 0 <= index <= form.largest for index in indices):
        yield "sparse", f"an index of the sparse vector is no whole number from 0 to {form.largest:,}"
    elif any(one >= other for one, other in pairwise(indices)):
        yield "sparse", "the indices of the sparse vector do not ascend"
    if not all(type(value) in (int, float) and 0 < value < np.inf for value in values):
        yield "sparse", "a value of the sparse vector is not finite and above zero"
    if form.most is not None and len(indices) > form.most:
        yield "sparse", f"the sparse vector has {len(indices):,} numbers, more than {form.most:,}"


def map_faults(found: object, form: Sparse) -> Iterator[tuple[str, str]]:
    """The same of an object from index to value."""
    if not isinstance(found, dict) or not all(index.isdecimal() for index in found):
        yield "sparse", "the sparse vector is no object from indices to values"
        return
    yield from sparse_faults([int(index) for index in found], list(found.values()), form)


def column_faults(row: Mapping[str, object], form: Sparse = COLUMNS_OF_LISTS) -> Iterator[tuple[str, str]]:
    """The same of a row that has it in two columns; both are null or empty where there is nothing."""
    indices, values = row.get(INDICES), row.get(VALUES)
    if indices or values:
        yield from sparse_faults(indices, values, form)


def signed(field: pa.Field) -> pa.Field:
    """A column for readers that know no numbers without a sign: those of 32 bits are of a wider type there."""
    kind = field.type
    if pa.types.is_list(kind) and kind.value_type == pa.uint32():
        kind = pa.list_(kind.value_field.with_type(pa.int64()))
    return pa.field(field.name, kind, field.nullable)


def sparse_types(schema: pa.Schema | None) -> dict[str, pa.DataType]:
    """The types that the two columns have to have, where a file has one of them."""
    types = {INDICES: pa.list_(pa.uint32()), VALUES: pa.list_(pa.float32())}
    return types if schema is not None and set(types) & set(schema.names) else {}


def _uneven(batch: pa.RecordBatch) -> pa.Array:
    lengths = (pc.fill_null(pc.list_value_length(batch[name]), -1) for name in (INDICES, VALUES))
    return pc.not_equal(*lengths)


def _unordered(batch: pa.RecordBatch) -> NDArray[np.bool_]:
    numbers, rows = _numbers(batch[INDICES]), pc.list_parent_indices(batch[INDICES]).to_numpy()
    behind = np.zeros(len(numbers), bool)
    behind[1:] = (rows[1:] == rows[:-1]) & (numbers[1:] <= numbers[:-1])
    return _any_of(batch[INDICES], behind)


def _not_positive(batch: pa.RecordBatch) -> NDArray[np.bool_]:
    numbers = _numbers(batch[VALUES])
    return _any_of(batch[VALUES], ~(np.isfinite(numbers) & (numbers >= _SMALLEST)))


def _numbers(lists: pa.Array) -> NDArray[Any]:
    numbers: NDArray[Any] = lists.flatten().to_numpy(zero_copy_only=False)
    return numbers


def _any_of(lists: pa.Array, hits: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have a hit among their numbers."""
    found = np.zeros(len(lists), bool)
    found[pc.list_parent_indices(lists).to_numpy()[hits]] = True
    return found
