"""Plots in the terms of Chart.js, as values that a template puts into a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from transforms.model.document import JsonValue

_RANGE = "#2f6fb355"
"""Of an interval: the tint of its point, paler."""


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
    axes: dict[str, JsonValue] = {
        axis: {"stacked": stacked, "beginAtZero": True, "ticks": {"precision": 0}} for axis in ("x", "y")
    }
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
