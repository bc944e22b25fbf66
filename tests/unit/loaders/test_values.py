"""Columns as clients take them."""

import datetime

import numpy as np
import orjson
import pyarrow as pa
import pytest

from transforms.loaders.protocol import Field
from transforms.loaders.values import (
    columns_of,
    field_columns,
    ids_of,
    pieces,
    plain,
    sparse_of,
    sparse_rows,
    vectors_of,
)


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.date32(), [datetime.date(2026, 11, 30), None], ["2026-11-30", None]),
        (pa.binary(), [b"\x00\xff", None], ["AP8=", None]),
        (pa.list_(pa.string()), [["a", "b"], [], None], [["a", "b"], [], None]),
        (pa.int8(), [-3], [-3]),
    ],
)
def test_dates_are_iso_texts_and_bytes_are_base64(kind, values, expected):
    assert plain(pa.array(values, kind)) == expected


def test_metadata_is_an_object_whatever_the_column_is_called():
    texts = ['{"a": {"b": 1}}', "no JSON", "[1]", None]
    batch = pa.record_batch({"id": ["1"] * 4, "v": [[0.0]] * 4, "meta": texts})
    [found] = columns_of(batch, [Field("meta", "metadata", pa.string())])
    assert found == [{"a": {"b": 1}}, {"text": "no JSON"}, {"text": "[1]"}, None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"n": [9223372036854775807, -9223372036854775808]}', [2**63 - 1, -(2**63)]),
        (
            '{"n": [9223372036854775808, -9223372036854775809]}',
            ["9223372036854775808", "-9223372036854775809"],
        ),
        (
            '{"n": ["12345678901234567890123", 12345678901234567890123, 1.5]}',
            ["12345678901234567890123"] * 2 + [1.5],
        ),
    ],
)
def test_whole_numbers_of_more_than_64_bits_are_text_and_never_rounded(text, expected):
    batch = pa.record_batch({"id": ["1"], "v": [[0.0]], "meta": [text]})
    assert columns_of(batch, [Field("meta", "metadata", pa.string())]) == [[{"n": expected}]]


def test_metadata_nested_deeper_than_stores_go_is_its_json_from_there():
    text = '{"a":' + "[" * 400 + "1" + "]" * 400 + "}"
    batch = pa.record_batch({"id": ["1"], "v": [[0.0]], "meta": [text]})
    [[found]] = columns_of(batch, [Field("meta", "metadata", pa.string())])
    inner = found["a"]
    for _ in range(15):
        [inner] = inner
    assert inner == "[" * 385 + "1" + "]" * 385
    assert orjson.dumps(found)


def test_slices_have_their_own_vectors_and_ids():
    vectors = pa.array(np.arange(12, dtype=np.float32).reshape(6, 2).tolist(), pa.list_(pa.float32(), 2))
    batch = pa.RecordBatch.from_arrays([pa.array(list("abcdef")), vectors], names=["id", "v"])
    found = [(ids_of(piece), vectors_of(piece).tolist()) for piece in pieces(batch, 4)]
    assert found == [
        (["a", "b", "c", "d"], [[0, 1], [2, 3], [4, 5], [6, 7]]),
        (["e", "f"], [[8, 9], [10, 11]]),
    ]


def test_slices_have_their_own_sparse_vectors():
    indices = pa.array([[1, 4_000_000_000], [], [2], [3, 5, 7]], pa.list_(pa.uint32()))
    values = pa.array([[0.5, 1.0], [], [2.0], [3.0, 4.0, 5.0]], pa.list_(pa.float32()))
    batch = pa.record_batch(
        {
            "id": list("abcd"),
            "v": [[0.0]] * 4,
            "text": list("wxyz"),
            "s_indices": indices,
            "s_values": values,
        }
    )
    assert [array.tolist() for array in sparse_of(batch)] == [
        [0, 2, 2, 3, 6],
        [1, 4_000_000_000, 2, 3, 5, 7],
        [0.5, 1.0, 2.0, 3.0, 4.0, 5.0],
    ]
    rows = [(ids.tolist(), numbers.tolist()) for ids, numbers in sparse_rows(batch.slice(1, 2))]
    assert rows == [([], []), ([2], [2.0])]
    [texts] = field_columns(batch, [Field("text", "text", pa.string())])
    assert texts.to_pylist() == list("wxyz")
