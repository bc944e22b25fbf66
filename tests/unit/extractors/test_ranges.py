"""A large object of records, read range by range, gives what reading the whole of it gives."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from transforms.extractors.detect import record_type
from transforms.extractors.extraction import Extraction
from transforms.extractors.ranges import NamedRange, cut_records, may_be_cut
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import RejectedError

MOST = 10_000
BOM = b"\xef\xbb\xbf"


def settings_of(encoding: str | None = None, **records: object) -> ExtractSettings:
    return ExtractSettings.model_validate(
        {"records": {"documents": "record", **records}, "detect_language": False, "encoding": encoding}
    )


def cut(data: bytes, name: str, settings: ExtractSettings, size: int = 8) -> tuple[NamedRange, ...]:
    return cut_records(io.BytesIO(data), name, settings, size, MOST)


def in_ranges(data: bytes, name: str, settings: ExtractSettings, size: int) -> list[Extraction]:
    found = []
    for one in cut(data, name, settings, size):
        own = b"".join(data[start:end] for start, end in one.records.spans)
        found.append(extract(own, name, settings, record_type(name), one.records))
    return found


def whole(data: bytes, name: str, settings: ExtractSettings) -> Extraction | str:
    try:
        return extract(data, name, settings)
    except RejectedError as error:
        return error.reason


def hold_equal(data: bytes, name: str, settings: ExtractSettings, size: int = 8) -> int:
    """Number of the ranges, if they are cut."""
    expected = whole(data, name, settings)
    ranges = in_ranges(data, name, settings, size)
    if ranges:
        documents = [document for one in ranges for document in one.documents]
        refused = [part for one in ranges for part in one.refused]
        if isinstance(expected, str):
            assert not documents
        else:
            assert documents == list(expected.documents)
            assert sorted(map(str, refused)) == sorted(map(str, expected.refused))
            names = [name for one in cut(data, name, settings, size) for name in one.names.to_pylist()]
            own = [document.record for document in documents] + [part.record for part in refused]
            assert {str(one).replace("%23", "#") for one in own} <= set(names)
    return len(ranges)


LINE = st.one_of(
    st.builds(
        lambda i, t: json.dumps({"id": i, "t": t}, ensure_ascii=False).encode("utf-8", "surrogatepass"),
        st.sampled_from(["a", "b", "a (2)", " c ", "", "#", 1, 2.50, None]),
        st.text(st.characters(codec="utf-8"), max_size=12),
    ),
    st.sampled_from(
        [b"", b"  ", b"{", b"[1]", b"null", b'{"id": "a"}', b'"\xed\xa0\xbd"', b"\xef\xbb\xbf{}"]
    ),
    st.binary(max_size=6).filter(lambda data: b"\n" not in data),
    st.just(b'{"id": "long", "t": "' + b"x" * 400 + b'"}'),
)
BREAKS = st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\r", b"\0\n"])


@settings(max_examples=60)
@given(
    st.lists(st.tuples(LINE, BREAKS), max_size=12),
    st.sampled_from([b"", BOM]),
    st.booleans(),
    st.sampled_from([None, "id"]),
    st.sampled_from([1, 40, 200]),
)
@example(
    [(b"{}", b"\n"), (b"\xe9", b"\n"), ('{"t": "\u00fc\u00fc\u00fc"}'.encode(), b"\n")], b"", True, None, 1
)
@example([(b'{"t": "x"}', b"\n"), (b'"\xed\xa0\xbd"', b"\n")], BOM, False, "id", 1)
def test_lines_of_ranges_are_those_of_the_whole(lines, mark, ends, field, size):
    data = mark + b"".join(line + brk for line, brk in lines)
    hold_equal(data if ends else data.rstrip(b"\r\n"), "x.jsonl", settings_of(id=field, text=["t"]), size)


CELL = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters='"\r\n'), max_size=6),
    st.text('a",;\n\r ', max_size=8).map(lambda text: '"' + text.replace('"', '""') + '"'),
    st.sampled_from(["a", "a (2)", "a", "b", 'x"y', " ", ""]),
)
ROW = st.lists(CELL, min_size=1, max_size=4)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(ROW, st.sampled_from(["\n", "\r\n", "\n\n", "\n \t\n", "\r"])), max_size=12),
    st.sampled_from(["", "\ufeff", "sep=;\n", "\n"]),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from([None, "id", "column 4"]),
    st.sampled_from(["x.csv", "x.tsv"]),
)
@example([(["id", "t"], "\n"), (["a", '"x"y'], "\n"), (["b", "1"], "\n")], "", ",", "id", "x.csv")
@example([(["id", "t"], "\n"), (["a", '"'], "\n"), (["b", "1"], "\n")], "", ",", "id", "x.csv")
@example([(["id", "t"], "\n"), (['"a\nb"', "1"], "\n"), (["c", "2", "3"], "\n")], "", ",", "id", "x.csv")
def test_rows_of_ranges_are_those_of_the_whole(rows, begin, separator, field, name):
    data = (begin + "".join(separator.join(row) + brk for row, brk in rows)).encode()
    hold_equal(data, name, settings_of(id=field), 1)


def parquet_of(rows: int, group: int, **options: object) -> bytes:
    """Rows of which two share an id, in groups of so many."""
    table = pa.table(
        {
            "id": ["same" if n in (1, rows - 1) else f"r{n}" for n in range(rows)],
            "t": [f"text {n}" for n in range(rows)],
            "more": [{"n": n, "d": None} for n in range(rows)],
        }
    )
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=group, **options)
    return sink.getvalue()


@pytest.mark.parametrize("field", [None, "id", "more.n", "none"])
@pytest.mark.parametrize("text", [[], ["t"]])
@pytest.mark.parametrize("size", [1, 1500])
def test_row_groups_of_ranges_are_those_of_the_whole(field, text, size):
    data = parquet_of(40, 5, write_page_index=True)
    assert hold_equal(data, "x.parquet", settings_of(id=field, text=text), size) == (8 if size == 1 else 2)


def test_a_range_begins_where_a_line_does_and_holds_one_at_least():
    data = b'{"a": 1}\n{"a": "' + b"x" * 40 + b'"}\n{"a": 3}\n'
    ranges = [one.records for one in cut(data, "x.jsonl", settings_of(), 8)]
    assert [one.spans for one in ranges] == [((0, 9),), ((9, 59),), ((59, 68),)]
    assert [one.before for one in ranges] == [0, 1, 2]


def test_a_break_inside_quotation_marks_ends_no_range():
    data = b'id,t\n1,"a\n\nb"\n2,c\n'
    ranges = [one.records for one in cut(data, "x.csv", settings_of(), 1)]
    assert [one.spans for one in ranges] == [((0, 14),), ((0, 5), (14, 18))]
    assert [data[one.spans[-1][0] : one.spans[-1][1]] for one in ranges][1] == b"2,c\n"


def test_the_second_of_an_id_is_called_so_in_whatever_range_it_is():
    data = b"".join(b'{"id": "%s", "t": "x"}\n' % name for name in (b"a", b"b", b"a", b"a (2)", b"a"))
    ranges = cut(data, "x.jsonl", settings_of(id="id"), 1)
    assert [one.names.to_pylist() for one in ranges] == [["a"], ["b"], ["a (2)"], ["a (2) (2)"], ["a (3)"]]
    assert [one.records.names for one in ranges] == [
        (),
        (),
        ((3, "a (2)"),),
        ((4, "a (2) (2)"),),
        ((5, "a (3)"),),
    ]


def test_seconds_of_an_id_within_a_range_follow_those_before_it():
    data = b"".join(b'{"id": "%s", "t": "x"}\n' % name for name in (b"a", b"bbbbbb", b"a", b"a (2)", b"a"))
    _, last = ranges = cut(data, "x.jsonl", settings_of(id="id"), 62)
    assert last.names.to_pylist() == ["a (2)", "a (2) (2)", "a (3)"]
    assert hold_equal(data, "x.jsonl", settings_of(id="id"), 62) == len(ranges)


def test_each_range_knows_that_somewhere_a_record_is_broken_whose_id_is_in_it():
    data = b'{"id": "a"}\n{"id": "b\n{"id": "c"}\n'
    assert [one.records.unsure for one in cut(data, "x.jsonl", settings_of(id="id"), 1)] == [True] * 3
    assert [one.records.unsure for one in cut(data, "x.jsonl", settings_of(), 1)] == [False] * 3


@pytest.mark.parametrize(
    ("data", "name", "encoding"),
    [
        ("{}\n{}\n".encode("utf-16"), "x.jsonl", None),
        ("{}\n{}\n".encode("utf-16-le"), "x.jsonl", "utf-16-le"),
        (b'"\xe9"\n"\xe8"\n', "x.jsonl", None),
        (b'{"a": "' + b"x" * MOST + b'"}\n{}\n', "x.jsonl", None),
        (b"\x1f\x8b\n{}\n", "x.jsonl", None),
        (b'a\n"b\nc\n', "x.csv", None),
        (b'a\n"b"c\nd\n', "x.csv", None),
        (b"a\n1\r2\n3\n", "x.csv", "utf-7"),
        (b"PAR1 is none PAR1", "x.parquet", None),
    ],
)
def test_what_cannot_be_cut_for_certain_is_left_whole(data, name, encoding):
    assert cut(data, name, settings_of(encoding), 1) == ()


def test_a_text_of_an_older_encoding_that_is_told_is_cut():
    data = '{"t": "\u00e9"}\n{"t": "\u00e8"}\n'.encode("cp1252")
    assert hold_equal(data, "x.jsonl", settings_of(encoding="cp1252"), 1) == 2


@pytest.mark.parametrize(
    ("name", "documents", "cut_it"),
    [
        ("a.jsonl", "auto", True),
        ("a.NDJSON", "auto", True),
        ("a.parquet", "auto", True),
        ("a.csv", "auto", False),
        ("a.csv", "record", True),
        ("a.tsv", "record", True),
        ("a.jsonl", "file", False),
        ("a.json", "record", False),
        ("a.jsonl.gz", "auto", False),
        ("a.md", "record", False),
    ],
)
def test_lines_rows_and_row_groups_are_cut_where_each_is_a_document(name, documents, cut_it):
    assert may_be_cut(name, settings_of(documents=documents)) is cut_it
