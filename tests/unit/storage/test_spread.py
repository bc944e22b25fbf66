"""A long listing that is divided tells the same as one that is not, and asks hardly more often."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.model.errors import StorageError
from transforms.model.objects import ObjectInfo
from transforms.storage import spread
from transforms.storage.protocol import Level
from transforms.storage.spread import list_spread


class Names:
    """A store of names in memory, listed in pages of ``page``; it counts what it is asked."""

    lists_apart = True

    def __init__(self, names, page=1_000):
        self.names = sorted(names)
        self.page = page
        self.requests = []

    def list(self, prefix=""):
        mine = [ObjectInfo(name, 1, "t") for name in self.names if name.startswith(prefix)]
        for first in range(0, max(1, len(mine)), self.page):
            self.requests.append(("list", prefix))
            yield mine[first : first + self.page]

    def level(self, prefix=""):
        self.requests.append(("level", prefix))
        below = [name for name in self.names if name.startswith(prefix)]
        entries = list(
            dict.fromkeys(prefix + "".join(name[len(prefix) :].partition("/")[:2]) for name in below)
        )
        page = entries[: self.page]
        folders = [one for one in page if one.endswith("/") and one != prefix]
        objects = [ObjectInfo(one, 1, "t") for one in page if one not in folders]
        return Level(tuple(folders), tuple(objects), len(entries) <= self.page)


def told(store, prefix=""):
    return sorted(info.name for page in list_spread(store, prefix) for info in page)


# Empty parts, names that are prefixes of folders, and characters around the slash.
PARTS = st.sampled_from(["", "a", "a!", "a0", "ab", "b", ".", "..", "\u00fc", "\U0001f600", "a b"])
NAMES = st.lists(PARTS, min_size=1, max_size=4).map("/".join).filter(bool)


@given(st.sets(NAMES, max_size=80), st.integers(1, 5), st.sampled_from(["", "a", "a/", "/", "b/"]))
def test_each_object_is_told_once(names, page, prefix):
    store = Names(names, page)
    assert told(store, prefix) == [name for name in store.names if name.startswith(prefix)]


@pytest.fixture
def hasty(monkeypatch):
    """Divide after the first page."""
    monkeypatch.setattr(spread, "_ALONE", 1)
    monkeypatch.setattr(spread, "_MOST", 100)


def test_each_object_is_told_once_however_early_a_listing_is_divided(hasty):
    names = [
        f"{a}{b}{c}" for a in ("", "a/", "a!/", "b/") for b in ("", "/", "x/", "x0/") for c in range(40)
    ]
    for page in (1, 3, 7):
        for prefix in ("", "a", "a/", "/", "b/x"):
            store = Names(names, page)
            assert told(store, prefix) == [name for name in store.names if name.startswith(prefix)]


def test_a_small_listing_costs_its_pages_and_nothing_else():
    store = Names([f"{n % 5}/{n:04}" for n in range(700)], page=100)
    assert len(told(store)) == 700
    assert store.requests == [("list", "")] * 7


def test_a_long_listing_is_divided_and_costs_few_requests_more():
    store = Names([f"docs/{n % 30:02}/{n % 7}/{n:06}" for n in range(30_000)], page=100)
    assert len(told(store)) == 30_000
    assert 300 < len(store.requests) < 400
    assert len({prefix for _, prefix in store.requests}) > 20


def test_small_folders_are_not_worth_a_request_each():
    store = Names([f"{n // 3:05}/{n:06}" for n in range(30_000)], page=100)
    assert len(told(store)) == 30_000
    assert len(store.requests) < 310


def test_several_requests_are_under_way_at_once(hasty):
    together = threading.Barrier(4, timeout=60)

    class Waiting(Names):
        def list(self, prefix=""):
            if prefix:
                together.wait()
            return super().list(prefix)

    store = Waiting([f"{folder}/{n}" for folder in "abcde" for n in range(100)], page=20)
    assert len(told(store)) == 500


@pytest.mark.parametrize("broken", ["", "c/"])
def test_a_listing_of_which_a_part_breaks_off_raises(hasty, broken):
    class Broken(Names):
        def list(self, prefix=""):
            yield from super().list(prefix)
            if prefix == broken:
                raise StorageError("it broke off")

    store = Broken(
        [f"{folder}/{n}" for folder in "abcde" for n in range(100)], page=150 if broken == "" else 20
    )
    if broken == "":
        store = Broken(["a/1", "a/2"], page=1)
    with pytest.raises(StorageError, match="it broke off"):
        told(store)


def test_a_caller_who_stops_leaves_no_thread_behind(hasty):
    before = threading.active_count()
    store = Names([f"{folder}/{n}" for folder in "abcde" for n in range(1_000)], page=10)
    pages = list_spread(store)
    next(pages)
    pages.close()
    assert threading.active_count() == before


def test_a_store_that_is_not_sorted_is_listed_as_it_comes():
    store = Names([f"{n}" for n in range(50)], page=1)
    store.lists_apart = False
    assert len(told(store)) == 50
    assert {what for what, _ in store.requests} == {"list"}
