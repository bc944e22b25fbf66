"""What settings do that no strategy has to itself: counters, budgets, embedders, templates, vocabularies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from transforms.chunkers import counters
from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.counters import ENCODINGS, BytePairs, Estimate, size_counter
from transforms.chunkers.settings import ChunkSettings
from transforms.chunkers.vocabulary import with_vocabulary
from transforms.embedders.hashed import CharCounter
from transforms.embedders.protocol import PlacesTokens
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import StaticSettings
from transforms.model.chunk import Chunk
from transforms.model.document import Document
from transforms.model.errors import ConfigError
from transforms.structure.blocks import parse_blocks

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa"


def cut(text: str, max_tokens: int | None = None, embed=None, **keys) -> list[Chunk]:
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1", title="T")
    keys = {"overlap": {"size": 0}, **keys}
    chosen = ChunkSettings.model_validate(keys)
    return chunk_document(document, "a.md", chosen, CharCounter(), max_tokens, embed)


def texts(*given, **more) -> list[str]:
    return [chunk.text for chunk in cut(*given, **more)]


def size(target: int, **more) -> dict:
    return {"unit": "tokens", "target": target, "max": target, "min_fill": 0, **more}


@pytest.fixture
def word_tokenizer(tmp_path: Path) -> Path:
    tokenizer = Tokenizer(WordLevel({"?": 0}, unk_token="?"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "words.json"))
    return tmp_path / "words.json"


def test_sizes_are_counted_by_the_counter_and_the_model_s_input_by_the_model(word_tokenizer) -> None:
    chunks = cut(WORDS, size=size(4, counter=str(word_tokenizer)))
    assert [chunk.text.strip() for chunk in chunks] == [
        "alpha beta gamma delta", "epsilon zeta eta theta", "iota kappa",
    ]  # fmt: skip
    assert [chunk.tokens for chunk in chunks] == [4, 4, 2]
    assert chunks[0].counter.startswith("words-")
    assert chunks[0].embed_tokens == -(-len("T\nalpha beta gamma delta ") // 4)
    held = cut(WORDS, 5, size=size(4, counter=str(word_tokenizer)))
    assert max(chunk.embed_tokens for chunk in held) <= 5


def test_an_estimate_counts_so_many_characters_a_token() -> None:
    assert Estimate(2.8).count(["", "a", "abc", "x" * 28]) == [0, 1, 2, 10]
    assert Estimate(2.8).offsets("abcdefg") == [(0, 3), (3, 6), (6, 7)]
    chunks = cut(WORDS, size=size(8, counter="chars/2.8"))
    assert {chunk.counter for chunk in chunks} == {"chars/2.8"}
    assert max(len(chunk.text) for chunk in chunks) <= 22


def test_encodings_of_openai_count_and_place_their_tokens() -> None:
    pytest.importorskip("bpe_openai", reason="needs the extra tiktoken")
    counter = BytePairs("cl100k_base")
    assert counter.count(["hello world", "<|endoftext|>"]) == [2, 7]
    assert counter.offsets("hello world") == [(0, 5), (5, 11)]
    chunks = cut(WORDS, size=size(5, counter="o200k_base"))
    assert max(chunk.tokens for chunk in chunks) <= 5
    assert {chunk.counter for chunk in chunks} == {"o200k_base"}


@given(st.text(max_size=40))
@settings(max_examples=60, deadline=None)
def test_the_tokens_of_an_encoding_begin_in_order_inside_the_text(text) -> None:
    pytest.importorskip("bpe_openai", reason="needs the extra tiktoken")
    counter = BytePairs("cl100k_base")
    starts = counter.starts(text)
    assert len(starts) == counter.count([text])[0]
    assert starts == sorted(starts)
    assert all(0 <= start <= len(text) for start in starts)


def test_a_text_of_any_length_is_encoded(monkeypatch) -> None:
    pytest.importorskip("bpe_openai", reason="needs the extra tiktoken")
    counter = BytePairs("cl100k_base")
    text = "A line of words.\nAnother one, longer.\n" * 20
    whole = counter.starts(text)
    monkeypatch.setattr(counters, "_AT_ONCE", 50)
    assert counter.starts(text) == whole
    assert counter.count(["x" * 120]) >= [15]


@given(st.text(st.sampled_from("ab unbelievable Z.\n\t\u00e9\u4e2d-12"), max_size=60))
@settings(max_examples=60, deadline=None)
def test_the_pieces_of_each_word_begin_in_it(text) -> None:
    counter = make_embedder(StaticSettings()).counter
    assert isinstance(counter, PlacesTokens)
    words = [len(text[:start].replace("\n", " ").split(" ")) for start, _ in counter.offsets(text)]
    assert [len(text[:start].replace("\n", " ").split(" ")) for start in counter.starts(text)] == words


def test_every_encoding_named_is_there() -> None:
    pytest.importorskip("bpe_openai", reason="needs the extra tiktoken")
    assert all(size_counter(name, CharCounter()).count(["a b"]) == [2] for name in ENCODINGS)


@pytest.mark.parametrize(
    "keys", [{"counter": "nothing"}, {"counter": "chars/0"}, {"unit": "chars", "counter": "chars/4"}]
)
def test_a_counter_that_is_none_is_refused(keys) -> None:
    with pytest.raises(ValidationError, match="counter"):
        ChunkSettings.model_validate({"size": {"unit": "tokens", **keys}})


def test_a_tokenizer_s_file_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        cut(WORDS, size=size(4, counter=str(tmp_path / "missing.json")))
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"bad\.json is no tokenizer\.json"):
        cut(WORDS, size=size(4, counter=str(tmp_path / "bad.json")))


def test_the_overlap_can_have_a_unit_of_its_own(word_tokenizer) -> None:
    chars = {"target": 24, "max": 24, "min_fill": 0}
    by_chars = cut(WORDS, size=chars, overlap={"size": 8})
    by_tokens = cut(WORDS, size=chars, overlap={"size": 3, "unit": "tokens"})
    assert [chunk.embed_text.split("\n")[1] for chunk in (by_chars[1], by_tokens[1])] == [
        "delta",
        "gamma delta",
    ]
    by_words = cut(WORDS, size=size(4, counter=str(word_tokenizer)), overlap={"size": 6, "unit": "chars"})
    assert by_words[1].embed_text.split("\n")[1] == "delta"


def test_a_budget_of_tokens_under_the_model_s_input_holds_for_all_that_is_embedded() -> None:
    chunks = cut(
        WORDS * 3, 500, compose={"max_tokens": 12}, size={"target": 60, "max": 60}, overlap={"size": 20}
    )
    assert max(chunk.embed_tokens for chunk in chunks) <= 12
    assert "".join(chunk.text for chunk in chunks) == WORDS * 3


def test_context_that_was_shortened_or_left_out_says_so() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve thirteen"
    lengths = set()
    for budget in range(7, 15):
        for chunk in cut(text, budget, size={"target": 35, "max": 40}, overlap={"size": 17}):
            context = ""
            if chunk.context_start is not None:
                context = text[chunk.context_start : chunk.context_end] + "\n"
            assert chunk.embed_text in (f"T\n{context}{chunk.text}", chunk.text)
            lengths.add(len(context))
    assert lengths > {0, 4}


def test_sentences_are_told_by_the_settings() -> None:
    text = "It holds acc. Reg. Two now. And so on it goes."
    found = {"size": {"target": 20, "max": 30, "min_fill": 0}, "overlap": {"size": 0}}
    assert texts(text, **found)[0] == "It holds acc. Reg. "
    assert texts(text, **found, sentences={"abbreviations": ["acc.", "Reg."]})[0] == "It holds acc. Reg. "
    assert texts(text, **found | {"size": {"target": 30, "max": 30, "min_fill": 0}},
                 sentences={"abbreviations": ["acc", "Reg."]})[0] == "It holds acc. Reg. Two now. "  # fmt: skip


ROWS = "# Prices\n\n| Item | Price | Note |\n|---|---|---|\n| Rope | 5 | a \\| b |\n| Hook | 7 | |"


def test_a_template_says_what_is_embedded_for_a_row() -> None:
    keys = {"strategy": "records", "records": {"template": "{Item} costs {Price} euros. {Note}"}}
    first, second = cut(ROWS, **keys)
    assert first.embed_text == "T\nRope costs 5 euros. a | b"
    assert second.text == "| Hook | 7 | |"
    assert second.embed_text == "T\nPrices\nHook costs 7 euros. "


def test_a_template_leaves_alone_what_has_not_its_columns_or_no_room() -> None:
    keys = {"strategy": "records", "records": {"template": "{Colour}"}}
    assert [chunk.embed_text for chunk in cut(ROWS, **keys)] == [
        chunk.embed_text for chunk in cut(ROWS, strategy="records")
    ]
    long = {"strategy": "records", "records": {"template": "{Item} costs " + "very " * 40 + "little"}}
    last = cut(ROWS, 10, **long)[-1]
    assert (last.embed_text, last.warnings) == ("T\nPrices\n| Hook | 7 | |", ("budget_cut",))
    assert cut("Text.", **keys)[0].embed_text == "T\nText."
    with pytest.raises(ValidationError, match="names no"):
        ChunkSettings.model_validate({"records": {"template": "all the same"}})


def test_a_vocabulary_can_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "tags.txt"
    file.write_text("# pumps\nP-101\n\nP-102\n", encoding="utf-8")
    given = ChunkSettings.model_validate({"entities": {"vocabulary": str(file)}})
    read = with_vocabulary(given)
    assert read.entities is not None
    assert read.entities.vocabulary == ("P-101", "P-102")
    assert with_vocabulary(read) is read
    with pytest.raises(ConfigError, match="has not been read"):
        cut("P-101", entities={"vocabulary": str(file)})
    file.write_text("P-101\np 101\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="one name"):
        with_vocabulary(given)
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="UTF-8"):
        with_vocabulary(given)
    file.unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        with_vocabulary(given)


@pytest.mark.parametrize(
    ("fold", "found"),
    [(["case", "hyphens", "spaces"], 4), (["case"], 2), (["hyphens"], 2), ([], 1), (["case", "spaces"], 3)],
)  # fmt: skip
def test_what_makes_no_difference_in_a_name_is_a_setting(fold, found) -> None:
    spellings = ["P-101", "p-101", "P\u2011101", "P 101"]
    chunks = [cut(text, entities={"vocabulary": ["P-101"], "fold": fold}) for text in spellings]
    assert sum(bool(chunk.entity_mentions) for (chunk,) in chunks) == found


@pytest.mark.parametrize(("link", "wanted"), [("single", None), ("first", "P-2"), ("none", None)])
def test_which_mention_is_the_link_is_a_setting(link, wanted) -> None:
    (chunk,) = cut("P-2 and P-1", entities={"vocabulary": ["P-1", "P-2"], "link": link})
    assert (chunk.entity_mentions, chunk.entity_id) == (("P-2", "P-1"), wanted)


def test_the_separators_of_rag_can_be_given() -> None:
    keys = {"compat": "rag", "size": {"target": 10, "max": 10}, "overlap": {"size": 0}}
    embed = lambda found: np.ones((len(found), 2), dtype=np.float32)  # noqa: E731
    assert texts("aa bb. cc dd. ee", embed=embed, **keys, breaks=[". ", "word", "grapheme"]) == [
        "aa bb", ". cc dd", ". ee",
    ]  # fmt: skip
    assert texts("aa bb, cc dd", embed=embed, **keys, breaks=["line"]) == ["aa bb, cc dd"]
    assert texts("aa bb, cc dd", embed=embed, **keys) == ["aa bb, cc", "dd"]


def test_recursive_cuts_at_graphemes_where_the_list_says_so() -> None:
    keys = {"strategy": "recursive", "size": {"target": 6, "max": 6, "min_fill": 0}}
    assert texts("aaaa bbbb", breaks=["grapheme", "word"], **keys) == ["aaaa b", "bbb"]


def test_the_settings_survive_json() -> None:
    chosen = ChunkSettings.model_validate(
        {"semantic": {"embedder": {"kind": "hash"}}, "entities": {"vocabulary": ["P-1"]}, "compat": "rag"}
    )
    assert ChunkSettings.model_validate(json.loads(chosen.model_dump_json(by_alias=True))) == chosen
