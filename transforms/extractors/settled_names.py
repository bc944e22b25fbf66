"""The names of records of an object that is read in ranges, where some share one.

That a record is the second of its name may depend on the ranges before its own. So the names that do are found
out for all ranges together, and told to each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.extractors.record_names import RecordNames

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LIKE_A_SECOND = r" \(\d+\)$"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the records of one range would like to be called, in order, and their numbers."""

    names: pa.Array
    numbers: NDArray[np.int64]


def numbered(before: int, count: int) -> Wishes:
    """Records that are called by their numbers."""
    numbers = np.arange(before + 1, before + count + 1)
    return Wishes(pa.array(numbers).cast(pa.string()), numbers)


def settle(ranges: Sequence[Wishes]) -> tuple[list[pa.Array], list[dict[int, str]]]:
    """For each range what its records are called, and the names by number that it cannot know by itself."""
    names = [one.names for one in ranges]
    told: list[dict[int, str]] = [{} for _ in ranges]
    together = pa.chunked_array(names, pa.string())
    counts = pc.value_counts(together)
    shared = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    if not len(shared):
        return names, told
    in_all = RecordNames()
    for place, one in enumerate(ranges):
        # All other names are taken by one record only, and by no second one of another name.
        is_in_doubt = pc.or_(
            pc.is_in(one.names, value_set=shared), pc.match_substring_regex(one.names, _LIKE_A_SECOND)
        )
        places = np.flatnonzero(is_in_doubt.to_numpy(zero_copy_only=False))
        names[place], told[place] = _settled(one, places, in_all)
    return names, told


def _settled(
    one: Wishes, places: NDArray[np.int64], in_all: RecordNames
) -> tuple[pa.Array, dict[int, str]]:
    told: dict[int, str] = {}
    alone = RecordNames(told)
    settled = {}
    for place in places.tolist():
        number, name = int(one.numbers[place]), one.names[place].as_py()
        own = in_all.take(number, name)
        if alone.free(name) != own:
            told[number] = own
        alone.take(number, name)
        settled[place] = own
    if not settled:
        return one.names, told
    names = one.names.to_pylist()
    for place, own in settled.items():
        names[place] = own
    return pa.array(names, pa.string()), told
