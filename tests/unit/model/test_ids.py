"""Ids follow from content, and never point at anything else."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.model.ids import chunk_ids, doc_id, fingerprint, id_inside, id_part, plain_id, slug


def test_a_repeated_text_gets_other_ids_and_an_inserted_one_moves_none():
    before = list(chunk_ids("s", "d", ["A", "B", "A"]))
    after = list(chunk_ids("s", "d", ["A", "NEW", "B", "A"]))
    assert len(set(before)) == 3
    assert [after[0], after[2], after[3]] == before
    assert all(uuid.UUID(one).version == 8 for one in before)


def test_the_same_text_in_another_document_or_source_is_another_chunk():
    ids = {next(chunk_ids(*place, ["A"])) for place in (("s", "d"), ("s", "e"), ("t", "d"), ("sd", ""))}
    assert len(ids) == 4


def test_fingerprints_keep_parts_apart():
    assert fingerprint("ab", "c") != fingerprint("a", "bc")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("help-center", "help-center"),
        ("AC/DC", "s-ac-dc-5a5abe39"),
        ("2024", "s-2024-6557739a"),
        ("日本", "s-cf2abf0c"),
        ("true", "s-true-b5bea41b"),
        ("infinity", "s-infinity-d7998705"),
    ],
)
def test_slugs_are_safe_and_begin_with_a_letter(name, expected):
    assert slug(name) == expected


def test_names_that_look_alike_get_different_slugs():
    names = ["Docs", "docs", "DOCS", "docs ", "d/ocs", "d-ocs", "caf\u00e9", "cafe\u0301"]
    assert len({slug(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.txt"], "a.txt"),
        (["z.zip", "a.txt"], "z.zip#a.txt"),
        (["z.zip#a.txt"], "z.zip%23a.txt"),
        (["z.zip", "in.zip", "b.txt"], "z.zip#in.zip#b.txt"),
        (["z.zip", "in.zip/b.txt"], "z.zip#in.zip/b.txt"),
        (["C# 100%.md"], "C%23 100%.md"),
        (["a%20b.md"], "a%20b.md"),
        (["z.zip%23a.txt"], "z.zip%2523a.txt"),
        (["a%2523"], "a%252523"),
    ],
)
def test_an_id_is_the_names_from_outside_in(names, expected):
    assert whole_id(names) == expected


@given(*[st.lists(st.text("#%235/a", max_size=5), min_size=1, max_size=3)] * 2)
def test_two_documents_never_share_an_id(mine, theirs):
    assert (whole_id(mine) == whole_id(theirs)) == (mine == theirs)


@given(st.lists(st.text("#%235/a", max_size=6), min_size=1, max_size=3))
def test_an_id_gives_its_names_back(names):
    assert [plain_id(part) for part in whole_id(names).split("#")] == names


def whole_id(names):
    record = None
    for name in reversed(names[1:]):
        record = id_inside(id_part(name), record)
    return doc_id(names[0], record)
