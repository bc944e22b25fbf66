"""Which encoding a text file has: what is certain first, a guess last and marked as one.

Names of encodings mean what browsers and Microsoft's programs mean by them: ``iso-8859-1`` is read as
cp1252 and ``shift_jis`` as cp932, which read the same bytes and more.
"""

from __future__ import annotations

import codecs
import re

from transforms.extractors.charset_guess import likeliest
from transforms.model.errors import RejectedError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META = re.compile(rb"<meta[^<>]*charset=[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_DECLARATIONS = (
    re.compile(rb"<\?xml[^>]*encoding=[\"']([\w.:-]+)", re.IGNORECASE),
    _META,
    re.compile(rb"\A(?:[^\n]*\n)?[ \t\f]*(?:#|//|/\*|;|\"|--|<!--)[^\n]*?coding[:=][ \t]*([-\w.]+)"),
)
_READ_AS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949", "big5": "big5hkscs",
}  # fmt: skip
"""Python's names, each to its superset, as the WHATWG's encoding standard has them."""
_ALSO_CALLED = {
    "cp932": "x-sjis windows-31j", "gb18030": "x-gbk gb_2312-80 gb_2312", "big5hkscs": "x-x-big5 cn-big5",
    "euc_jp": "x-euc-jp", "cp949": "windows-949 ksc_5601 ks_c_5601-1989", "cp874": "windows-874 dos-874",
    "cp1255": "iso-8859-8-i iso-8859-8-e logical visual", "iso8859-6": "iso-8859-6-i iso-8859-6-e",
    "mac_roman": "x-mac-roman mac", "mac_cyrillic": "x-mac-cyrillic x-mac-ukrainian", "koi8-r": "koi koi8",
    "koi8-u": "koi8-ru", "utf-8": "unicode-1-1-utf-8", "cp1252": "x-cp1252 ansi", "cp1250": "x-cp1250",
    "cp1251": "x-cp1251", "cp1253": "x-cp1253", "cp1254": "x-cp1254", "cp1256": "x-cp1256", "cp1257": "x-cp1257",
    "cp1258": "x-cp1258",
}  # fmt: skip
"""Names that browsers know and Python does not, from the same standard."""
_BY_OTHER_NAME = {name: ours for ours, names in _ALSO_CALLED.items() for name in names.split()}
_NOT_IN_ASCII = ("utf-16", "utf_16", "utf-32", "utf_32")
"""What no declaration can be right about that is read byte by byte."""
DAMAGED_UTF8 = "charset_damaged:utf-8"
"""Warning: bytes that are no UTF-8 stand as U+FFFD in a text that otherwise is."""
_SEQUENCES_A_FAULT = 2
_LETTERS_A_FAULT = 4
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_WIDE_AT_LEAST = 4
"""Bytes: two characters."""
_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\t\n\r"
_MOSTLY = 0.9
_HEAD = 4096
_PAGE = re.compile(rb"<(?:!doctype html|html|head)\b", re.IGNORECASE)
_HEAD_OF_PAGE = 1 << 20
_SAMPLE = 65_536
_ESCAPED_JAPANESE = (b"\x1b$B", b"\x1b$@", b"\x1b(J")
_KANA = re.compile(r"[\u3041-\u30ff]")
_KANA_AT_LEAST = 0.2
_WIDE_STOPS = re.compile(r"[\n \u3000-\u3002\uff0c]")
_STOPS_AT_LEAST = 0.03
_EAST_ASIAN = re.compile(r"[\t\r\n -~\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uffee]")
_NEARLY_ALL = 0.95
"""Shares of the characters."""
_CONTROLS = bytes(byte for byte in range(0x20) if byte not in b"\t\n\v\f\r\x1b")
_CONTROLS_AT_MOST = 0.1
_STRAY_CONTROLS = 8


def decode(data: bytes, encoding: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text, and a warning where its encoding was guessed (``charset_guessed:cp1252``).

    In this order: ``encoding``, a byte-order mark, UTF-8, UTF-8 with a few faults
    (``charset_damaged:utf-8``), a declaration in the first 4 KiB, or of a page in its first MiB, a guess. Behind
    a mark faults are replaced and named like those of UTF-8. A declaration that the bytes contradict is passed
    over with a warning (``charset_declared_wrong:utf-8``).

    Raises:
        RejectedError: ``wrong_charset``, where no encoding reads the bytes, or the given one does not;
            ``unsupported_type`` for bytes that are no text.
    """
    text, warnings = _decode(data, encoding)
    sample = text[:_SAMPLE]
    bytes_a_letter = len(data) / max(1, len(text))
    if _controls(sample) > max(_STRAY_CONTROLS, _CONTROLS_AT_MOST * len(sample) * bytes_a_letter):
        raise RejectedError(
            "unsupported_type", "The file is binary: neither text nor a format that can be read."
        )
    return text, warnings


def _controls(text: str) -> int:
    """How many control characters a text has that no text file needs."""
    data = text.encode("utf-8", "replace")
    return len(data) - len(data.translate(None, _CONTROLS))


def _decode(data: bytes, encoding: str | None) -> tuple[str, tuple[str, ...]]:
    if encoding is not None:
        return _strict(data, encoding), ()
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _marked(data.removeprefix(codecs.BOM_UTF8), name)
    if not data.isascii():
        # Before UTF-16 is looked for: zeros between what is UTF-8 are zeros.
        text, warnings = _utf8(data)
        if text is not None:
            return text, warnings
    wide = _utf16_without_mark(data[:_SAMPLE]) or _east_asian_utf16(data[:_SAMPLE])
    if wide is not None:
        text, warnings = _marked(data, wide)
        return text, (f"charset_guessed:{wide}", *warnings)
    if any(escape in data[:_SAMPLE] for escape in _ESCAPED_JAPANESE):
        escaped = _try(data, "iso2022_jp_2")
        if escaped is not None:
            return escaped, ()
    return (data.decode("ascii"), ()) if data.isascii() else _declared_or_guessed(data)


def _utf8(data: bytes) -> tuple[str | None, tuple[str, ...]]:
    text = _try(data, "utf-8")
    return (text, ()) if text is not None else (_damaged_utf8(data), (DAMAGED_UTF8,))


def _marked(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    """The text in the encoding that a mark tells for certain, faults in it replaced by U+FFFD."""
    text = _try(data, encoding)
    if text is not None:
        return text, ()
    if encoding == "utf-8":
        text = _damaged_utf8(data)
    if text is None:
        text = data.decode(encoding, "replace")
        if is_mostly_faults(text.count("\ufffd"), len(text)):
            text = _strict(data, encoding)
    return text, (f"charset_damaged:{encoding}",)


def _damaged_utf8(data: bytes) -> str | None:
    """UTF-8 with a few bytes that are none, replaced by U+FFFD; None for what is another encoding.

    Other encodings make a sequence of UTF-8 by chance, and then several faults for each: text that has many
    sequences a fault is damaged, or cut off in a character, or has halves of surrogate pairs.
    """
    paired = _try(data, "utf-8", "surrogatepass")
    if paired is not None:
        return paired
    text = data.decode("utf-8", "replace")
    return text if is_damaged_utf8(*utf8_signs(text)) else None


def encoding_called(name: str) -> str | None:
    """Python's name of the encoding that a declaration means, as browsers take it; None for one that nobody knows."""
    name = name.strip().lower()
    try:
        found = codecs.lookup(_BY_OTHER_NAME.get(name, name)).name
    except (LookupError, ValueError):
        # A name with NUL in it is a ValueError and not a name that is not known.
        return None
    return _READ_AS.get(found, found)


def utf8_signs(text: str) -> tuple[int, int]:
    """Of a text that was decoded with replacement: the sequences of UTF-8 in it, and the faults."""
    faults = text.count("\ufffd")
    return sum(map(len, _BEYOND_ASCII.findall(text))) - faults, faults


def is_damaged_utf8(sequences: int, faults: int) -> bool:
    """Whether a text with so many of them is UTF-8 with faults, and no other encoding."""
    return sequences >= _SEQUENCES_A_FAULT * faults


def is_mostly_faults(faults: int, letters: int) -> bool:
    """Whether a text has so many faults that a byte-order mark is not believed."""
    return faults * _LETTERS_A_FAULT > letters


def _declared_or_guessed(data: bytes) -> tuple[str, tuple[str, ...]]:
    warnings: tuple[str, ...] = ()
    declared = _declared(data)
    if declared is not None:
        text = None if declared.startswith(_NOT_IN_ASCII) else _try(data, declared)
        if text is not None:
            return text, ()
        warnings = (f"charset_declared_wrong:{declared}",)
    guess = _guess(data)
    return _strict(data, guess), (*warnings, f"charset_guessed:{guess}")


def _strict(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise RejectedError(
            "wrong_charset",
            f"The text is not {encoding}: {error.reason} at byte {error.start}. "
            "Set extract.encoding to its encoding, or convert it to UTF-8.",
        ) from error


def _try(data: bytes, encoding: str, errors: str = "strict") -> str | None:
    try:
        return data.decode(encoding, errors)
    except (UnicodeDecodeError, LookupError):
        return None


def _declared(data: bytes) -> str | None:
    """Python's name of the declared encoding; None for none, or one that it does not know."""
    head = data[:_HEAD]
    found = next(filter(None, (pattern.search(head) for pattern in _DECLARATIONS)), None)
    if found is None and _PAGE.search(head):
        # Browsers heed it wherever it stands, be it behind long scripts.
        found = _META.search(data, 0, _HEAD_OF_PAGE)
    return None if found is None else encoding_called(found[1].decode("ascii", "replace"))


def _utf16_without_mark(sample: bytes) -> str | None:
    """UTF-16 shows itself by zeros in every second place, wherever Latin letters or spaces are.

    ASCII with a few NULs in it has letters in all places between them.
    """
    zeros = sample.count(0)
    if zeros * 20 < len(sample) or not zeros or len(sample) < _WIDE_AT_LEAST:
        return None
    even, odd = sample[::2].replace(b"\0", b""), sample[1::2].replace(b"\0", b"")
    even_zeros, odd_zeros = len(sample[::2]) - len(even), len(sample[1::2]) - len(odd)
    if 3 * zeros < len(sample) and _is_printable(even) and _is_printable(odd):
        return None
    if odd_zeros > 20 * even_zeros:
        return "utf-16-le"
    return "utf-16-be" if even_zeros > 20 * odd_zeros else None


def _east_asian_utf16(sample: bytes) -> str | None:
    """Chinese, Japanese and Korean in UTF-16 have few zeros, and show themselves by kana, or by spaces and stops.

    Read so, nearly any letters make ideographs; these signs, save kana, have control characters for one byte.
    """
    if sample.isascii():
        return None
    for encoding in ("utf-16-le", "utf-16-be"):
        text = sample.decode(encoding, "replace")
        signs = len(_KANA.findall(text)) / _KANA_AT_LEAST + len(_WIDE_STOPS.findall(text)) / _STOPS_AT_LEAST
        if signs > len(text) and len(_EAST_ASIAN.findall(text)) > _NEARLY_ALL * len(text):
            return encoding
    return None


def _is_printable(data: bytes) -> bool:
    return len(data.translate(None, _PRINTABLE)) <= (1 - _MOSTLY) * len(data)


def _guess(data: bytes) -> str:
    """The likeliest encoding of bytes that are no UTF-8; cp1252 where they make sense in none."""
    for name in (*likeliest(data), "cp1252"):
        if _try(data, name) is not None:
            return name
    raise RejectedError(
        "wrong_charset", "No encoding reads this text. Set extract.encoding, or convert it to UTF-8."
    )
