"""One score of two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.model.fusion import Fusion
from transforms.retrieval.fusion import Bounds, fused, normalised_sum, ranks_of, reciprocal_ranks

NAN = float("nan")
ALL = Bounds(0.2, 0.8, 10.0)


def test_each_score_goes_from_the_lowest_of_all_to_the_highest_of_the_question() -> None:
    dense, sparse = np.array([0.8, 0.5, 0.2, NAN]), np.array([0.0, 10.0, 5.0, 2.0])
    assert normalised_sum(dense, sparse, ALL, 0.5).tolist() == [0.5, 0.75, 0.25, 0.1]
    assert normalised_sum(dense, sparse, ALL, 0.0).tolist() == [1.0, pytest.approx(0.5), 0.0, 0.0]
    assert normalised_sum(dense, sparse, ALL, 1.0).tolist() == [0.0, 1.0, 0.5, 0.2]


def test_a_score_that_is_the_same_everywhere_tells_nothing_apart() -> None:
    dense, none = np.array([0.4, 0.4, NAN]), np.zeros(3)
    assert normalised_sum(dense, none, Bounds().over(dense, none), 0.5).tolist() == [0.5, 0.5, 0.0]
    assert normalised_sum(np.full(3, NAN), none, Bounds(), 0.5).tolist() == [0.0, 0.0, 0.0]


def test_reciprocal_ranks_add_up_and_what_has_no_rank_adds_nothing() -> None:
    found = reciprocal_ranks(np.array([1, 2, 0]), np.array([3, 0, 0]), 0.5, k=60)
    assert found.tolist() == [0.5 / 61 + 0.5 / 63, 0.5 / 62, 0.0]


def test_ranks_begin_at_one_and_end_at_the_most() -> None:
    assert ranks_of(np.array([0.1, NAN, 0.9, 0.9]), 2).tolist() == [0, 0, 1, 2]
    assert ranks_of(np.array([0.1, NAN, 0.9, 0.9])).tolist() == [3, 0, 1, 2]


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 30)), min_size=1, max_size=20),
    st.sampled_from(["sum", "rrf"]),
    st.floats(0, 1),
    st.sampled_from([0.25, 2.0, 64.0]),
)
def test_what_is_better_by_both_is_never_behind_and_scales_do_not_matter(
    rows, method, weight, scale
) -> None:
    dense, sparse = (np.array(column, np.float64) for column in zip(*rows, strict=True))

    def score(d, s):
        ranks = ranks_of(d), ranks_of(np.where(s > 0, s, np.nan))
        return fused(d, s, ranks, Bounds().over(d, s), Fusion(method, weight))

    found = score(dense, sparse)
    for one in range(len(rows)):
        for other in range(len(rows)):
            if dense[one] > dense[other] and sparse[one] > sparse[other]:
                assert found[one] >= found[other] - 1e-12
    if method == "sum":
        assert np.allclose(score(dense * scale, sparse * scale), found)
        assert (found >= 0).all()
        assert (found <= 1 + 1e-12).all()
