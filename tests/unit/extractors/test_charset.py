"""Which encoding a text is read in."""

import codecs

import pytest
from pydantic import ValidationError

from transforms.extractors.charset import decode
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import RejectedError

RUSSIAN = "Съешь же ещё этих мягких французских булок да выпей чаю."
JAPANESE = "本日は晴天なり。東京都の天気は晴れ、気温は二十度です。"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve".encode(), "naïve"),
        (codecs.BOM_UTF8 + b"a", "a"),
        (codecs.BOM_UTF16_LE + "aé".encode("utf-16-le"), "aé"),
        (codecs.BOM_UTF32_BE + "aé".encode("utf-32-be"), "aé"),
        ("# -*- coding: koi8-r -*-\nПознание".encode("koi8_r"), "# -*- coding: koi8-r -*-\nПознание"),
        ('<meta charset="iso-8859-1">15 €'.encode("cp1252"), '<meta charset="iso-8859-1">15 €'),
        ('<meta charset="shift_jis">髙橋'.encode("cp932"), '<meta charset="shift_jis">髙橋'),
        (JAPANESE.encode("iso2022_jp"), JAPANESE),
    ],
)
def test_what_is_marked_or_declared_is_read_without_a_warning(data: bytes, text: str) -> None:
    assert decode(data) == (text, ())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Der Käse schmeckt schön, sagte er – “naja”.", "cp1252"),
        ("El niño comió una manzana. ¿Qué? ¡Qué rico!", "cp1252"),
        ("Ação e reação são iguais", "cp1252"),
        ("15 m³ à 20 €, s’il vous plaît", "cp1252"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy", "cp1250"),
        ("Zażółć gęślą jaźń, dzisiaj jest ładna pogoda", "cp1250"),
        ("Zażółć gęślą jaźń, dzisiaj jest ładna pogoda", "iso8859_2"),
        ("Są to ładne rzeczy i żółte kółka", "cp1250"),
        ("Bugün hava çok güzel, şarkı söylüyoruz", "cp1254"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "cp866"),
        (RUSSIAN, "koi8_r"),
        (JAPANESE, "cp932"),
        ("今天天气很好，我们去公园散步吧。北京是中国的首都。", "gb18030"),
        ("오늘은 날씨가 좋아서 공원에 산책하러 갑니다.", "cp949"),
        ("Η γρήγορη καφέ αλεπού πηδάει πάνω από το σκυλί", "cp1253"),
        ("Plain letters in wide characters", "utf-16-le"),
        (JAPANESE, "utf-16-le"),
        (JAPANESE, "utf-16-be"),
        ("今天天气很好，我们去公园散步吧。北京是中国的首都。\n", "utf-16-le"),
        ("오늘은 날씨가 좋아서 공원에 산책하러 갑니다.", "utf-16-le"),
        ("今天天氣很好，我們去公園散步吧。台北是一個大城市。", "big5hkscs"),
    ],
)
def test_a_guess_is_marked_as_one(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == (text, (f"charset_guessed:{encoding}",))


def test_a_page_may_declare_its_encoding_behind_long_scripts() -> None:
    page = "<html><script>" + "x=1;" * 2000 + '</script><meta charset="iso-8859-2"><p>Zażółć gęślą jaźń'
    assert decode(page.encode("iso8859_2")) == (page, ())
    text = "a text, " * 1000 + '<meta charset="iso-8859-2">' + "é"
    assert decode(text.encode("cp1252")) == (text, ("charset_guessed:cp1252",))


def test_a_declaration_that_the_bytes_contradict_is_passed_over() -> None:
    text = '<meta charset="utf-8">في قرية من القرى كان هناك رجل حكيم يعرف كل شيء'
    assert decode(text.encode("cp1256")) == (
        text,
        ("charset_declared_wrong:utf-8", "charset_guessed:cp1256"),
    )


def test_the_configured_encoding_wins_over_everything() -> None:
    assert decode("µ".encode(), "cp1252") == ("Âµ", ())


def test_bytes_that_the_configured_encoding_does_not_read_are_refused_with_the_place() -> None:
    with pytest.raises(RejectedError) as refused:
        decode(b"ok \xff", "utf-8")
    assert refused.value.reason == "wrong_charset"
    assert "at byte 3" in refused.value.detail


def test_bytes_that_are_no_text_are_refused_as_binary() -> None:
    with pytest.raises(RejectedError) as refused:
        decode(bytes(range(32)) * 50)
    assert refused.value.reason == "unsupported_type"


GERMAN = "Größe und Übermaß sind für Prüfungen wichtig. " * 20


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (GERMAN.encode() + b"\xff" + GERMAN.encode(), f"{GERMAN}\ufffd{GERMAN}"),
        ("これは日本語".encode()[:-1], "これは日本\ufffd"),
        ("Größe, größer".encode()[:-1] + b"\xc3", "Größe, größe\ufffd"),
        (b"caf\xc3\xa9 \xed\xa0\xbd\xed\xb8\x80", "café \ud83d\ude00"),
    ],
)
def test_a_fault_in_utf8_costs_its_own_bytes_and_no_more(data: bytes, text: str) -> None:
    assert decode(data) == (text, ("charset_damaged:utf-8",))


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (codecs.BOM_UTF8 + "Größe ".encode() + b"\xff", "Größe \ufffd", "utf-8"),
        (codecs.BOM_UTF8 + b"caf\xe9 au lait", "caf\ufffd au lait", "utf-8"),
        (codecs.BOM_UTF16_LE + "Größe".encode("utf-16-le") + b"a", "Größe\ufffd", "utf-16"),
        (codecs.BOM_UTF16_BE + "Größe".encode("utf-16-be") + b"\0", "Größe\ufffd", "utf-16"),
    ],
)
def test_a_fault_behind_a_mark_is_replaced_and_named(data: bytes, text: str, encoding: str) -> None:
    assert decode(data) == (text, (f"charset_damaged:{encoding}",))


def test_utf16_without_a_mark_may_end_in_half_a_character() -> None:
    assert decode("Plain letters".encode("utf-16-le") + b"a") == (
        "Plain letters\ufffd",
        ("charset_guessed:utf-16-le", "charset_damaged:utf-16-le"),
    )


def test_a_mark_before_bytes_that_are_nothing_of_the_kind_does_not_make_them_text() -> None:
    with pytest.raises(RejectedError) as refused:
        decode(codecs.BOM_UTF8 + bytes(range(0x80, 0x100)))
    assert refused.value.reason == "wrong_charset"


def test_ascii_with_nuls_in_it_is_no_utf16() -> None:
    for data in (b"word\0word " * 20, b"abc\0def\0\n hello world\n"):
        assert decode(data) == (data.decode(), ())


@pytest.mark.parametrize("text", ["Größe: eins\0 zwei\n" * 500, "Привет\0\n" * 100])
def test_utf8_with_nuls_in_it_is_no_utf16(text: str) -> None:
    assert decode(text.encode()) == (text, ())
    assert decode(text.encode() + b"\xff") == (f"{text}\ufffd", ("charset_damaged:utf-8",))


def test_utf16_with_typographic_quotes_is_utf16() -> None:
    text = "\u201cIt\u2019s\u201d \u2014 said \u2018he\u2019 \u2026 " * 9
    assert decode(text.encode("utf-16-le")) == (text, ("charset_guessed:utf-16-le",))


@pytest.mark.parametrize("name", ["base64", "rot13", "undefined", "no-such"])
def test_a_codec_that_reads_no_text_is_refused_as_an_encoding(name: str) -> None:
    with pytest.raises(ValidationError, match="is no encoding of text that Python knows"):
        ExtractSettings(encoding=name)


@pytest.mark.parametrize("name", ["cp1252", "utf-16", "utf-8-sig", "shift_jis", "cp500"])
def test_encodings_of_text_pass(name: str) -> None:
    assert ExtractSettings(encoding=name).encoding == name


@pytest.mark.parametrize(
    ("name", "encoding", "text"),
    [
        ("x-sjis", "cp932", "\u3053\u3093\u306b\u3061\u306f\u2460"),
        ("windows-31j", "cp932", "\u3053\u3093\u306b\u3061\u306f\u2460"),
        ("iso-8859-8-i", "cp1255", "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd"),
        ("x-gbk", "gbk", "\u4e2d\u6587"),
        ("windows-874", "cp874", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35"),
        ("windows-949", "cp949", "\uc548\ub155\ub620"),
        ("x-mac-roman", "mac_roman", "Stra\u00dfe"),
        ("x-mac-cyrillic", "mac_cyrillic", "\u041f\u0440\u0438\u0432\u0435\u0442"),
        ("koi8-ru", "koi8_u", "\u041f\u0440\u0438\u0432\u0456\u0442"),
        ("x-cp1251", "cp1251", "\u041f\u0440\u0438\u0432\u0435\u0442"),
    ],
)
def test_declarations_are_known_by_the_names_that_browsers_know(
    name: str, encoding: str, text: str
) -> None:
    data = f"<meta charset={name}>".encode() + text.encode(encoding)
    assert decode(data) == (f"<meta charset={name}>{text}", ())


@pytest.mark.parametrize("name", ["utf-16", "UTF-16LE", "utf-32"])
def test_a_declaration_that_is_read_byte_by_byte_is_of_no_wide_encoding(name: str) -> None:
    data = f"<meta charset={name}><p>Die Stra\u00dfe ist gesperrt, die T\u00fcr auch.".encode("cp1252")
    text, warnings = decode(data)
    assert text.endswith("<p>Die Stra\u00dfe ist gesperrt, die T\u00fcr auch.")
    assert [warning.partition(":")[0] for warning in warnings] == [
        "charset_declared_wrong",
        "charset_guessed",
    ]
