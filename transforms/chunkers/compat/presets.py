"""What each system was run with, as settings: a key that a configuration leaves out has the system's value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

Preset: TypeAlias = Literal["replypier", "rag", "yau", "mindnet"]
Keys: TypeAlias = Mapping[str, Any]
"""Settings as read from a file, before they are checked."""

PRESETS: dict[Preset, Keys] = {
    "replypier": {
        "strategy": "verbatim",
        "size": {"unit": "chars", "target": 1500, "max": 1500},
        "overlap": {"size": 200},
    },
    "rag": {
        "strategy": "semantic",
        "size": {"unit": "chars", "target": 1000, "max": 1000},
        "overlap": {"size": 150},
        "semantic": {"percentile": 95},
    },
    "yau": {
        "strategy": "sections",
        "size": {"unit": "tokens", "target": 800, "max": 6000},
        "overlap": {"size": 0},
    },
    "mindnet": {
        "strategy": "headings",
        "size": {"unit": "tokens", "target": 400, "max": 600},
        "headings": {"split_level": 2, "strict": False},
        "overlap": {"size": 65},
    },
}
"""Tokens are the system's own estimate. The sizes of the first two were not given: they are usual ones."""

ONE_SIZE = frozenset({"replypier", "rag"})
"""Systems that know one size: whichever of target and max is given is both."""

STRATEGIES: dict[Preset, frozenset[str]] = {
    "replypier": frozenset({"verbatim"}),
    "rag": frozenset({"semantic"}),
    "yau": frozenset({"sections"}),
    "mindnet": frozenset({"headings", "window"}),
}


def with_preset(given: Keys) -> Keys:
    """The keys given, over those of their ``compat`` preset; unknown presets are left to the check.

    Raises:
        ValueError: the strategy is not one of the system's.
    """
    preset = given.get("compat")
    if not isinstance(preset, str) or preset not in PRESETS:
        return given
    merged = dict(given)
    for key, value in PRESETS[preset].items():
        own = given.get(key)
        if isinstance(value, Mapping):
            if own is None or isinstance(own, Mapping):
                merged[key] = {**value, **_both_sizes(preset, key, own or {})}
        else:
            merged[key] = value if own is None else own
    if merged["strategy"] not in STRATEGIES[preset]:
        known = " or ".join(sorted(STRATEGIES[preset]))
        raise ValueError(f"compat {preset} goes with strategy {known}, not {merged['strategy']}")
    return merged


def _both_sizes(preset: Preset, key: str, own: Keys) -> Keys:
    sizes = [own[name] for name in ("target", "max") if name in own]
    if key == "size" and preset in ONE_SIZE and len(sizes) == 1:
        return {**own, "target": sizes[0], "max": sizes[0]}
    return own
