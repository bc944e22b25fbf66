"""Which columns go along to a store, and what they are called there."""

import pyarrow as pa
import pytest

from transforms.loaders.mapping import SPARSE_COLUMNS, check_columns, fields_of, id_and_vector
from transforms.loaders.protocol import Field
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import ConfigError
from transforms.table.schema import CHUNKS


def test_columns_have_the_names_and_the_order_of_the_mapping():
    columns = {"text": "body", "chunk_index": "chunk_index", "embedding": "vec"}
    assert fields_of(columns) == (
        Field("body", "text", pa.string()),
        Field("chunk_index", "chunk_index", pa.int32()),
    )
    assert id_and_vector(columns) == ("chunk_id", "vec")


def test_a_star_is_all_columns_but_those_of_the_sparse_vector():
    names = [field.name for field in fields_of({"*": "*"})]
    assert names == [
        name for name in CHUNKS.names if name not in ("chunk_id", "embedding", *SPARSE_COLUMNS)
    ]


def test_a_list_of_columns_keeps_their_names():
    assert LoadSettings(to="duckdb:x", columns=["text"]).columns == {"text": "text"}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"titel": "t"}, "the chunk table has no column titel"),
        ({"doc_titel": "t"}, "no column doc_titel; did you mean doc_title?"),
        ({"text": "a", "doc_id": "a"}, "2 columns would be called a"),
        ({"text": "embedding"}, "2 columns would be called embedding"),
        ({"text": " "}, "' ' is no name of a column"),
        ({"*": "*", "text": "a"}, "`\\*` stands for all columns"),
        (
            {"sparse_values": "a"},
            "sparse_values is half of the sparse vector; `sparse` says how that goes along",
        ),
    ],
)
def test_a_mapping_that_cannot_be_is_refused(columns, message):
    with pytest.raises(ConfigError, match=message):
        check_columns(columns)


@pytest.mark.parametrize("name", ["words", "words_indices", "words_values"])
def test_no_column_has_the_name_of_the_sparse_vector_or_of_its_lists(name):
    check_columns({"text": name})
    with pytest.raises(ConfigError, match=f"2 columns would be called {name}"):
        check_columns({"text": name}, "words")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"to": "nowhere"}, "is no address of a store"),
        ({"to": "duckdb:x", "filter": ["a=1"]}, "has no column a to filter by"),
        ({"to": "duckdb:x", "columns": ["a"]}, "has no column a"),
        ({"to": "duckdb:x", "switch": True}, "`switch` needs `into`"),
        ({"to": "duckdb:x#a", "into": "a", "switch": True}, "`switch` needs `into`"),
        ({"to": "duckdb:x", "batches": 1}, "batches"),
        ({"to": "duckdb:x", "columns": {"text": "sparse"}}, "2 columns would be called sparse"),
    ],
)
def test_settings_are_checked_whole(settings, message):
    with pytest.raises(ValueError, match=message):
        LoadSettings(**settings)
