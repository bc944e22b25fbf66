"""Rows are found by their words, too: by the sparse vector where a store takes one, else by its index of words."""

import numpy as np
import pytest

from tests.stores.adapters.question import Question
from tests.stores.history import at, rows, scores, weights

MOST = 5
RARE = "valve"
"""A word of the text that snapshot 2 has, and no other."""


def with_word(found, word):
    return {key for key, row in found.items() if word in row["text"]}


def full_text(stand):
    with stand.loader() as loader:
        return loader.limits.full_text


def takes_sparse(stand):
    with stand.loader() as loader:
        return loader.limits.sparse


def assert_found_by_terms(stand, table, number, collection="chunks"):
    """The store's best rows are as good as those of a scan of the Parquet files."""
    found = rows(table, number)
    error = getattr(stand.adapter, "SPARSE_ERROR", 1e-5)
    for row in list(found.values())[::29]:
        terms = weights(table, number, row["sparse_indices"])
        true = scores(found, terms)
        best = sorted(true.values(), reverse=True)[:MOST]
        ids = stand.by_terms(terms, MOST, collection)
        assert len(set(ids)) == len(ids)
        assert [true[key] for key in ids] == pytest.approx(best, rel=error)


def test_the_best_rows_by_terms_are_those_of_a_scan_of_the_files_every_night(stand, table):
    if not takes_sparse(stand):
        assert not stand.has("by_terms")
        pytest.skip("the store takes no sparse vectors")
    for number in (1, 2, 3, 4):
        done = stand.load(at(table, number))
        assert done.kind == ("full" if number == 1 else "changes")
        assert_found_by_terms(stand, table, number)


def test_a_word_of_one_night_is_found_in_that_night_alone(stand, table):
    has = full_text(stand)
    if has == "none":
        assert not stand.has("by_words")
        pytest.skip("the store finds no texts by words")
    wanted = {"full_text": True} if has == "index" else {}
    for number in (1, 2, 3, 2, 4):
        stand.load(at(table, number), **wanted)
        assert set(stand.by_words(RARE, MOST)) == with_word(rows(table, number), RARE)
    stand.load(at(table, 2), full=True, **wanted)
    assert set(stand.by_words(RARE, MOST)) == with_word(rows(table, 2), RARE) != set()


def test_what_a_store_does_not_take_is_left_out_with_a_word(stand, table):
    done = stand.load(at(table, 2))
    if takes_sparse(stand):
        assert done.left_out == ""
        return
    assert done.left_out.startswith("The sparse vectors were left out, because")
    if stand.has("by_words"):
        assert set(stand.by_words(RARE, MOST)) == with_word(rows(table, 2), RARE)


def test_a_question_with_both_sides_finds_what_either_side_finds(stand, table):
    if not stand.has("hybrid"):
        assert not stand.has("by_terms", "by_words")
        pytest.skip("the store finds nothing by words")
    stand.load(at(table, 2))
    found = rows(table, 2)
    (rare,) = with_word(found, RARE)
    near = next(key for key, row in found.items() if row["source_name"] != found[rare]["source_name"])
    common = {term for key, row in found.items() if key != rare for term in row["sparse_indices"]}
    alone = set(found[rare]["sparse_indices"]) - common
    question = Question(np.float32(found[near]["embedding"]), weights(table, 2, alone), RARE)
    assert {near, rare} <= set(stand.hybrid(question, MOST))


def test_a_collection_that_readers_come_to_by_a_view_gains_sparse_vectors_and_loses_them(stand, table):
    with stand.loader() as loader:
        if not (loader.limits.atomic and loader.limits.aliases and loader.limits.sparse):
            pytest.skip("the store has no views, no sparse vectors, or does not replace in one step")
    live = f"{stand.to}#live"
    stand.load(at(table, 1), to=live, into="blue", switch=True, sparse=None)
    for number, wishes in ((2, {}), (3, {"sparse": None}), (4, {})):
        done = stand.load(at(table, number), to=live, **wishes)
        assert (done.kind, done.collection) == ("full", "blue")
        assert set(stand.rows("live")) == set(rows(table, number))
    assert_found_by_terms(stand, table, 4, "blue")


def test_without_sparse_vectors_rows_are_as_before(stand, table):
    done = stand.load(at(table, 1), sparse=None)
    assert done.left_out == ""
    assert stand.load(at(table, 2), sparse=None).kind == "changes"
    if takes_sparse(stand):
        assert stand.load(at(table, 2)).kind == "full"
        assert_found_by_terms(stand, table, 2)
