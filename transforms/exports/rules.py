"""What a row must be for a store to take it: rules over whole batches, each with a reason that people filter by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

ID, VECTOR = "chunk_id", "embedding"


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that a store refuses."""

    reason: str
    """Slug; those of ids begin with ``id_``."""
    detail: str
    """What the store asks for, as a sentence for a person."""
    broken: Callable[[pa.RecordBatch], pa.Array | NDArray[np.bool_]]
    """Which rows break it; null is no breach."""


def first_broken(batch: pa.RecordBatch, rules: Sequence[Rule]) -> NDArray[np.int64]:
    """For each row the place of the first rule that it breaks, -1 where it breaks none."""
    place = np.full(batch.num_rows, -1)
    for number, rule in enumerate(rules):
        place[(place < 0) & _mask(rule.broken(batch))] = number
    return place


def vector_rules(dimension: int) -> tuple[Rule, ...]:
    """A vector is there, of the table's length, finite, and not zero throughout: cosine is not defined for that."""

    def numbers(batch: pa.RecordBatch) -> NDArray[np.float32]:
        """One row of numbers a row; NaN where there is no vector of the right length."""
        vectors = batch[VECTOR]
        fits = _mask(pc.equal(pc.list_value_length(vectors), dimension))
        table = np.full((batch.num_rows, dimension), np.nan, np.float32)
        held = vectors.filter(pa.array(fits)).flatten().to_numpy(zero_copy_only=False)
        table[fits] = held.reshape(-1, dimension)
        return table

    return (
        Rule("no_vector", "a vector is needed", lambda batch: batch[VECTOR].is_null()),
        Rule(
            "wrong_dimension",
            f"vectors have {dimension:,} numbers",
            lambda batch: pc.not_equal(pc.list_value_length(batch[VECTOR]), dimension),
        ),
        Rule(
            "not_finite",
            "vectors hold finite numbers only",
            lambda batch: ~np.isfinite(numbers(batch)).all(axis=1),
        ),
        Rule("zero_vector", "a vector is not zero throughout", lambda batch: ~numbers(batch).any(axis=1)),
    )


def id_bytes(most: int) -> Rule:
    """Ids of 1 to ``most`` bytes of UTF-8."""
    return Rule(
        "id_length",
        f"ids have 1 to {most:,} bytes of UTF-8",
        lambda batch: _outside(pc.binary_length(batch[ID]), most),
    )


def id_characters(most: int) -> Rule:
    """Ids of 1 to ``most`` code points."""
    return Rule(
        "id_length",
        f"ids have 1 to {most:,} characters",
        lambda batch: _outside(pc.utf8_length(batch[ID]), most),
    )


def id_pattern(pattern: str, meaning: str) -> Rule:
    """Ids that a regular expression matches whole; RE2 counts to 1,000 at most."""
    return Rule(
        "id_characters",
        f"ids hold {meaning}",
        lambda batch: pc.invert(pc.match_substring_regex(batch[ID], f"^(?:{pattern})$")),
    )


def id_without_nul() -> Rule:
    """Ids without NUL."""
    return without([ID], "\\x00", "id_characters", "ids hold no NUL character")


def without(columns: Iterable[str], pattern: str, reason: str, detail: str) -> Rule:
    """Texts of these columns, lists of texts among them, in which a regular expression finds nothing."""
    names = tuple(columns)

    def broken(batch: pa.RecordBatch) -> NDArray[np.bool_]:
        found = np.zeros(batch.num_rows, bool)
        for name in names:
            found |= _holds(batch[name], pattern)
        return found

    return Rule(reason, detail, broken)


def no_nul(columns: Iterable[str]) -> Rule:
    """No NUL in any text."""
    return without(columns, "\\x00", "nul_character", "texts hold no NUL character")


def column_bytes(columns: Iterable[str], most: int) -> Rule:
    """Texts of these columns of at most ``most`` bytes of UTF-8; of lists each."""
    names = tuple(columns)

    def broken(batch: pa.RecordBatch) -> NDArray[np.bool_]:
        found = np.zeros(batch.num_rows, bool)
        for name in names:
            found |= _any_of(batch[name], lambda texts: pc.greater(pc.binary_length(texts), most))
        return found

    return Rule("text_too_long", f"a text has at most {most:,} bytes", broken)


def encoded_bytes(column: str, most: int, reason: str, what: str) -> Rule:
    """A column of what is written of at most ``most`` bytes."""
    return Rule(
        reason,
        f"{what} at most {most:,} bytes",
        lambda batch: pc.greater(pc.binary_length(batch[column]), most),
    )


def texts(fields: Iterable[pa.Field]) -> tuple[str, ...]:
    """The names of the fields that hold texts or lists of texts."""
    return tuple(field.name for field in fields if _is_text(field.type))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind.value_type if pa.types.is_list(kind) else kind))


def _outside(lengths: pa.Array, most: int) -> pa.Array:
    return pc.or_(pc.less(lengths, 1), pc.greater(lengths, most))


def _holds(column: pa.Array, pattern: str) -> NDArray[np.bool_]:
    return _any_of(column, lambda texts: pc.match_substring_regex(texts, pattern))


def _any_of(column: pa.Array, test: Callable[[pa.Array], pa.Array]) -> NDArray[np.bool_]:
    """Whether the test holds for the text, or for any of a list."""
    if not pa.types.is_list(column.type):
        return _mask(test(column))
    found = np.zeros(len(column), bool)
    hits = _mask(test(column.flatten()))
    found[pc.list_parent_indices(column).to_numpy()[hits]] = True
    return found


def _mask(values: pa.Array | NDArray[np.bool_]) -> NDArray[np.bool_]:
    if isinstance(values, np.ndarray):
        return values
    mask: NDArray[np.bool_] = pc.fill_null(values, fill_value=False).to_numpy(zero_copy_only=False)
    return mask
