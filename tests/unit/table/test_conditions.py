"""Conditions on rows: how they are written, and which rows meet them."""

import datetime

import pyarrow as pa
import pytest

from transforms.model.errors import ConfigError
from transforms.table.conditions import parse_conditions


def kept(written, values, kind):
    (condition,) = parse_conditions([written])
    return condition.mask(pa.array(values, kind)).to_pylist()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("doc_type=manual", [True, False, False, False]),
        ("doc_type = manual | guide", [True, True, False, False]),
        ("doc_type!=manual", [False, True, True, True]),
        ("doc_type=", [False, False, True, False]),
        ("doc_type!=", [True, True, False, True]),
        ("doc_type=manual|", [True, False, True, False]),
        ("doc_type>guide", [True, False, False, False]),
        ("doc_type>=guide", [True, True, False, False]),
    ],
)
def test_texts_are_compared_and_null_is_nothing(written, expected):
    assert kept(written, ["manual", "guide", None, "a=b"], pa.string()) == expected


def test_a_value_may_hold_signs_of_operators():
    assert kept("doc_type=a=b", ["a=b", "a"], pa.string()) == [True, False]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("chunk_index<2", [True, False, False]),
        ("chunk_index<=2", [True, True, False]),
        ("chunk_index=2|3", [False, True, True]),
        ("chunk_index!=2", [True, False, True]),
    ],
)
def test_numbers_are_compared_as_numbers(written, expected):
    assert kept(written, [1, 2, 3], pa.int32()) == expected


def test_null_is_neither_more_nor_less():
    assert kept("page_start>=0", [1, None], pa.int32()) == [True, False]


def test_dates_are_written_as_in_iso_8601():
    days = [datetime.date(2026, 11, 30), datetime.date(2025, 1, 1), None]
    assert kept("effective_date>=2026-01-01", days, pa.date32()) == [True, False, False]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("section_path=Pumps", [True, False, False, True]),
        ("section_path=Pumps|Valves", [True, True, False, True]),
        ("section_path!=Pumps", [False, True, True, False]),
        ("section_path=", [False, False, True, False]),
    ],
)
def test_a_list_is_met_by_any_of_its_elements(written, expected):
    lists = [["A", "Pumps"], ["Valves"], [], ["Pumps", "Pumps"]]
    assert kept(written, lists, pa.list_(pa.string())) == expected


def test_lists_of_a_slice_are_those_of_the_slice():
    (condition,) = parse_conditions(["section_path=Pumps"])
    lists = pa.array([["Pumps"], ["A"], ["Pumps"], []], pa.list_(pa.string())).slice(1)
    assert condition.mask(lists).to_pylist() == [False, True, False]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("doc_type", "is no condition; write COLUMN=VALUE"),
        ("doctype=x", "has no column doctype to filter by"),
        ("embedding=1", "has no column embedding to filter by"),
        ("chunk_index=two", "'two' is no int32"),
        ("chunk_index=99999999999", "is no int32"),
        ("effective_date>yesterday", "'yesterday' is no date32"),
        ("chunk_index<1|2", "< compares a column of single values with one value"),
        ("chunk_index<", "< compares a column of single values with one value"),
        ("section_path>A", "> compares a column of single values with one value"),
        ("embedding_bits=1", "a column of binary cannot be filtered by"),
    ],
)
def test_what_is_no_condition_is_refused_in_a_sentence(written, message):
    with pytest.raises(ConfigError, match=message.replace("|", r"\|")):
        parse_conditions([written])


METADATA = [
    '{"author": "Ada", "year": 2024, "tags": ["wheel", "nut"], "date": "2024-03-14"}',
    '{"author": "Bo", "year": 1999, "draft": true}',
    "{}",
]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("metadata.author=Ada", [True, False, False]),
        ("metadata.author=Ada|Bo", [True, True, False]),
        ("metadata.author!=Ada", [False, True, True]),
        ("metadata.author=", [False, False, True]),
        ("metadata.tags=nut", [True, False, False]),
        ("metadata.tags!=nut", [False, True, True]),
        ("metadata.draft=true", [False, True, False]),
        ("metadata.year=1999", [False, True, False]),
        ("metadata.year>1999", [True, False, False]),
        ("metadata.year < 20240", [True, True, False]),
        ("metadata.date>=2024-03", [True, False, False]),
    ],
)
def test_what_a_document_says_of_itself_is_asked_for_by_its_key(written, expected):
    assert kept(written, METADATA, pa.string()) == expected
    assert kept(written, METADATA[::-1] + METADATA, pa.string()) == expected[::-1] + expected


def test_a_key_may_have_spaces_and_points():
    assert kept("metadata.dc.creator name = x", ['{"dc.creator name": "x"}'], pa.string()) == [True]


@pytest.mark.parametrize("written", ["metadata.year>1|2", "metadata.year>", "metadata.=x"])
def test_a_condition_on_metadata_that_says_nothing_is_refused(written):
    with pytest.raises(ConfigError):
        parse_conditions([written])
