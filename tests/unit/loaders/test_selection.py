"""Rows as loaders are given them."""

import dataclasses

import pyarrow as pa

from transforms.loaders.protocol import Field, Target
from transforms.loaders.selection import Selection, columns_read, split

WITHOUT = Target("c", "id", "v", (Field("body", "text", pa.string()),), 2, "cosine", "m@1")
WITH = dataclasses.replace(WITHOUT, sparse="words", encoder="bm25@1")
ALL = Selection((), (), "m@1")


def table(indices, values):
    count = len(indices)
    return pa.record_batch(
        {
            "chunk_id": [f"c{n}" for n in range(count)],
            "embedding": pa.array([[1, 0]] * count, pa.list_(pa.float32())),
            "text": ["t"] * count,
            "sparse_indices": pa.array(indices, pa.list_(pa.uint32())),
            "sparse_values": pa.array(values, pa.list_(pa.float32())),
            "embed_model": ["m@1"] * (count - 1) + ["m@2"],
        }
    )


def test_the_sparse_vector_is_two_lists_at_the_end():
    rows, left = split(table([[1, 2], [3], [4]], [[0.5, 1], [2], [3]]), WITH, ALL)
    assert rows.schema.names == ["id", "v", "body", "words_indices", "words_values"]
    assert rows["words_indices"].to_pylist() == [[1, 2], [3]]
    assert rows["words_values"].to_pylist() == [[0.5, 1], [2]]
    assert left.to_pylist() == ["c2"]
    assert "sparse_indices" in columns_read(WITH, ALL)


def test_a_row_without_one_has_an_empty_one():
    rows, _ = split(table([[1, 2], None, [3], None, []], [[0.5, 1], None, [2], None, []]), WITH, ALL)
    assert rows["words_indices"].to_pylist() == [[1, 2], [], [3], []]
    assert rows["words_values"].to_pylist() == [[0.5, 1], [], [2], []]
    assert not rows["words_indices"].null_count


def test_without_a_name_in_the_store_it_is_not_read():
    rows, _ = split(table([[1], [2]], [[1], [2]]), WITHOUT, ALL)
    assert rows.schema.names == ["id", "v", "body"]
    assert columns_read(WITHOUT, ALL) == ["chunk_id", "embedding", "text", "embed_model"]


def test_the_shape_changes_with_the_sparse_vector_and_the_index_of_words_and_not_with_the_encoder():
    shapes = {
        WITHOUT.shape,
        WITH.shape,
        dataclasses.replace(WITH, sparse="other").shape,
        dataclasses.replace(WITHOUT, full_text="body").shape,
    }
    assert len(shapes) == 4
    assert dataclasses.replace(WITH, encoder="bm25@2").shape == WITH.shape
