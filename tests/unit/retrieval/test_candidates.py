"""The best rows by two scores, whatever the order in which they come."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.model.fusion import Fusion
from transforms.retrieval.candidates import Candidates

NAN = float("nan")


def ranking(rows, by="hybrid", most=200, fusion=Fusion(), size=3):  # noqa: B008 - frozen
    candidates = Candidates(most)
    for first in range(0, len(rows), size):
        names, dense, sparse = zip(*rows[first : first + size], strict=True)
        candidates.add(
            np.array(dense, np.float64),
            np.array(sparse, np.float64),
            pa.array(names),
            lambda at, names=names: names[at],
        )
    return candidates.ranking(by, fusion)


ROWS = [("a", 0.9, 0.0), ("b", 0.5, 8.0), ("c", 0.1, 4.0), ("d", NAN, 6.0), ("e", 0.3, 0.0)]


def test_a_row_has_both_scores_and_its_place_by_each() -> None:
    best = ranking(ROWS)[0]
    assert (best.row, best.dense, best.dense_rank, best.sparse, best.sparse_rank) == ("b", 0.5, 2, 8.0, 1)
    assert best.score == pytest.approx(0.6 * 0.5 + 0.4)


def test_by_one_score_alone_rows_without_it_are_not_there() -> None:
    assert [one.row for one in ranking(ROWS, "dense")] == ["a", "b", "e", "c"]
    assert [one.row for one in ranking(ROWS, "sparse")] == ["b", "d", "c"]
    assert [one.row for one in ranking(ROWS)] == ["b", "a", "d", "c", "e"]
    assert {one.dense for one in ranking(ROWS) if one.row == "d"} == {None}


def test_only_the_best_by_each_score_are_kept_with_the_ranks_that_they_have() -> None:
    found = {one.row: (one.dense_rank, one.sparse_rank) for one in ranking(ROWS, most=1)}
    assert found == {"a": (1, None), "b": (None, 1)}


def test_equal_rows_are_in_the_order_of_their_ids() -> None:
    rows = [("c", 0.5, 1.0), ("a", 0.5, 1.0), ("b", 0.5, 1.0)]
    for by in ("hybrid", "dense", "sparse"):
        assert [one.row for one in ranking(rows, by, size=1)] == ["a", "b", "c"]
    assert [one.row for one in ranking(rows, "dense", most=2, size=1)] == ["a", "b"]


def test_no_rows_are_no_ranking() -> None:
    assert ranking([]) == []
    assert ranking([("a", NAN, 0.0)]) == []


@given(
    st.lists(st.tuples(st.sampled_from([NAN, -0.5, 0.0, 0.25, 0.5, 0.75]), st.integers(0, 4)), max_size=20),
    st.integers(1, 8),
    st.integers(1, 7),
    st.randoms(use_true_random=False),
    st.sampled_from(["sum", "rrf"]),
)
def test_order_and_batches_change_nothing(scores, most, size, random, method) -> None:
    rows = [(f"{n:02}", dense, float(sparse)) for n, (dense, sparse) in enumerate(scores)]
    shuffled = random.sample(rows, len(rows))
    for by in ("hybrid", "dense", "sparse"):
        whole = ranking(rows, by, most, Fusion(method), size=100)
        assert ranking(shuffled, by, most, Fusion(method), size) == whole


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 20)), min_size=1, max_size=30))
def test_with_room_for_all_it_is_the_fusion_of_all_rows(scores) -> None:
    rows = [(f"{n:02}", dense, sparse) for n, (dense, sparse) in enumerate(scores)]
    dense, sparse = (np.array(column) for column in zip(*scores, strict=True))
    low, high, top = dense.min(), dense.max(), sparse.max()
    expected = np.zeros(len(rows))
    expected += 0.6 * ((dense - low) / (high - low) if high > low else (dense != 0))
    expected += 0.4 * (sparse / top if top > 0 else 0)
    found = {one.row: one.score for one in ranking(rows)}
    assert np.allclose([found[name] for name, _, _ in rows], expected)


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 20), st.booleans()), min_size=1, max_size=30),
)
def test_a_filter_leaves_rows_out_and_the_others_as_they_are(scores) -> None:
    candidates = {filtered: Candidates() for filtered in (False, True)}
    dense, sparse, among = (np.array(column) for column in zip(*scores, strict=True))
    names = [f"{n:02}" for n in range(len(scores))]
    for filtered, found in candidates.items():
        found.add(dense, sparse, pa.array(names), names.__getitem__, among if filtered else None)
    whole = [(one.row, one.score) for one in candidates[False].ranking("hybrid")]
    left = [(one.row, one.score) for one in candidates[True].ranking("hybrid")]
    assert left == [(name, score) for name, score in whole if among[int(name)]]
