"""HTML files for people, made from templates: each is one file that fetches nothing."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment
    from markupsafe import Markup

    from transforms.model.document import JsonValue

_RANGE = "#2f6fb355"
"""Of an interval: the tint of its point, paler."""
_PACKAGE = "pipeline"
_CHART_JS = "vendor/chart-4.6.1.umd.min.js"
"""Chart.js, MIT: whole in the page, so that it shows its plots anywhere and in ten years."""


def render(template: str, **values: Any) -> str:
    """A template of ``pipeline/templates`` with these values; whatever texts hold is text in the page."""
    return _environment().get_template(template).render(**values)


def bars(
    labels: list[str],
    series: Mapping[str, list[float]],
    *,
    stacked: bool = False,
    sideways: bool = False,
) -> dict[str, JsonValue]:
    """A bar chart in the terms of Chart.js.

    Args:
        labels: one a place on the axis.
        series: by name one number a label.
        stacked: on one another instead of side by side.
        sideways: bars run to the right: for labels that are long.
    """
    axes: dict[str, JsonValue] = {axis: {"stacked": stacked, "beginAtZero": True} for axis in ("x", "y")}
    return {
        "type": "bar",
        "data": {
            "labels": list(labels),
            "datasets": [{"label": name, "data": list(values)} for name, values in series.items()],
        },
        "options": {
            "indexAxis": "y" if sideways else "x",
            "scales": axes,
            "plugins": {"legend": {"display": len(series) > 1, "position": "bottom"}},
        },
    }


def intervals(labels: list[str], spans: list[tuple[float, float, float]]) -> dict[str, JsonValue]:
    """Means as points on their intervals, in the terms of Chart.js.

    Args:
        labels: one a place on the axis.
        spans: of each the mean, the lower and the upper end.
    """
    points: JsonValue = {
        "type": "line", "label": "mean", "showLine": False, "pointRadius": 5, "clip": False,
        "data": [mean for mean, _, _ in spans],
    }  # fmt: skip
    ranges: JsonValue = {
        "type": "bar", "label": "95% interval", "barPercentage": 0.3, "backgroundColor": _RANGE,
        "data": [[low, high] for _, low, high in spans],
    }  # fmt: skip
    return {
        "type": "bar",
        "data": {"labels": list(labels), "datasets": [points, ranges]},
        "options": {
            "scales": {"y": {"min": 0, "max": 1}},
            "plugins": {"legend": {"display": False}},
        },
    }


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["chart_js"] = _chart_js
    return environment


def _chart_js() -> Markup:
    from markupsafe import Markup

    file = resources.files(_PACKAGE).joinpath("templates", _CHART_JS)
    return Markup(file.read_text(encoding="utf-8"))  # noqa: S704 - our own file
