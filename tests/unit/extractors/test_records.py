"""What is read out of files of records: JSON, JSON Lines, CSV, TSV and Parquet."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transforms.extractors.extraction import Extraction
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document
from transforms.model.errors import RejectedError

SETTINGS = ExtractSettings()


def read(data: bytes, name: str, **records: object) -> list[Document]:
    return list(found(data, name, **records).documents)


def found(data: bytes, name: str, **records: object) -> Extraction:
    return extract(data, name, ExtractSettings.model_validate({"records": records}))


def refusal(data: bytes, name: str) -> RejectedError:
    with pytest.raises(RejectedError) as refused:
        extract(data, name, SETTINGS)
    return refused.value


def test_a_json_object_is_lines_of_names_and_values() -> None:
    [document] = read(b'{"a": {"b": 1.10, "c": [1, 2]}, "d": null, "e": [{"f": true}]}', "x.json")
    assert document.text == "a.b: 1.10\na.c: 1, 2\ne.1.f: true"
    assert document.media_type == "application/json"


def test_the_elements_of_a_json_list_are_paragraphs() -> None:
    [document] = read(b'[{"a": "x"}, {"a": "y"}]', "x.json")
    assert document.text == "a: x\n\na: y"
    assert document.metadata == {"records": 2}


def test_a_value_that_pandas_has_as_missing_is_null_and_costs_no_record() -> None:
    lines = b'{"a": "x", "b": NaN, "c": [1, NaN], "d": -Infinity}\n{"a": NaN, "b": "NaN"}\n'
    documents = read(lines, "x.jsonl", metadata=["b", "d"])
    assert [d.text for d in documents] == ["a: x\nc: 1\nd: -Infinity", "b: NaN"]
    assert [d.metadata for d in documents] == [{"d": "-Infinity"}, {"b": "NaN"}]


def test_json_nested_without_end_is_corrupt() -> None:
    assert refusal(b"[" * 100_000, "x.json").reason == "corrupt"


def test_an_empty_json_object_with_a_mark_is_empty() -> None:
    assert refusal(b"\xef\xbb\xbf{}", "x.json").reason == "empty"


BROKEN = b'{"a": "x"}\n{"a": "y\n\n{"a": "z"}\n'


def test_each_json_line_is_a_document_and_a_broken_one_is_refused_by_its_number() -> None:
    lines = found(BROKEN, "x.jsonl")
    assert [(d.record, d.text) for d in lines.documents] == [("1", "a: x"), ("4", "a: z")]
    [part] = lines.refused
    assert (part.record, part.reason, part.is_named) == ("2", "corrupt", True)
    assert part.detail == "line 2 is no JSON: Unterminated string starting at (column 7)."


def test_a_fault_in_json_lines_behind_a_mark_costs_its_line_alone() -> None:
    lines = found(b'\xef\xbb\xbf{"v": "one"}\n\xff\n{"v": "three"}\n', "x.jsonl")
    assert [(d.record, d.text) for d in lines.documents] == [("1", "v: one"), ("3", "v: three")]
    assert [part.record for part in lines.refused] == ["2"]


def test_a_broken_line_whose_id_is_unknown_is_named_by_its_place() -> None:
    for settings in ({"id": "a"}, {"documents": "file"}):
        [part] = found(BROKEN, "x.jsonl", **settings).refused
        assert (part.record, part.is_named) == ("line 2", False)


def test_a_record_without_text_is_refused_as_empty() -> None:
    rows = found(b"id,text\na,One.\nb,\n", "x.csv", documents="record", id="id", text=["text"])
    assert [document.record for document in rows.documents] == ["a"]
    assert [(part.record, part.reason) for part in rows.refused] == [("b", "empty")]


def test_json_lines_of_which_none_can_be_read_are_corrupt() -> None:
    assert refusal(b"{\n{\n", "x.jsonl").reason == "corrupt"


def test_fields_of_a_record_are_text_title_id_and_metadata_as_configured() -> None:
    [document] = read(
        b'{"id": 7, "t": "Title", "m": {"body": "One.\\n\\nTwo."}, "year": 2024, "x": "no"}\n',
        "x.jsonl",
        id="id",
        title="t",
        text=["t", "m.body"],
        metadata=["year"],
    )
    assert (document.record, document.title) == ("7", "Title")
    assert document.text == "Title\n\nOne.\n\nTwo."
    assert document.metadata == {"year": 2024}


def test_records_of_one_id_have_names_of_their_own() -> None:
    documents = read(b'{"k": "a", "v": 1}\n{"k": "a", "v": 2}\n', "x.jsonl", id="k")
    assert [document.record for document in documents] == ["a", "a (2)"]


def test_a_csv_file_is_a_table_of_pipe_rows() -> None:
    [document] = read(b'a,b\r\n"one\ntwo",NA\r\n007,"x|y"\r\n', "x.csv")
    assert document.text == "| a | b |\n| --- | --- |\n| one two | NA |\n| 007 | x\\|y |\n"
    assert document.metadata == {"records": 2}


def test_a_csv_row_can_be_a_document_and_keeps_its_line_breaks() -> None:
    documents = read(b'a,b\n"one\ntwo",2\n3,4\n', "x.csv", documents="record", text=["a"], metadata=["b"])
    assert [(d.record, d.text, d.metadata) for d in documents] == [
        ("1", "one\ntwo", {"b": "2"}),
        ("2", "3", {"b": "4"}),
    ]


@pytest.mark.parametrize("data", [b"a;b\n1,5;2\n", b"a\tb\n1,5\t2\n"])
def test_the_separator_is_the_one_that_the_header_has(data: bytes) -> None:
    assert read(data, "x.csv")[0].text == "| a | b |\n| --- | --- |\n| 1,5 | 2 |\n"


@pytest.mark.parametrize(
    ("data", "name", "head"),
    [
        (b"sep=;\r\na,x;b\r\n1;2\r\n", "x.csv", "a,x"),
        (b"\xef\xbb\xbfSEP=,\na;x,b\n1,2\n", "x.csv", "a;x"),
        (b"sep=\t\na,x\tb\n1\t2\n", "x.csv", "a,x"),
        (b"sep=;\na,x;b\n1;2\n", "x.tsv", "a,x"),
    ],
)
def test_a_first_line_that_tells_excel_the_separator_is_no_header(
    data: bytes, name: str, head: str
) -> None:
    [document] = read(data, name)
    assert document.text == f"| {head} | b |\n| --- | --- |\n| 1 | 2 |\n"
    assert document.metadata == {"records": 1}


def test_rows_that_are_longer_or_shorter_than_the_header_lose_nothing() -> None:
    assert read(b"a,b\n1\n1,2,3\n", "x.csv")[0].text == (
        "| a | b |  |\n| --- | --- | --- |\n| 1 |  |  |\n| 1 | 2 | 3 |\n"
    )


def test_a_quotation_mark_that_is_never_closed_loses_nothing() -> None:
    [document] = read(b'a,b\n"x,1\ny,2\n', "x.csv")
    assert document.text == '| a | b |\n| --- | --- |\n| "x | 1 |\n| y | 2 |\n'
    assert document.warnings == ("quotes_ignored",)


def parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def test_each_row_of_a_parquet_file_is_a_document() -> None:
    data = parquet(pa.table({"id": ["a", "b"], "text": ["One.", "Two."], "n": [1, None]}))
    documents = read(data, "x.parquet", id="id", text=["text"], metadata=["n"])
    assert [(d.record, d.text, d.metadata) for d in documents] == [
        ("a", "One.", {"n": 1}),
        ("b", "Two.", {}),
    ]


def test_nested_columns_of_a_parquet_file_are_lines() -> None:
    data = parquet(pa.table({"a": [{"b": 1.5, "c": b"\xff"}]}))
    assert read(data, "noname")[0].text == "a.b: 1.5\na.c: /w=="


def test_a_parquet_file_that_is_cut_off_is_refused() -> None:
    data = parquet(pa.table({"a": ["x"]}))
    assert refusal(data[:-30] + b"PAR1", "x.parquet").reason == "corrupt"


def test_source_code_stays_as_it_is_in_blocks_of_definitions() -> None:
    [document] = read(b"import os\n\n\ndef f():\n    a\n\n    b\n\n\ndef g(): ...\n", "x.py")
    assert document.text == "import os\n\n\ndef f():\n    a\n\n    b\n\n\ndef g(): ...\n"
    assert [document.text[b.start : b.end] for b in document.blocks] == [
        "import os",
        "def f():\n    a\n\n    b",
        "def g(): ...",
    ]
    assert {block.language for block in document.blocks} == {"python"}


@pytest.mark.parametrize(
    ("data", "name", "reason", "said"),
    [
        (b"\xff\xd8\xff\xe0 jpeg", "a.pdf", "unsupported_type", "a JPEG picture"),
        (b"\0\0\0\x18ftypmp42\0\0", "a.bin", "unsupported_type", "a video"),
        (b"PAR1 cut", "a.parquet", "corrupt", "The name ends in .parquet"),
        (b" \n\0", "a.md", "empty", "no content"),
        (b"words", "a.xyz", "unsupported_type", "Files ending in .xyz"),
    ],
)
def test_what_is_not_read_says_what_it_is(data: bytes, name: str, reason: str, said: str) -> None:
    refused = refusal(data, name)
    assert refused.reason == reason
    assert said in refused.detail


def test_text_that_begins_like_a_picture_is_text() -> None:
    assert read(b"BMW builds cars.", "a.txt")[0].text == "BMW builds cars."


def test_metadata_that_json_has_no_word_for_is_text() -> None:
    lines = b'{"t": "one", "m": 1e400}\n{"t": "two", "m": [-1e999, 9223372036854775808, 1.5]}\n'
    lines += b'{"t": "three", "m": ' + b"7" * 5000 + b"}\n"
    documents = read(lines, "a.jsonl", text=["t"], metadata=["m"])
    assert [document.metadata["m"] for document in documents] == [
        "1e400",
        ["-1e999", 9223372036854775808, 1.5],
        "7" * 5000,
    ]


def test_no_half_of_a_character_and_no_zero_is_left_in_what_a_record_states() -> None:
    line = rb'{"i": "a\ud800", "h": "b\u0000c\udc00", "t": "one", "m": {"k\ud800": ["v\u0000", "\ud83d\ude00"]}}'
    [document] = read(line, "a.jsonl", id="i", title="h", text=["t"], metadata=["m"])
    assert document.record == "a\ufffd"
    assert document.title == "bc\ufffd"
    assert document.metadata == {"m": {"k\ufffd": ["v", "\U0001f600"]}}


def test_moments_that_python_has_no_value_for_cost_no_row() -> None:
    times = pa.array([0, 475_461_972_027_387_904], pa.timestamp("us", "UTC"))
    sink = io.BytesIO()
    pq.write_table(pa.table({"t": ["one", "two"], "m": times}), sink)
    documents = read(sink.getvalue(), "a.parquet", text=["t"], metadata=["m"])
    assert [document.metadata["m"] for document in documents] == [
        "1970-01-01T00:00:00+00:00",
        "17036-10-16 02:00:27.387904Z",
    ]


def test_columns_of_one_name_are_told_apart() -> None:
    [row] = read(b"a,a,,a\n1,2,3,4\n", "x.csv", documents="record")
    assert row.text == "a: 1\na (2): 2\ncolumn 3: 3\na (3): 4"


@pytest.mark.parametrize(
    ("data", "head"),
    [
        (b"Report of 2020\n\na;b;c\n1;2;3\n", "| Report of 2020 |  |  |"),
        (b"Report, of 2020\na;b\n1;2\n3;4,5\n", "| Report, of 2020 |  |"),
        (b"Name, first;Name, last, old;x\na;b;c\nd;e;f\n", "| Name, first | Name, last, old | x |"),
        (b"# source: x, y\na\tb\n1\t2\n", "| # source: x, y |  |"),
        (b"comment\nhello; world, x\nfoo, bar\n", "| comment |  |"),
        (b"a,b\n1;2,3\n4;5,6\n", "| a | b |"),
        (b"a,b\n1;2\n", "| a | b |"),
        (b"sep=,\nTitle\n1;2\n3;4\n", "| Title |"),
    ],
)
def test_a_title_above_the_header_does_not_tell_the_separator(data: bytes, head: str) -> None:
    [document] = read(data, "x.csv")
    assert document.text.split("\n")[0] == head
