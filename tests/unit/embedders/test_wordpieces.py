"""Tokens counted word by word are those of the whole text."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from transforms.embedders import wordpieces
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import StaticSettings
from transforms.embedders.wordpieces import TokenizerCounter

TEXT = st.text(st.sampled_from("ab Z.\n\t\u00e9e\u0301\u03a3\u4e2d\u200b'-12\u2028\r"), max_size=60)


def tokenizer():
    return make_embedder(StaticSettings()).counter._tokenizer


@given(TEXT)
@settings(max_examples=300)
def test_cutting_word_by_word_gives_the_pieces_of_the_whole_text(text):
    whole = tokenizer().encode(text, add_special_tokens=False)
    pieces = wordpieces.WordPieces(tokenizer())
    assert next(pieces.ids([text])).tolist() == whole.ids
    assert pieces.counts([text, text]) == [len(whole.ids)] * 2
    assert list(map(tuple, pieces.spans(text).tolist())) == whole.offsets


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(wordpieces, "WORDS_HELD", 20)
    pieces = wordpieces.WordPieces(tokenizer())
    for n in range(200):
        assert len(next(pieces.ids([f"line {n}\nand another"]))) > 3
    assert len(pieces._ids) < 50


def test_a_tokenizer_to_which_line_breaks_are_tokens_counts_them():
    tokenizer = Tokenizer(WordLevel({"a": 0, "\n": 1, "?": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = Split("", "isolated")
    assert TokenizerCounter("own", tokenizer).count(["a\na\n", "aa"]) == [4, 2]
