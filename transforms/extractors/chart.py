"""Reads a chart of an office file: its title, and what it shows as a table, as it was last drawn.

The part that a chart is drawn from holds the values beside the formulas that they come from.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator

from transforms.extractors.drawing_text import paragraphs
from transforms.extractors.markdown_writer import MarkdownWriter
from transforms.extractors.ooxml import RELATION_ID, Package
from transforms.extractors.safe_xml import Element
from transforms.extractors.xlsx import cell_text

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_POINTS_AT_MOST = 1_000
"""Of a series: as many as a reader may look up in a chart."""
_NAMES = ("cat", "xVal")
_VALUES = ("val", "yVal")
_DATE = re.compile(r"[^0#?]*[dy][^0#?]*", re.IGNORECASE)
"""The format of a number that is shown as a date."""
_FIRST_DAY = datetime.datetime(1899, 12, 30)


def write_charts(package: Package, part: str, holder: Element, out: MarkdownWriter) -> None:
    """Write the charts that an element of a part shows; one that is damaged is passed over."""
    # Of a drawing in several forms more than one may point at the chart.
    for key in dict.fromkeys(pointer.get(RELATION_ID, "") for pointer in holder.iter(f"{_C}chart")):
        root = package.drawn(part, key)
        if root is not None:
            _write(root, out)


def _write(root: Element, out: MarkdownWriter) -> None:
    for chart in root.iterfind(f"{_C}chart"):
        title = chart.find(f"{_C}title")
        out.paragraph("" if title is None else _title(title))
        for names, series in _groups(chart.iter(f"{_C}ser")):
            out.table(_rows(names, series))
        for axis in chart.iterfind(f"{_C}plotArea/*/{_C}title"):
            out.paragraph(_title(axis))


def _title(title: Element) -> str:
    """As it was typed, or taken from a cell."""
    typed = "\n".join(line.text for line in paragraphs(title))
    return typed or " ".join(_points(title.find(f"{_C}tx")).values())


def _groups(series: Iterable[Element]) -> list[tuple[dict[int, str], list[Element]]]:
    """The series that share an axis of the same names, as those of points seldom do; without names, the last one's."""
    groups: list[tuple[dict[int, str], list[Element]]] = []
    for each in series:
        names = _points(_child(each, _NAMES))
        if groups and names in ({}, groups[-1][0]):
            groups[-1][1].append(each)
        else:
            groups.append((names, [each]))
    return groups


def _rows(names: dict[int, str], series: list[Element]) -> Iterator[list[str]]:
    """A column a series, a row a place on the axis that they share."""
    columns = [_points(_child(each, _VALUES)) for each in series]
    yield ["", *(_series_name(each, number) for number, each in enumerate(series, 1))]
    for place in sorted({place for column in columns for place in column})[:_POINTS_AT_MOST]:
        yield [names.get(place, str(place + 1)), *(column.get(place, "") for column in columns)]


def _series_name(series: Element, number: int) -> str:
    return " ".join(_points(series.find(f"{_C}tx")).values()) or f"Series {number}"


def _child(series: Element, names: tuple[str, ...]) -> Element | None:
    return next((found for name in names if (found := series.find(f"{_C}{name}")) is not None), None)


def _points(data: Element | None) -> dict[int, str]:
    """What stands in the cells that a part of a chart is drawn from, by place; of several levels the innermost."""
    if data is None:
        return {}
    level = data.find(f".//{_C}lvl")
    is_date = _DATE.fullmatch(data.findtext(f".//{_C}formatCode") or "") is not None
    points: dict[int, str] = {}
    for point in (data if level is None else level).iter(f"{_C}pt"):
        place = point.get("idx", "")
        if place.isdecimal():
            value = (point.findtext(f"{_C}v") or "").strip()
            points[int(place)] = _day(value) if is_date else value
    if not points and (text := data.findtext(f"{_C}v")):
        points[0] = text.strip()
    return points


def _day(value: str) -> str:
    try:
        return cell_text(_FIRST_DAY + datetime.timedelta(days=float(value)))
    except (ValueError, OverflowError):
        return value
