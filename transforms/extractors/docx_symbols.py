"""Decides which character a symbol of Word is, by its font and its code there.

The codes of Symbol are those of Adobe's Symbol encoding (https://unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt),
without the parts of tall brackets; of Wingdings the signs are known that forms and lists use.
"""

from __future__ import annotations

_SYMBOL = {
    0x20: " !∀#∃%&∋()∗+,−./0123456789:;<=>?",
    0x40: "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_",
    0x61: "αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    0xA0: "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…",
    0xBF: "↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑",
    0xF1: "〉∫",
}
"""Runs of characters by the code of their first."""
_WINGDINGS = {
    0x6F: "\u2610", 0xA7: "\u2022", 0xA8: "\u2610", 0xDF: "\u2190", 0xE0: "\u2192",
    0xFB: "\u2717", 0xFC: "\u2713", 0xFE: "\u2612",
}  # fmt: skip
_FONTS = {
    "symbol": {first + at: sign for first, run in _SYMBOL.items() for at, sign in enumerate(run)},
    "wingdings": _WINGDINGS,
}
_PRIVATE = range(0xE000, 0xF900)
_SYMBOLS = range(0xF000, 0xF100)
"""Where Word puts the 256 codes of a symbol font; they may stand without it."""


def symbol(font: str, code: str) -> str:
    """The character of a hexadecimal code; empty where it has a meaning in its font alone and that is unknown."""
    try:
        point = int(code, 16)
    except ValueError:
        return ""
    signs = _FONTS.get(font.strip().lower())
    if signs is not None and (point < 0x100 or point in _SYMBOLS):
        return signs.get(point & 0xFF, "")
    return chr(point) if 0 <= point <= 0x10FFFF and point not in _PRIVATE else ""
