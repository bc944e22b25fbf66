"""Rows that some store cannot take: each is left out and named, and everything else arrives as it is."""

import datetime
from collections import Counter

import pyarrow.parquet as pq
import pytest

from tests.stores.exports.conftest import MODEL, publish_rows, row
from tests.stores.exports.reading import HOLDINGS, numbers
from transforms.exports.export import Wishes, check, export
from transforms.exports.registry import find_profile
from transforms.exports.run import TooManyRefusedError
from transforms.model.errors import ConfigError
from transforms.storage.local import LocalStore

ALL = set(HOLDINGS)
LONG_ID = "é" * 512

HOSTILE = {
    "an id of 1,024 bytes": (
        row(LONG_ID),
        {
            "azure-search": "id_characters",
            "opensearch": "id_length",
            "pinecone": "id_characters",
            "turbopuffer": "id_length",
        },
    ),
    "an id with a line break": (
        row("a\nb"),
        {"azure-search": "id_characters", "vertex": "id_characters", "vespa": "id_characters"},
    ),
    "an id with a NUL": (
        row("a\0b"),
        {
            "azure-search": "id_characters",
            "pgcopy": "id_characters",
            "pinecone": "id_characters",
            "s3-vectors": "id_characters",
            "vertex": "id_characters",
            "vespa": "id_characters",
        },
    ),
    "an empty id": (
        row(""),
        dict.fromkeys(ALL, "id_length") | {"vertex": "id_characters", "pinecone": "id_characters"},
    ),
    "a text of 100 KB": (
        row("b", text="x" * 100_000),
        {"milvus": "text_too_long", "pinecone": "metadata_too_large", "s3-vectors": "metadata_too_large"},
    ),
    "a text with a NUL": (
        row("b", text="a\0b"),
        {
            "azure-search": "nul_character",
            "pgcopy": "nul_character",
            "pinecone": "nul_character",
            "s3-vectors": "nul_character",
            "vespa": "character",
        },
    ),
    "a text with a vertical tab": (row("b", text="a\vb"), {"vespa": "character"}),
    "a text with a non-character": (row("b", text="a\U0002fffeb"), {"vespa": "character"}),
    "a name of 3 KB that is filtered by": (
        row("b", doc_id="x" * 3_000),
        {"s3-vectors": "filterable_too_large"},
    ),
    "a list with a text of 40,000 bytes": (
        row("b", section_path=["a", "é" * 20_000]),
        {
            "azure-search": "text_too_long",
            "opensearch": "text_too_long",
        },
    ),
    "no vector": (
        row("b", embedding=None, embed_model=None, embed_dim=None),
        dict.fromkeys(ALL, "no_vector"),
    ),
    "a vector that is too short": (row("b", embedding=[1.0]), dict.fromkeys(ALL, "wrong_dimension")),
    "a vector with NaN": (row("b", embedding=[1.0, float("nan")]), dict.fromkeys(ALL, "not_finite")),
    "a vector with an infinity": (
        row("b", embedding=[1.0, float("inf")]),
        dict.fromkeys(ALL, "not_finite"),
    ),
    "a vector of zeros": (row("b", embedding=[0.0, 0.0]), dict.fromkeys(ALL, "zero_vector")),
    "a vector of another model": (row("b", embed_model="other@1"), dict.fromkeys(ALL, "other_model")),
    "a date": (row("b", effective_date=datetime.date(2024, 2, 29)), {}),
    "emoji and scripts": (row("b", text="🚀 你好 é̀ مرحبا", section_path=["🚀", "你"]), {}),
    "quotes, backslashes and line breaks": (
        row("b", text='"a"\\b\r\nc\td\u2028,', section_path=['"', "\\", "{a,b}", "", "NULL", "\n"]),
        {},
    ),
    "empty texts and lists": (row("b", text="", section_path=[], doc_title=""), {}),
    "the smallest and the largest numbers": (row("b", embedding=[1.4e-45, -3.4028234663852886e38]), {}),
}
GOOD = row("good", text="good")


@pytest.fixture(scope="module")
def hostile_table(tmp_path_factory):
    """All of them in one table; ids that are no part of the case are made unique."""
    store = LocalStore(str(tmp_path_factory.mktemp("hostile") / "table"))
    publish_rows(store, 1, [GOOD, *hostile_rows().values()], [])
    return store.root


def hostile_rows():
    return {
        case: hostile | {"chunk_id": f"row-{number}" if hostile["chunk_id"] == "b" else hostile["chunk_id"]}
        for number, (case, (hostile, _)) in enumerate(HOSTILE.items())
    }


@pytest.mark.parametrize("profile", HOLDINGS)
def test_hostile_rows_arrive_as_they_are_or_are_named(profile, hostile_table, tmp_path):
    out = tmp_path / "out"
    wishes = Wishes(str(out), model=MODEL, max_refused_share=1.0)
    manifest = export(hostile_table, find_profile(profile), wishes)
    rows = hostile_rows()
    expected = {case: refused.get(profile) for case, (_, refused) in HOSTILE.items()}
    named = {each["chunk_id"]: each["reason"] for each in pq.read_table(out / "refused").to_pylist()}
    assert {case: named.get(hostile["chunk_id"]) for case, hostile in rows.items()} == expected
    assert manifest.refused == Counter(reason for reason in expected.values() if reason)
    whole = {case: hostile for case, hostile in rows.items() if expected[case] is None}
    held = HOLDINGS[profile](out, {})
    assert held.keys() == {"good", *(hostile["chunk_id"] for hostile in whole.values())}
    assert {case: held[hostile["chunk_id"]][0] for case, hostile in whole.items()} == {
        case: numbers(hostile["embedding"]) for case, hostile in whole.items()
    }
    assert list(check(find_profile(profile), str(out))) == []


NAMED = sorted(set(HOLDINGS) - {"pgcopy", "snowflake", "vertex"})
"""Stores whose records are read by the names of columns, text among them."""
HARD = {"text": '"a"\\b\r\nc\td\u2028,🚀', "section_path": ['"', "\\", "{a,b}", "NULL", "\n"]}


@pytest.mark.parametrize("profile", NAMED)
def test_texts_of_all_kinds_arrive_as_they_are(profile, table_of, tmp_path):
    date = datetime.date(2024, 2, 29)
    table = table_of([row("a", effective_date=date, page_start=7, **HARD)])
    export(str(table), find_profile(profile), Wishes(str(tmp_path / "out")))
    found = HOLDINGS[profile](tmp_path / "out", {})["a"][1]
    assert {key: found[key] for key in HARD} == HARD
    assert found["page_start"] == 7
    assert found["effective_date"] in (date, "2024-02-29")


@pytest.mark.parametrize("profile", sorted(set(NAMED) - {"bigquery", "vdf"}))
def test_null_and_empty_lists_are_left_out_of_json(profile, table_of, tmp_path):
    table = table_of([row("a", doc_title=None, section_path=[])])
    wishes = Wishes(str(tmp_path / "out"), columns=("doc_title", "section_path"))
    export(str(table), find_profile(profile), wishes)
    found = HOLDINGS[profile](tmp_path / "out", {})["a"][1]
    assert found.keys() <= {"chunk_id", "id"}


@pytest.mark.parametrize("profile", HOLDINGS)
def test_ids_and_vectors_alone_may_be_exported(profile, table_of, tmp_path):
    table = table_of([row("a")])
    export(str(table), find_profile(profile), Wishes(str(tmp_path / "out"), columns=("chunk_id",)))
    assert HOLDINGS[profile](tmp_path / "out", {})["a"][0] == [1.0, 0.5]
    assert list(check(find_profile(profile), str(tmp_path / "out"))) == []


@pytest.mark.parametrize("profile", sorted(set(HOLDINGS) - {"s3-vectors"}))
def test_all_columns_that_the_store_takes_may_be_exported(profile, table_of, tmp_path):
    table = table_of([row("a", embedding_bits=b"\x80\xff", embedding_int8=[127, -64], step_total=3)])
    export(str(table), find_profile(profile), Wishes(str(tmp_path / "out"), columns=("*",)))
    assert HOLDINGS[profile](tmp_path / "out", {})["a"][0] == [1.0, 0.5]
    assert list(check(find_profile(profile), str(tmp_path / "out"))) == []


def test_more_keys_than_the_store_takes_are_refused_and_the_export_before_stays(table_of, tmp_path):
    table = table_of([row("a")])
    out, profile = tmp_path / "out", find_profile("s3-vectors")
    export(str(table), profile, Wishes(str(out)))
    with pytest.raises(ConfigError, match="takes 50 keys of metadata"):
        export(str(table), profile, Wishes(str(out), columns=("*",)))
    assert list(check(profile, str(out))) == []
    assert (out / "export.json").exists()


@pytest.mark.parametrize("column", ["embedding_bits", "embedding_int8"])
def test_a_column_that_json_cannot_hold_is_refused(column, table_of, tmp_path):
    with pytest.raises(ConfigError, match=f"Pinecone cannot hold column {column}"):
        export(
            str(table_of([row("a")])),
            find_profile("pinecone"),
            Wishes(str(tmp_path / "out"), columns=(column,)),
        )


def test_a_row_that_cannot_be_held_any_more_is_deleted(table_of, tmp_path):
    changed = [GOOD, row("b", text="a\0b", changed_in=2), row("c", changed_in=2)]
    table = table_of([GOOD, row("b")], changed)
    out = tmp_path / "out"
    wishes = Wishes(str(out), since=1, max_refused_share=1.0)
    manifest = export(str(table), find_profile("pinecone"), wishes)
    assert HOLDINGS["pinecone"](out, {"good": 1, "b": 1}).keys() == {"good", "c"}
    assert (manifest.upserts, manifest.deletes, manifest.refused) == (1, 1, {"nul_character": 1})


def test_more_refused_rows_than_allowed_leave_no_complete_export(table_of, tmp_path):
    table = table_of([GOOD, *(row(f"b{n}", text="a\0b") for n in range(3))])
    with pytest.raises(
        TooManyRefusedError, match=r"would refuse 3 of 4 rows \(nul_character 3\)"
    ) as caught:
        export(str(table), find_profile("pgcopy"), Wishes(str(tmp_path / "out"), max_refused_share=0.7))
    assert caught.value.exit_code == 3
    assert not (tmp_path / "out/export.json").exists()
    named = pq.read_table(tmp_path / "out/refused").to_pylist()
    assert [each["chunk_id"] for each in named] == ["b0", "b1", "b2"]


@pytest.mark.parametrize("profile", ["azure-search", "opensearch", "pinecone", "s3-vectors"])
def test_metadata_of_100_kb_goes_where_it_can(profile, table_of, tmp_path):
    table = table_of([GOOD, row("b", metadata='{"a":"' + "x" * 100_000 + '"}')])
    wishes = Wishes(str(tmp_path / "out"), columns=("metadata",), max_refused_share=1.0)
    manifest = export(str(table), find_profile(profile), wishes)
    whole = profile in ("azure-search", "opensearch")
    assert manifest.refused == ({} if whole else {"metadata_too_large": 1})
    assert list(check(find_profile(profile), str(tmp_path / "out"))) == []
