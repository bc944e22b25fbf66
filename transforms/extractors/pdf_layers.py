"""Which layers of a PDF are switched off, so that no reader shows what lies on them.

PDFium gives the text of all layers and does not say which are shown. A mark on a piece of text names its layer, and the
file's catalogue says which names are off; it is looked into only where a file has layers at all.
"""

from __future__ import annotations

import ctypes
import io
from typing import TYPE_CHECKING, Any

import pypdfium2.raw as pdfium

if TYPE_CHECKING:
    from collections.abc import Iterator

_LAYERS = b"/OCProperties"
_OFF = b"/OFF"
_MARK = "OC"
_NAME = b"Name"
_LONGEST_NAME = 512
"""Bytes of UTF-16."""


def layers_off(data: bytes) -> frozenset[str]:
    """The names of the layers that are not shown, as the file is opened.

    Of layers that share a name all have to be off. Where the catalogue is compressed, or cannot be read, none is.
    """
    if _LAYERS not in data or _OFF not in data:
        return frozenset()
    from pdfminer.pdfdocument import PDFDocument
    from pdfminer.pdfparser import PDFParser
    from pdfminer.pdftypes import dict_value, list_value
    from pdfminer.psparser import literal_name

    try:
        layers = dict_value(PDFDocument(PDFParser(io.BytesIO(data))).catalog.get("OCProperties"))
        opened = dict_value(layers.get("D"))
        # All begin as the base state has them, and one of the lists says which do not.
        is_off = literal_name(opened.get("BaseState")) == "OFF"
        others = {layer.objid for layer in list_value(opened.get("ON" if is_off else "OFF"))}
        names: dict[bool, set[str]] = {True: set(), False: set()}
        for layer in list_value(layers.get("OCGs")):
            names[(layer.objid in others) != is_off].add(_decoded(dict_value(layer).get("Name")))
    except Exception:  # noqa: BLE001 - whatever pdfminer meets in a file that PDFium reads
        return frozenset()
    return frozenset(names[True] - names[False])


def layers_of(handle: object) -> Iterator[str]:
    """The names of the layers that a page's object is marked with: it is shown where all of them are."""
    for index in range(pdfium.FPDFPageObj_CountMarks(handle)):
        mark = pdfium.FPDFPageObj_GetMark(handle, index)
        if _said(pdfium.FPDFPageObjMark_GetName, mark) == _MARK:
            yield _said(pdfium.FPDFPageObjMark_GetParamStringValue, mark, _NAME)


def _said(ask: Any, *arguments: Any) -> str:
    """What PDFium writes into a buffer, UTF-16 with a zero at its end."""
    buffer = ctypes.create_string_buffer(_LONGEST_NAME)
    length = ctypes.c_ulong()
    ask(*arguments, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), _LONGEST_NAME, length)
    return buffer.raw[: max(0, min(length.value, _LONGEST_NAME) - 2)].decode("utf-16-le", "replace")


def _decoded(name: object) -> str:
    from pdfminer.utils import decode_text

    return decode_text(name) if isinstance(name, bytes) else ""
