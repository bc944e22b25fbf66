"""BM25 over the two columns: against the formula written out."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.sparse.analysis import Analyzer
from transforms.sparse.columns import from_columns, to_columns
from transforms.sparse.registry import make_sparse, sparse_name, sparse_recipe
from transforms.sparse.score import scores
from transforms.sparse.settings import NO_SPARSE, BM25Settings, settings_from_json, settings_to_json
from transforms.sparse.statistics import counted
from transforms.sparse.vocabulary import term_id
from transforms.table.schema import CHUNKS

WORDS = [
    "pump",
    "pumps",
    "valve",
    "P-101",
    "max_pool_size",
    "the",
    "Öl",
    "насос",
    "東京タワー",
    "v2.3.1",
    "dry",
    "—",
]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=8)
SETTINGS = BM25Settings(average=7, k1=1.5, b=0.6)


ANALYZER = Analyzer(SETTINGS.languages, ())


def bag_of(text):
    return Counter(term for piece in text.split() for term in ANALYZER.terms(piece))


def plain_scores(bags, question, settings):
    """BM25 as it is written in books, with this average: term by term, text by text."""
    found = [0.0] * len(bags)
    for term, asked in bag_of(question).items():
        having = sum(term in bag for bag in bags)
        idf = math.log(1 + (len(bags) - having + 0.5) / (having + 0.5))
        for place, bag in enumerate(bags):
            norm = settings.k1 * (1 - settings.b + settings.b * bag.total() / settings.average)
            found[place] += asked * idf * bag[term] * (settings.k1 + 1) / (bag[term] + norm)
    return found


def our_scores(columns, question, settings):
    indices, values = columns["sparse_indices"], columns["sparse_values"]
    query = make_sparse(settings).query(question)
    weights = query.values * counted([indices]).idf(query.indices)
    return scores(indices, values, query.indices, weights)


def test_a_vector_has_the_ids_of_the_terms_in_order_and_what_the_formula_gives():
    encoder = make_sparse(BM25Settings(k1=1.2, b=0.75, average=4))
    vectors = encoder.encode(["dry dry pump", "", "pump"])
    assert vectors.offsets.tolist() == [0, 2, 2, 3]
    assert vectors.indices.tolist() == [*sorted([term_id("dri"), term_id("pump")]), term_id("pump")]
    norm, short = 1.2 * (0.25 + 0.75 * 3 / 4), 1.2 * (0.25 + 0.75 / 4)
    weight = {term_id("dri"): 2 * 2.2 / (2 + norm), term_id("pump"): 2.2 / (1 + norm)}
    wanted = [weight[one] for one in vectors.indices[:2].tolist()] + [2.2 / (1 + short)]
    assert vectors.values.tolist() == np.array(wanted, np.float32).tolist()


def test_a_query_has_its_terms_as_often_as_they_are_asked():
    query = make_sparse(BM25Settings()).query("Dry pumps, dry!")
    assert dict(zip(query.indices.tolist(), query.values.tolist(), strict=True)) == {
        term_id("dri"): 2.0,
        term_id("pump"): 1.0,
    }


@given(texts, st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join))
def test_scores_are_those_of_plain_bm25_with_the_same_average(corpus, question):
    wanted = plain_scores(list(map(bag_of, corpus)), question, SETTINGS)
    columns = to_columns(make_sparse(SETTINGS).encode(corpus))
    np.testing.assert_allclose(our_scores(columns, question, SETTINGS), wanted, rtol=1e-5, atol=1e-6)


def test_the_ranking_is_that_of_plain_bm25_over_a_thousand_texts():
    some = random.Random(3)
    words = [f"word{n}" for n in range(300)]
    weights = [1 / (n + 1) for n in range(300)]
    corpus = [" ".join(some.choices(words, weights, k=some.randint(5, 60))) for _ in range(1000)]
    settings = BM25Settings(average=35)
    bags, columns = list(map(bag_of, corpus)), to_columns(make_sparse(settings).encode(corpus))
    for _ in range(5):
        question = " ".join(some.choices(words, k=4))
        wanted = plain_scores(bags, question, settings)
        found = our_scores(columns, question, settings)
        order = np.argsort(-found, kind="stable")
        in_order = np.array(wanted)[order]
        assert (np.diff(in_order) <= 1e-5).all()
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@given(texts, st.randoms(use_true_random=False))
def test_the_same_text_has_the_same_bits_alone_and_in_any_order(corpus, some):
    encoder = make_sparse(BM25Settings())
    together = encoder.encode(corpus)
    order = list(range(len(corpus)))
    some.shuffle(order)
    shuffled = encoder.encode([corpus[place] for place in order])
    for row, place in enumerate(order):
        there, here = slice(*shuffled.offsets[row : row + 2]), slice(*together.offsets[place : place + 2])
        alone = encoder.encode([corpus[place]])
        assert (
            shuffled.indices[there].tobytes() == together.indices[here].tobytes() == alone.indices.tobytes()
        )
        assert shuffled.values[there].tobytes() == together.values[here].tobytes() == alone.values.tobytes()
        assert (np.diff(alone.indices.astype(np.int64)) > 0).all()
        assert (alone.values > 0).all()


@given(texts)
def test_columns_hold_what_was_encoded_and_are_those_of_the_table(corpus):
    vectors = make_sparse(BM25Settings()).encode(corpus)
    columns = to_columns(vectors)
    for name, column in columns.items():
        assert column.type == CHUNKS.field(name).type
    back = from_columns(columns["sparse_indices"], columns["sparse_values"])
    assert back.offsets.tolist() == vectors.offsets.tolist()
    assert back.indices.tolist() == vectors.indices.tolist()
    assert back.values.tolist() == vectors.values.tolist()


def test_rows_without_a_vector_or_a_term_score_nothing_and_slices_are_read_as_such():
    kinds = [CHUNKS.field(name).type for name in ("sparse_indices", "sparse_values")]
    indices = pa.array([[9], None, [1, 5], [], [5, 9]], kinds[0]).slice(1)
    values = pa.array([[9], None, [1, 2], [], [4, 8]], kinds[1]).slice(1)
    ids, weights = np.array([5, 7, 9], np.uint32), np.array([10, 1, 100], np.float32)
    assert scores(indices, values, ids, weights).tolist() == [0, 20, 0, 840]
    assert scores(indices, values, ids[:0], weights[:0]).tolist() == [0, 0, 0, 0]
    assert scores(indices[:0], values[:0], ids, weights).tolist() == []


@pytest.mark.parametrize("asked", [1, 24, 25, 3000])
def test_a_question_of_any_length_is_scored_alike(asked):
    some = np.random.default_rng(3)
    rows = [
        np.unique(some.integers(0, 2**32 - 1, 40, np.uint64))[: some.integers(0, 41)] for _ in range(50)
    ]
    known = np.unique(np.concatenate(rows))
    others = some.integers(0, 2**32 - 1, asked, np.uint64)
    ids = np.unique(np.concatenate([known[:: len(known) // asked + 1], others]))[:asked].astype(np.uint32)
    kinds = [CHUNKS.field(name).type for name in ("sparse_indices", "sparse_values")]
    indices = pa.array([row.tolist() for row in rows], kinds[0])
    values = pa.array([[1.0] * len(row) for row in rows], kinds[1])
    wanted = [float(len({*row.tolist()} & {*ids.tolist()})) for row in rows]
    assert scores(indices, values, ids, np.ones(len(ids), np.float32)).tolist() == wanted


def test_names_and_recipes_tell_settings_apart_and_none_has_neither():
    names = {make_sparse(BM25Settings(**one)).name for one in ({}, {"b": 0.5}, {"stop_words": ("the",)})}
    assert len(names) == 3
    assert all(name.startswith("bm25@1-") for name in names)
    assert make_sparse(BM25Settings()) is make_sparse(BM25Settings())
    assert make_sparse(BM25Settings()).weighed
    assert sparse_name(BM25Settings()) == make_sparse(BM25Settings()).name
    assert (make_sparse(NO_SPARSE), sparse_name(NO_SPARSE), sparse_recipe(NO_SPARSE)) == (None, None, "")


@pytest.mark.parametrize("settings", [BM25Settings(b=0.5, languages=("german",)), NO_SPARSE])
def test_settings_come_back_from_a_manifest(settings):
    assert settings_from_json(settings_to_json(settings)) == settings
