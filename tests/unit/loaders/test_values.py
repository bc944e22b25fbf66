"""Columns as clients take them."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from transforms.loaders.protocol import Field
from transforms.loaders.values import columns_of, ids_of, pieces, plain, vectors_of


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


def test_slices_have_their_own_vectors_and_ids():
    vectors = pa.array(np.arange(12, dtype=np.float32).reshape(6, 2).tolist(), pa.list_(pa.float32(), 2))
    batch = pa.RecordBatch.from_arrays([pa.array(list("abcdef")), vectors], names=["id", "v"])
    found = [(ids_of(piece), vectors_of(piece).tolist()) for piece in pieces(batch, 4)]
    assert found == [
        (["a", "b", "c", "d"], [[0, 1], [2, 3], [4, 5], [6, 7]]),
        (["e", "f"], [[8, 9], [10, 11]]),
    ]
