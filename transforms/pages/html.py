"""HTML files for people, made from templates: each is one file that fetches nothing."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_PACKAGE = "transforms.pages"
_CHART_JS = "vendor/chart-4.6.1.umd.min.js"
"""Chart.js, MIT: whole in the page, so that it shows its plots anywhere and in ten years."""


def render(template: str, **values: Any) -> str:
    """A template of ``templates/`` with these values; whatever texts hold is text in the page."""
    return _environment().get_template(template).render(**values)


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
