"""Columns as JSON text, and text cut into files."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.stores.exports.reading import numbers
from transforms.exports.encoding import lines
from transforms.exports.files import Cap, Frame, ParquetOutput, TextOutput
from transforms.exports.json_text import enclosed, json_column, json_objects
from transforms.storage.local import LocalStore

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def read(texts):
    return [None if text is None else json.loads(text) for text in texts.to_pylist()]


@given(st.lists(st.none() | st.text()))
def test_json_gives_each_text_back(values):
    assert read(json_column(pa.array(values, pa.string()))) == values


@given(st.lists(st.none() | st.lists(st.text())))
def test_json_gives_each_list_back(values):
    assert read(json_column(pa.array(values, pa.list_(pa.string())))) == values


@example([[16_777_218.0]], 0)
@given(st.lists(st.lists(FLOATS)), st.integers(0, 3))
def test_json_gives_each_number_back_as_a_float_of_32_bits(values, skipped):
    vectors = pa.array(values, pa.list_(pa.float32())).slice(skipped)
    assert [numbers(each) for each in read(json_column(vectors))] == vectors.to_pylist()


def test_an_object_has_no_member_for_null():
    columns = {"a": pa.array(["1", None, None]), 'b"': pa.array(["[]", "2", None])}
    assert json_objects(columns).to_pylist() == ['{"a":1,"b\\"":[]}', '{"b\\"":2}', "{}"]


def test_items_that_are_all_null_leave_what_encloses_them():
    nothing = pa.array([None, None], pa.string())
    assert enclosed("[", [nothing, nothing], "]").to_pylist() == ["[]", "[]"]


def parts(tmp_path, sizes, cap, frame, batch=7):
    """The files of texts of these lengths."""
    texts = [chr(97 + number % 26) * size for number, size in enumerate(sizes)]
    output = TextOutput("{:03}.txt", lambda batch: batch, cap, frame)
    writer = output.open(LocalStore(str(tmp_path)))
    for first in range(0, len(texts), batch):
        writer.add(lines(pa.array(texts[first : first + batch])))
    return texts, writer.close()


@given(
    st.lists(st.integers(0, 10), max_size=40),
    st.integers(1, 9),
    st.integers(20, 60),
    st.sampled_from([Frame(), Frame(b"[", b", ", b"]"), Frame(b"{", b"", b"}")]),
)
def test_files_hold_every_row_once_in_order_and_no_more_than_they_may(
    tmp_path_factory, sizes, rows, size, frame
):
    folder = tmp_path_factory.mktemp("parts")
    texts, files = parts(folder, sizes, Cap(rows, size), frame)
    data = [(folder / file.path).read_bytes() for file in files]
    assert all(len(each) == file.bytes <= size for each, file in zip(data, files, strict=True))
    assert all(1 <= file.rows <= rows for file in files)
    assert sum(file.rows for file in files) == len(texts)
    inside = [each[len(frame.head) : len(each) - len(frame.tail)] for each in data]
    first = 0
    for text, file in zip(inside, files, strict=True):
        assert text.decode() == frame.between.decode().join(texts[first : first + file.rows])
        first += file.rows


def test_a_file_is_as_full_as_it_may_be(tmp_path):
    _, files = parts(tmp_path, [3] * 9, Cap(100, 12), Frame(b"[", b",", b"]"))
    # "[aaa,bbb]" has 9 bytes, and one more row would make 13.
    assert [(file.path, file.rows, file.bytes) for file in files] == [
        ("001.txt", 2, 9), ("002.txt", 2, 9), ("003.txt", 2, 9), ("004.txt", 2, 9), ("005.txt", 1, 5),
    ]  # fmt: skip


@pytest.mark.parametrize(("rows", "counts"), [(4, [4, 4, 2]), (10, [10]), (3, [3, 3, 3, 1])])
def test_parquet_files_are_cut_by_rows(rows, counts, tmp_path):
    writer = ParquetOutput("{:03}.parquet", lambda batch: batch, Cap(rows, 2**30)).open(
        LocalStore(str(tmp_path))
    )
    for first in (0, 5):
        writer.add(pa.RecordBatch.from_pydict({"number": list(range(first, first + 5))}))
    assert [file.rows for file in writer.close()] == counts


def test_parquet_files_are_cut_when_they_hold_enough(tmp_path):
    writer = ParquetOutput("{:03}.parquet", lambda batch: batch, Cap(1000, 800)).open(
        LocalStore(str(tmp_path))
    )
    for _ in range(3):
        writer.add(pa.RecordBatch.from_pydict({"number": np.arange(50)}))
    assert [file.rows for file in writer.close()] == [100, 50]
