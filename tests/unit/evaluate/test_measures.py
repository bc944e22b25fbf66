"""Measures of retrieval, against values that were worked out by hand."""

import math

import pytest

from transforms.evaluation.measures import Overlap, bootstrap, ndcg, overlap, recall, reciprocal_rank


def test_recall_counts_what_is_wanted_among_the_first_k():
    ranking = [False, True, False, True]
    assert [recall(ranking, 4, k) for k in (1, 2, 4)] == [0, 0.25, 0.5]


@pytest.mark.parametrize(
    ("ranking", "expected"), [([True], 1), ([False, False, True, True], 1 / 3), ([False], 0), ([], 0)]
)
def test_reciprocal_rank_is_that_of_the_first_hit(ranking, expected):
    assert reciprocal_rank(ranking) == expected


def test_ndcg_is_one_for_the_best_order_and_discounts_by_the_logarithm_of_the_rank():
    assert ndcg([True, True, False], 2, 3) == 1
    assert ndcg([False, True], 1, 2) == pytest.approx(1 / math.log2(3))
    best = 1 + 1 / math.log2(3)
    assert ndcg([True, False, True], 2, 3) == pytest.approx((1 + 0.5) / best)
    assert ndcg([False, True], 1, 1) == 0


def test_overlap_counts_words_that_are_found_and_wanted():
    answers = {(0, n) for n in range(4)}
    assert overlap({(0, 2), (0, 3), (0, 4), (1, 2)}, answers) == Overlap(0.5, 0.5, 2 / 6)
    assert overlap(set(), answers) == Overlap(0, 0, 0)
    assert overlap(answers, answers) == Overlap(1, 1, 1)


def test_an_interval_holds_the_mean_and_is_the_same_each_time():
    values = [0, 1, 1, 1, 0, 1, 1, 0, 1, 1]
    found = bootstrap(values)
    assert found == bootstrap(values)
    assert found.mean == pytest.approx(0.7)
    # The normal approximation of a share of 0.7 in 10: 0.7 -+ 1.96 * sqrt(0.021).
    assert found.low == pytest.approx(0.416, abs=0.1)
    assert found.high == pytest.approx(0.984, abs=0.1)


def test_without_spread_the_interval_is_a_point():
    assert bootstrap([1, 1, 1]) == (1, 1, 1)
