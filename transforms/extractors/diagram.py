"""Finds the text of a diagram (SmartArt) of an office file: in the part that it is drawn from, node by node."""

from __future__ import annotations

from transforms.extractors.drawing_text import Paragraph, paragraphs
from transforms.extractors.ooxml import Package
from transforms.extractors.safe_xml import Element

_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_DATA = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"


def diagram_lines(package: Package, part: str, holder: Element) -> list[Paragraph]:
    """The paragraphs of the diagrams that an element of a part shows; one that is damaged is passed over."""
    lines: list[Paragraph] = []
    for pointer in holder.iter(f"{_DIAGRAM}relIds"):
        root = package.drawn(part, pointer.get(_DATA, ""))
        texts = () if root is None else root.iter(f"{_DIAGRAM}t")
        lines += [line for text in texts for line in paragraphs(text) if line.text.strip()]
    return lines
