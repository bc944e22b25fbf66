"""Work done ahead by threads gives what one after the other would."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.storage.ahead import fetch_ahead


def one(_):
    return 1


@given(st.lists(st.integers(0, 9)), st.integers(1, 4), st.integers(1, 20))
def test_results_are_those_of_one_after_the_other(items, threads, budget):
    fetched = fetch_ahead(items, lambda n: n * n, lambda n: n, threads=threads, budget=budget)
    assert list(fetched) == [n * n for n in items]


def test_as_many_as_there_are_threads_are_under_way_at_once():
    together = threading.Barrier(4, timeout=60)
    assert sorted(fetch_ahead(range(8), lambda _: together.wait(), one, threads=4, budget=100)) == sorted(
        [0, 1, 2, 3] * 2
    )


def test_no_more_bytes_are_under_way_than_the_budget_but_for_one_item_that_is_larger():
    sizes = [3, 3, 3, 50, 3, 3, 9, 1, 1] * 5
    begun = []
    fetched = fetch_ahead(
        range(len(sizes)), lambda n: begun.append(n) or n, lambda n: sizes[n], threads=4, budget=10
    )
    for first in fetched:
        assert all(n <= first or sum(sizes[first : n + 1]) <= 10 for n in tuple(begun))


def test_an_error_comes_in_its_turn_and_nothing_is_begun_after_it():
    begun = []

    def fetch(n):
        begun.append(n)
        if n == 2:
            raise ValueError(n)
        return n

    fetched = fetch_ahead(range(100), fetch, one, threads=2, budget=3)
    assert [next(fetched), next(fetched)] == [0, 1]
    with pytest.raises(ValueError, match="2"):
        next(fetched)
    assert max(begun) <= 4


def test_a_caller_who_stops_leaves_no_thread_behind():
    before = threading.active_count()
    fetched = fetch_ahead(range(100), one, one, threads=4, budget=100)
    next(fetched)
    fetched.close()
    assert threading.active_count() == before
