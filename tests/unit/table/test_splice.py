"""Rows that stay and rows that come, put together in the order of the table."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from transforms.table.splice import spliced


def table(*docs):
    rows = [(doc, place) for doc, count in docs for place in range(count)]
    return pa.table(
        {
            "doc_id": pa.array([doc for doc, _ in rows], pa.string()),
            "chunk_index": pa.array([place for _, place in rows], pa.int32()),
        }
    )


def rows(found):
    return list(zip(found["doc_id"].to_pylist(), found["chunk_index"].to_pylist(), strict=True))


def test_new_documents_come_between_those_that_stay():
    old = table(("a", 2), ("b", 1), ("d", 1))
    found = spliced(old, {"a", "d"}, table(("c", 2), ("b", 1)))
    assert rows(found) == [("a", 0), ("a", 1), ("b", 0), ("c", 0), ("c", 1), ("d", 0)]


def test_nothing_stays_and_nothing_comes():
    assert rows(spliced(table(("a", 1)), set(), table())) == []


_DOCS = st.dictionaries(
    st.text("ab\u00e9\U0001f600", min_size=1, max_size=3), st.integers(1, 3), max_size=8
)


@given(_DOCS, _DOCS, st.data())
def test_the_rows_are_those_that_gathering_and_sorting_give(old, new, data):
    kept = {doc for doc in old if doc not in new and data.draw(st.booleans())}
    found = spliced(table(*old.items()), kept, table(*new.items()))
    both = [table(*((doc, count) for doc, count in old.items() if doc in kept)), table(*new.items())]
    expected = pa.concat_tables(both).sort_by([("doc_id", "ascending"), ("chunk_index", "ascending")])
    assert rows(found) == rows(expected)
