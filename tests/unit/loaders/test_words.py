"""What a collection gets of what the table has, by store and settings."""

import pytest

from transforms.loaders.protocol import Limits
from transforms.loaders.settings import LoadSettings
from transforms.loaders.words import Words, words_of
from transforms.model.errors import ConfigError

TAKES = Limits(sparse=True, full_text="index")
INDEX = Limits(full_text="index")
ALWAYS = Limits(full_text="always")
NEITHER = Limits()
NOTHING = Words(None, "", None, "")
LEFT = "The sparse vectors were left out, because Store takes none"


def found(limits, encoder="bm25@1", **settings):
    return words_of(LoadSettings(to="duckdb:x", **settings), encoder, limits, "Store")


def test_a_store_that_takes_sparse_vectors_gets_them_and_no_index_of_words():
    assert found(TAKES) == Words("sparse", "bm25@1", None, "")
    assert found(TAKES, sparse="words", full_text=True) == Words("words", "bm25@1", "text", "")


def test_a_store_that_takes_none_gets_an_index_of_words_in_their_place():
    said = f"{LEFT}; its index of words over body is in their place."
    assert found(INDEX, columns={"text": "body"}) == Words(None, "", "body", said)
    assert found(INDEX, columns=["*"]).full_text == "text"


def test_what_is_left_out_is_said():
    assert found(NEITHER) == Words(None, "", None, f"{LEFT}.")
    assert found(ALWAYS) == Words(None, "", None, f"{LEFT}; it finds texts by words itself.")
    assert found(INDEX, columns=["doc_id"]) == Words(None, "", None, f"{LEFT}.")
    assert found(INDEX, full_text=False) == Words(None, "", None, f"{LEFT}.")


@pytest.mark.parametrize("limits", [TAKES, INDEX, ALWAYS, NEITHER])
def test_what_is_not_wished_is_neither_taken_nor_said(limits):
    assert found(limits, sparse=None) == NOTHING
    assert found(limits, encoder=None) == NOTHING
    assert found(limits, encoder=None, sparse="sparse") == NOTHING


def test_an_index_of_words_can_be_had_without_sparse_vectors():
    assert found(INDEX, encoder=None, full_text=True) == Words(None, "", "text", "")
    assert found(ALWAYS, encoder=None, full_text=True) == NOTHING


def test_what_is_asked_for_by_name_and_does_not_go_is_refused():
    with pytest.raises(
        ConfigError, match="Store takes no sparse vectors: leave `sparse` out of the settings"
    ):
        found(INDEX, sparse="sparse")
    with pytest.raises(ConfigError, match="Store has no index of words"):
        found(NEITHER, full_text=True)
    with pytest.raises(ConfigError, match="`full_text` needs the column text"):
        found(TAKES, full_text=True, columns=["doc_id"])
