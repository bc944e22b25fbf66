"""Which rows a store would refuse are told before anything is written."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from transforms.loaders.checks import check_rows
from transforms.loaders.protocol import Field, Limits, Target
from transforms.model.errors import GuardError

UUID = "0e3f1c2a-1111-8222-9333-0123456789ab"
TARGET = Target(
    "c", "id", "v", (Field("text", "text", pa.string()), Field("path", "section_path", pa.list_(pa.string()))), 2,
    "cosine", "m@1",
)  # fmt: skip


def rows(ids=(UUID,), vectors=((1.0, 0.0),), texts=("t",), paths=((),)):
    count = max(map(len, (ids, vectors, texts, paths)))

    def filled(values):
        return list(values) * (count if len(values) == 1 else 1)

    columns = [filled(ids), filled(vectors), filled(texts), [list(path) for path in filled(paths)]]
    arrays = [pa.array(values, kind) for values, kind in zip(columns, TARGET.schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=TARGET.schema)


def check(batch, **limits):
    check_rows(batch, TARGET, Limits(**limits), "Store")


def test_rows_that_fit_pass():
    check(rows(), uuids_only=True, id_bytes=36, nul=False, text_bytes=1)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused_with_the_chunk_that_has_them(number):
    with pytest.raises(GuardError, match=r"of chunk b, as of 1 more, `v` holds a number that is none"):
        check(rows(ids=["a", "b", "c"], vectors=[(1, 0), (number, 1), (0, number)]))


def test_large_numbers_are_numbers():
    check(rows(vectors=[(3e38, -3e38)]))


def test_a_character_nul_is_refused_where_the_store_does_not_take_it():
    check(rows(texts=["a\0b"]))
    with pytest.raises(
        GuardError, match=r"of chunk b, `text` holds the character NUL, which Store does not take"
    ):
        check(rows(ids=["a", "b"], texts=["x", "a\0b"]), nul=False)


def test_a_character_nul_in_a_list_is_refused():
    with pytest.raises(GuardError, match=r"of chunk b, `path` holds the character NUL"):
        check(rows(ids=["a", "b"], paths=[["x"], ["y", "\0"]]), nul=False)


def test_a_character_nul_in_other_rows_of_the_same_memory_is_no_fault():
    check(rows(ids=["a", "b"], texts=["\0", "x"]).slice(1), nul=False)


def test_an_id_that_is_no_uuid_is_refused_where_the_store_asks_for_one():
    check(rows(ids=["a"]))
    with pytest.raises(
        GuardError, match="of chunk a, the id is no UUID in small letters, which Store asks for"
    ):
        check(rows(ids=["a"]), uuids_only=True)
    check(rows(), uuids_only=True)


def test_a_uuid_in_capitals_is_refused_there_because_it_would_come_back_as_another_id():
    with pytest.raises(GuardError, match="the id is no UUID"):
        check(rows(ids=[UUID.upper()]), uuids_only=True)


def test_length_is_counted_in_bytes():
    check(rows(ids=["äö"], texts=["äö"]), id_bytes=4, text_bytes=4)
    with pytest.raises(GuardError, match="the id is longer than the 3 bytes"):
        check(rows(ids=["äö"]), id_bytes=3)
    with pytest.raises(GuardError, match="`text` is longer than the 3 bytes that Store takes"):
        check(rows(texts=["äö"]), text_bytes=3)


NO_WEIGHT = "`words` holds a value that is not above zero, or infinite"


def sparse(indices, values, **limits):
    target = dataclasses.replace(TARGET, fields=(), sparse="words")
    columns = [[f"c{n}" for n in range(len(indices))], [(1.0, 0.0)] * len(indices), indices, values]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, target.schema.types, strict=True)]
    batch = pa.RecordBatch.from_arrays(arrays, schema=target.schema)
    check_rows(batch, target, Limits(**limits), "Store")


def test_sparse_vectors_that_ascend_pass_whatever_the_rows_before_them_have():
    sparse([[7, 4_000_000_000], [], [1, 2], [2]], [[1, 2], [], [3, 4], [5]], sparse_entries=2)
    sparse([[], []], [[], []])
    sparse([], [])


@pytest.mark.parametrize(
    ("indices", "values", "fault"),
    [
        ([[9], [1, 2], [1]], [[1], [1], [1]], "of chunk c1, `words` has not as many values as terms"),
        (
            [[9], [], [1, 3, 2], [2, 2]],
            [[1], [], [1, 1, 1], [1, 1]],
            "c2, as of 1 more, the terms of `words` do not",
        ),
        *(
            (
                [[], [9], [2, 3], [4]],
                [[], [1], [1, value], [value]],
                f"of chunk c2, as of 1 more, {NO_WEIGHT}",
            )
            for value in (np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0)
        ),
        (
            [[1], [2, 3, 4, 5]],
            [[1], [1, 1, 1, 1]],
            "of chunk c1, `words` has more than the 3 terms that Store takes",
        ),
    ],
)
def test_sparse_vectors_that_are_none_are_refused_with_the_chunk_that_has_them(indices, values, fault):
    with pytest.raises(GuardError, match=fault):
        sparse(indices, values, sparse_entries=3)
