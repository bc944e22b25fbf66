"""Terms of pieces of text: words, identifiers whole and in parts, folded and stemmed, in any script."""

from __future__ import annotations

import hashlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.sparse import analysis
from transforms.sparse.analysis import Analyzer, folded, parts_of, pieces_of, script_of
from transforms.sparse.settings import BM25Settings
from transforms.sparse.vocabulary import PIECES_HELD, Vocabulary, term_id

DEFAULT = Analyzer(BM25Settings().languages, ())


def terms(piece, analyzer=DEFAULT):
    return list(analyzer.terms(piece))


@pytest.mark.parametrize(
    ("piece", "found"),
    [
        ("Pumps", ["pump"]),
        ("running,", ["run"]),
        ("P-101", ["p-101", "101"]),
        ("P-101's", ["p-101", "101"]),
        ("P-101/P-102", ["p-101", "101", "p-102", "102"]),
        ("max_pool_size", ["max_pool_size", "max", "pool", "size"]),
        (
            "config.max_pool_size",
            ["config.max_pool_size", "config", "max_pool_size", "max", "pool", "size"],
        ),
        ("0x80", ["0x80", "80"]),
        ("v2.3.1", ["v2.3.1", "2.3.1"]),
        ("1,000.50", ["1,000.50"]),
        ("3.5mm", ["3.5mm", "3.5", "mm"]),
        ("camelCase", ["camelcas", "camel", "case"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("PDFs", ["pdf"]),
        ("__init__", ["__init__", "init"]),
        ("--dry-run", ["dry-run", "dri", "run"]),
        ("std::vector<int>", ["std", "vector", "int"]),
        ("C++", ["c++"]),
        ("(C#)", ["c#"]),
        ("user@example.com", ["user@example.com", "user", "exampl", "com"]),
        ("l'eau", ["l'eau", "eau"]),
        ("pump's", ["pump"]),
        ("don’t", ["don't", "don"]),
        ("P-101\u200e", ["p-101", "101"]),
        ("\u2068P-101\u2069", ["p-101", "101"]),
        ("\ufeffmax_pool\u200f", ["max_pool", "max", "pool"]),
        ("שלום\u200f", ["שלום"]),
        ("\u0301", []),
        ("\u0640\u0640", []),
        ("—", []),
        ("", []),
    ],
)
def test_a_name_is_a_term_as_a_whole_and_in_parts(piece, found):
    assert terms(piece) == found


@pytest.mark.parametrize(
    ("piece", "found"),
    [
        ("naïve", ["naiv"]),
        ("Straße", ["strass"]),
        ("STRASSE", ["strass"]),
        ("Øre", ["ore"]),
        ("ﬁle", ["file"]),
        ("co\u00adoper\u00adate", ["cooper"]),
        ("насосов", ["насос"]),
        ("насосы", ["насос"]),
        ("αντλίες", ["αντλι"]),
        ("الكتاب", ["كتاب"]),
        ("كِتَاب", ["كتاب"]),
        ("הַשָּׁלוֹם", ["השלום"]),
        ("東京タワーへ", ["東京", "京タ", "タワ", "ワー", "ーへ"]),
        ("ｶﾀｶﾅ", ["カタ", "タカ", "カナ"]),
        ("がぎ", ["がぎ"]),
        ("서울에서", ["서울", "울에", "에서"]),
        ("水", ["水"]),
        ("型番P-101を", ["型番", "p-101", "101", "を"]),
    ],
)
def test_case_and_accents_are_folded_and_each_script_is_read_as_it_is_written(piece, found):
    assert terms(piece) == found


def test_an_identifier_is_found_by_its_parts_and_a_word_by_another_form_of_it():
    assert {*terms("max_pool_size")} >= {*terms("pool"), *terms("sizes")}
    assert {*terms("v2.3.1")} >= {*terms("2.3.1")}
    assert {*terms("installations")} == {*terms("INSTALLATION")} == {*terms("install")}


def test_a_word_is_stemmed_for_every_language_of_its_script_and_found_by_any_of_the_stems():
    both = Analyzer(("english", "german"), ())
    assert terms("Wartungen", both) == ["wartung", "wartungen"]
    assert terms("Wartung", both) == ["wartung"]
    assert terms("pumps", both) == ["pump", "pumps"]
    assert terms("pump", both) == ["pump"]
    assert terms("насосы", both) == ["насосы"]
    assert terms("Pumps", Analyzer((), ())) == ["pumps"]


def test_stop_words_are_left_out_however_they_are_written_and_not_inside_a_name():
    analyzer = Analyzer(("english",), ("The", "über"))
    assert terms("THE", analyzer) == terms("uber", analyzer) == []
    assert terms("the-end", analyzer) == ["the-end", "the", "end"]


def test_of_a_checksum_only_the_whole_is_a_term():
    digest = "a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6"
    assert terms(digest) == [digest]
    assert parts_of("a1b2") == []
    assert parts_of("ab12cd34") == ["ab", "12", "cd", "34"]


def test_a_script_is_that_of_all_letters():
    assert [script_of(word) for word in ("pump", "naïve", "насос", "p1", "pumpнасос", "'", "κ'α")] == [
        "Latin", "Latin", "Cyrillic", "", "", "", "Greek"
    ]  # fmt: skip
    assert folded("Ǻrø".casefold()) == "aro"


PIECES = st.text(
    st.sampled_from("aBéß1.,-_'’+#@:/(жЖ東がคั้ ِّ²Ⅳ\u0301") | st.characters(codec="utf-8"), max_size=12
).filter(lambda text: not any(map(str.isspace, text)))


@given(
    PIECES,
    st.text(st.sampled_from(analysis._SIGNS_AROUND), max_size=3),
    st.text(st.sampled_from(analysis._SIGNS_AROUND), max_size=3),
)
def test_signs_around_a_piece_make_no_difference(piece, before, after):
    bare = piece.strip(analysis._SIGNS_AROUND)
    assert terms(before + bare + after) == terms(bare)


@given(st.text(st.sampled_from("aBcé1_.,:;'-@&+#/") | st.characters(max_codepoint=127), max_size=12))
def test_ascii_is_read_as_all_other_text_is(piece):
    bare = "".join(sign for sign in piece if sign.isascii() and not sign.isspace())
    assert analysis._ASCII_NAME.findall(bare) == analysis._NAME.findall(bare)
    assert analysis._ASCII_PART.findall(bare) == analysis._PART.findall(bare)
    assert analysis._WORDS_OF_ASCII_PART.findall(bare) == analysis._WORDS_OF_PART.findall(bare)


@given(PIECES)
def test_a_term_is_never_empty_and_has_no_white_space_and_no_capital_in_it(piece):
    for term in terms(piece):
        assert term
        assert not any(map(str.isspace, term))
        assert term.casefold() == term or not term.isascii()


@given(st.lists(PIECES, max_size=6))
def test_the_terms_of_a_text_are_those_of_its_pieces(pieces):
    vocabulary = Vocabulary(BM25Settings().languages, ())
    wanted = [term_id(term) for piece in pieces for term in terms(piece)]
    assert vocabulary.ids(" ".join(pieces)) == wanted
    assert vocabulary.ids("\n\t".join(pieces)) == wanted


@given(
    st.text(st.sampled_from("aBcC1_.,:;'-@&+#/()[]=<>\"!?*~\\|^%$`{} \t\n") | st.characters(), max_size=30)
)
def test_the_pieces_of_a_text_have_the_terms_of_what_stands_between_its_spaces(text):
    wanted = [term for between in text.split() for term in terms(between)]
    assert [term for piece in pieces_of(text) for term in terms(piece)] == wanted


def test_ids_are_the_same_everywhere_and_for_good():
    found = [term_id(term) for term in ("pump", "p-101", "東京", "")]
    assert found == [3472227037, 1667844202, 3212411323, 1495290636]


PARTS = (
    "pump Pumps VALVE http HTTP Server max pool size running 1 42 2.3.1 1,000.50 0x80 v2 e é Straße Öl naïve насосы "
    "αντλίες الكتاب 東京タワー 서울에서 ภาษาไทย ﬁle ｶﾀｶﾅ don't l'eau C++ C# ² \u0301 \u200e"
)
JOINTS = ["", *"_-.,:'’/@#+()\"=\u00ad— \n"]


def test_the_ids_of_made_up_names_numbers_and_scripts_are_those_of_the_first_version():
    """The digest is that of its code: another one needs another ``VERSION``, and all tables their rows anew."""
    some, parts = random.Random(11), PARTS.split()
    texts = [
        "".join(some.choice(parts) + some.choice(JOINTS) for _ in range(some.randint(1, 12)))
        for _ in range(500)
    ]
    digest = hashlib.sha256()
    for stop_words in ((), ("the", "pump", "über", "東京")):
        for languages in (BM25Settings().languages, ("english", "german", "turkish"), ()):
            vocabulary = Vocabulary(languages, stop_words)
            digest.update(repr([vocabulary.ids(text) for text in texts]).encode())
    assert analysis.VERSION == 1
    assert digest.hexdigest() == "f867b403a31705d81be88c25b97b17e0b2220c38544802455161e79e0bf885cc"


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr("transforms.sparse.vocabulary.PIECES_HELD", 3)
    vocabulary = Vocabulary(("english",), ())
    text = " ".join(f"word{n}" for n in range(10))
    assert vocabulary.ids(text) == vocabulary.ids(text)
    assert len(vocabulary._pieces) <= 3
    assert PIECES_HELD == 2**17
