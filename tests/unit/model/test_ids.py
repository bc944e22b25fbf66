import uuid

import pytest

from transforms.model.ids import chunk_ids, fingerprint, slug


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
    ],
)
def test_slugs_are_safe_and_begin_with_a_letter(name, expected):
    assert slug(name) == expected


def test_names_that_look_alike_get_different_slugs():
    names = ["Docs", "docs", "DOCS", "docs ", "d/ocs", "d-ocs", "caf\u00e9", "cafe\u0301"]
    assert len({slug(name) for name in names}) == len(names)
