"""The nearest rows of record batches, and how they are shown."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.commands.search import printable, shortened
from pipeline.search import Query, best
from transforms.model.errors import TableError
from transforms.retrieval.question import NO_TERMS, Terms
from transforms.table.schema import CHUNKS

VECTORS = pa.list_(pa.field("element", pa.float32(), nullable=False))


def batch_of(*rows: tuple[str, list[float] | None], model: str = "m@1", **more) -> pa.RecordBatch:
    count = len(rows)
    columns = {
        "chunk_id": [name for name, _ in rows],
        "source_name": ["docs"] * count,
        "doc_id": ["a.md"] * count,
        "doc_uri": ["/docs/a.md"] * count,
        "page_start": [None] * count,
        "section_path": [[]] * count,
        "text": [f"text of {name}" for name, _ in rows],
        "embedding": [vector for _, vector in rows],
        "embed_model": [None if vector is None else model for _, vector in rows],
    } | more
    schema = pa.schema([CHUNKS.field(name) for name in columns])
    return pa.RecordBatch.from_pydict(columns, schema=schema)


def nearest(batches, vector, model, top):
    return best(batches, Query("dense", vector, model, NO_TERMS), top)


def found(batches, vector, top=5, model="m@1"):
    return [(hit.chunk_id, round(hit.score, 3)) for hit in nearest(batches, np.float32(vector), model, top)]


def test_the_nearest_come_first_with_their_cosine_whatever_their_length():
    rows = batch_of(("far", [-1, 0]), ("near", [300, 400]), ("same", [0.5, 0]), ("across", [0, 2]))
    assert found([rows], [2, 0]) == [("same", 1.0), ("near", 0.6), ("across", 0.0), ("far", -1.0)]


def test_the_best_of_all_batches_are_kept():
    batches = [batch_of(("a", [1, 1]), ("b", [0, 1])), batch_of(("c", [1, 0]), ("d", [1, 2]))]
    assert found(batches, [1, 0], top=2) == [("c", 1.0), ("a", 0.707)]


def test_equal_scores_are_ordered_by_chunk_id_across_batches():
    batches = [batch_of(("d", [1, 0]), ("b", [2, 0])), batch_of(("c", [4, 0]), ("a", [0.1, 0]))]
    assert [name for name, _ in found(batches, [1, 0], top=3)] == ["a", "b", "c"]


def test_rows_without_a_vector_are_passed_over_and_shift_no_other():
    rows = batch_of(("a", None), ("b", [1, 0]), ("c", None), ("d", [0, 1]), ("e", None))
    assert found([rows], [0, 1]) == [("d", 1.0), ("b", 0.0)]


def test_a_slice_of_a_batch_gives_its_own_rows():
    rows = batch_of(("a", [1, 0]), ("b", None), ("c", [0, 1]), ("d", [1, 1])).slice(1, 2)
    assert found([rows], [0, 1]) == [("c", 1.0)]


def test_rows_of_another_model_are_passed_over_even_at_another_dimension():
    batches = [batch_of(("old", [1, 0, 0]), model="m@0"), batch_of(("new", [1, 0]))]
    assert found(batches, [1, 0]) == [("new", 1.0)]


def test_a_vector_of_zeros_is_no_vector():
    assert found([batch_of(("zero", [0, 0]), ("b", [1, 0]))], [1, 0]) == [("b", 1.0)]


def test_vectors_of_the_model_at_another_dimension_are_an_error():
    with pytest.raises(TableError, match="another length than the 2 of its model m@1"):
        found([batch_of(("a", [1, 0, 0]))], [1, 0])


def test_no_rows_are_no_hits():
    assert found([], [1, 0]) == found([batch_of()], [1, 0]) == found([batch_of(("a", None))], [1, 0]) == []


def test_a_hit_says_where_it_is():
    rows = batch_of(("a", [1, 0]), page_start=[7], section_path=[["Wheels", "Drilling"]])
    (hit,) = nearest([rows], np.float32([1, 0]), "m@1", 5)
    assert (hit.source_name, hit.doc_id, hit.doc_uri, hit.page, hit.section_path, hit.text) == (
        "docs", "a.md", "/docs/a.md", 7, ("Wheels", "Drilling"), "text of a",
    )  # fmt: skip


@given(st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), max_size=12), st.integers(1, 6))
def test_no_order_or_batching_of_the_rows_changes_the_answer(vectors, top):
    rows = [(f"{number:02}", vector) for number, vector in enumerate(vectors)]
    whole = nearest([batch_of(*rows)], np.float32([1, 2]), "m@1", top)
    single = nearest([batch_of(row) for row in reversed(rows)], np.float32([1, 2]), "m@1", top)
    assert whole == single
    scores = {name: np.dot(v, [1, 2]) / np.linalg.norm(v) / 5**0.5 for name, v in rows if any(v)}
    expected = sorted(scores.values(), reverse=True)[:top]
    assert np.allclose([hit.score for hit in whole], expected)


def test_text_is_shown_on_one_line_without_what_steers_a_terminal():
    hostile = "a\x1b[31mred\x07\n\n b\u202ec \u2066d so\u00adft 👩\u200d🔧 \u0915\u094d\u200d\u0937"
    assert printable(hostile) == "a [31mred bc d soft 👩\u200d🔧 \u0915\u094d\u200d\u0937"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("short\n text", "short text"),
        ("one two three fourteen", "one two three…"),
        ("x" * 30, "x" * 19 + "…"),
        ("電池は冬の間どう保管すればよいですか電池は冬", "電池は冬の間どう保管すればよいですか電…"),
    ],
)
def test_long_text_is_cut_at_a_space_where_one_is_near(text, line):
    assert shortened(text, 20) == line
    assert len(line) <= 20


BOLT, NUT, RARE = 3, 7, 2**32 - 2
TERMS = Terms(np.array([BOLT, NUT, RARE], np.uint32), np.float32([1, 2, 4]), ("bolt", "nut", "p-101"))


def with_terms(*rows: tuple[str, dict[int, float] | None, list[float] | None]) -> pa.RecordBatch:
    return batch_of(
        *((name, vector) for name, _, vector in rows),
        sparse_indices=[None if terms is None else sorted(terms) for _, terms, _ in rows],
        sparse_values=[
            None if terms is None else [terms[one] for one in sorted(terms)] for _, terms, _ in rows
        ],
    )


ROWS = (
    ("a", {BOLT: 1.5, 5: 9.0}, [1, 0]),
    ("b", {NUT: 1.0, RARE: 0.5}, None),
    ("c", {5: 1.0}, [0, 1]),
    ("d", None, [1, 1]),
    ("e", {}, [-1, 0]),
)


def test_by_terms_rows_are_ordered_by_the_sum_of_weights_and_others_are_not_found():
    hits = best([with_terms(*ROWS)], Query("sparse", None, "", TERMS), 5)
    assert [(hit.chunk_id, hit.score, hit.sparse_rank, hit.dense) for hit in hits] == [
        ("b", 4.0, 1, None), ("a", 1.5, 2, None),
    ]  # fmt: skip
    assert [(one.term, one.weight, one.score) for one in hits[0].matches] == [
        ("nut", 2.0, 2.0), ("p-101", 4.0, 2.0),
    ]  # fmt: skip


def test_by_both_a_row_counts_by_each_that_it_has():
    hits = best([with_terms(*ROWS)], Query("hybrid", np.float32([1, 0]), "m@1", TERMS), 5)
    assert [(hit.chunk_id, round(hit.score, 3), hit.dense_rank, hit.sparse_rank) for hit in hits] == [
        ("a", 0.75, 1, 2), ("d", 0.512, 2, None), ("b", 0.4, None, 1), ("c", 0.3, 3, None), ("e", 0.0, 4, None),
    ]  # fmt: skip


def test_by_both_a_question_that_the_model_does_not_know_is_answered_by_terms():
    hits = best([with_terms(*ROWS)], Query("hybrid", None, "m@1", TERMS), 5)
    assert [(hit.chunk_id, hit.score) for hit in hits] == [("b", 0.4), ("a", pytest.approx(0.15))]
