"""Say in plain words what is wrong with a configuration: the key as the file has it, the rule, the value, the remedy.

The one place that knows how pydantic names its errors.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias

from pipeline.config.schema import groups_with, keys_at, kinds_at, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

Location: TypeAlias = tuple[int | str, ...]
"""Keys and places in lists, from the top of the file."""

_MAX_SHOWN = 80
_WORDS = {
    "missing": "is missing, and it is needed",
    "extra_forbidden": "is no key here",
    "string_type": "must be text",
    "string_too_long": "must be at most {max_length} characters long",
    "string_pattern_mismatch": "must be of the form {pattern}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "literal_error": "must be {expected}",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be keys with values",
    "model_type": "must be keys with values",
    "model_attributes_type": "must be keys with values",
    "too_short": "must have an entry",
    "greater_than": "must be over {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be under {lt}",
    "less_than_equal": "must be at most {le}",
    "union_tag_invalid": "must be {expected_tags}",
}
_TEXT = {"string_type", "literal_error", "union_tag_invalid"}
_LISTS = {"tuple_type", "list_type"}
_GROUPS = {"dict_type", "model_type", "model_attributes_type"}
_UNSEEN = {"missing", "extra_forbidden", "invalid_key", "union_tag_not_found"}
"""Kinds that say nothing of the value."""


def faults_of(error: ValidationError, raw: Mapping[str, Any]) -> dict[Location, str]:
    """One line a key that is wrong, by where it stands in the file.

    A key that came from ``defaults`` is named there, once. Of a group in which a key is wrong only the key
    is told: whatever else the group breaks follows from it.
    """
    at: defaultdict[Location, list[ErrorDetails]] = defaultdict(list)
    for fault in error.errors(include_url=False):
        at[_written(fault, raw)].append(fault)
    inner = {place[:length] for place in at for length in range(len(place))}
    return {place: f"{dotted(place)}: {_said(place, at[place], raw)}" for place in at if place not in inner}


def line_of(fault: ErrorDetails, known: Iterable[str]) -> str:
    """One fault of a file that is no job: the key and the rule, without the value, which may have a password in it.

    Args:
        fault: as pydantic tells it.
        known: the keys that the file may have.
    """
    place = fault["loc"]
    words = fault["msg"].removeprefix("Value error, ").rstrip(".")
    if fault["type"] == "extra_forbidden":
        words = "; ".join(filter(None, ["is no key here", meant(str(place[-1]), known)]))
    elif fault["type"] == "missing":
        words = "is missing, and it is needed"
    return f"{dotted(place)}: {words}" if place else words


def dotted(location: Sequence[int | str]) -> str:
    """A location as people write it: ``sources[0].size.max``."""
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text or "the file"


def meant(word: str, known: Iterable[str]) -> str:
    """Ask for the known word that this one is nearly, or say nothing."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f"did you mean `{near[0]}`?" if near else ""


def _written(fault: ErrorDetails, raw: Mapping[str, Any]) -> Location:
    loc = fault["loc"]
    own = _location(loc, raw, fault["type"])
    if len(loc) > 2 and loc[0] == "sources":
        inherited = _location(("defaults", *loc[2:]), raw, fault["type"])
        # The entry's place in the list is a step that the defaults do not have.
        if len(inherited) + 1 > len(own):
            return inherited
    return own


def _location(loc: Location, raw: object, kind: str) -> Location:
    """The steps that stand in the file: pydantic adds which of several kinds of value it looked for."""
    found: list[int | str] = []
    value = raw
    # A key that is no text stands in no group.
    for step in loc[:-1] if kind == "invalid_key" else loc:
        if _holds(value, step):
            found.append(step)
            value = value_at(value, step)
    if kind == "union_tag_invalid":
        found.append("kind")
    elif kind in ("missing", "union_tag_not_found") and isinstance(value, dict):
        found.append(loc[-1] if kind == "missing" else "kind")
    return tuple(found)


def _holds(value: object, step: int | str) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


def _said(place: Location, faults: Sequence[ErrorDetails], raw: Mapping[str, Any]) -> str:
    value: object = raw
    for step in place:
        value = value_at(value, step)
    rules = _alternatives(dict.fromkeys(_rule(fault, place, raw) for fault in faults))
    remedies = dict.fromkeys(_remedy(fault, place, value, raw) for fault in faults)
    return "; ".join([rules + _got(value, faults), *filter(None, remedies)])


def _rule(fault: ErrorDetails, place: Location, raw: Mapping[str, Any]) -> str:
    kind, known = fault["type"], fault.get("ctx", {})
    if kind == "union_tag_not_found":
        return f"is missing, and it is needed: {_one_of(kinds_at(place[:-1], raw))}"
    if kind == "string_too_short":
        return (
            "must not be empty"
            if known["min_length"] == 1
            else f"must be at least {known['min_length']} characters long"
        )
    if kind == "invalid_key":
        return f"the key {_shown(fault['input'])} is not text: put it in quotes"
    if kind in _WORDS:
        return _WORDS[kind].format_map({**known, **{k: _names(known[k]) for k in _QUOTED & known.keys()}})
    return fault["msg"].removeprefix("Value error, ").rstrip(".")


_QUOTED = {"expected", "expected_tags"}


def _names(quoted: str) -> str:
    """``'a', 'b' or 'c'`` as ``one of `a`, `b`, `c` ``."""
    return _one_of(_quoted_words(quoted) or [quoted])


def _quoted_words(quoted: str) -> list[str]:
    return re.findall(r"'([^']*)'", quoted)


def _one_of(words: Sequence[str]) -> str:
    marked = [f"`{word}`" for word in words]
    return f"one of {', '.join(marked)}" if len(marked) > 1 else "".join(marked)


def _alternatives(rules: Iterable[str]) -> str:
    """Several rules of one key are those of several kinds of value that it may have."""
    first, *others = rules
    return " or ".join([first, *(rule.removeprefix("must be ") for rule in others)])


def _got(value: object, faults: Sequence[ErrorDetails]) -> str:
    kinds = {fault["type"] for fault in faults}
    if kinds <= _UNSEEN or (isinstance(value, dict) and not any(kind.endswith("_type") for kind in kinds)):
        return ""
    if value is None:
        return " (it has no value)"
    return f" (got {_shown(value)})"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def _remedy(fault: ErrorDetails, place: Location, value: object, raw: Mapping[str, Any]) -> str:
    kind = fault["type"]
    if kind == "extra_forbidden":
        return _place_of(place, raw)
    if kind in _TEXT and isinstance(value, bool):
        return f"YAML reads a bare {'on or yes' if value else 'off or no'} so: put the word in quotes"
    if kind == "string_type" and not isinstance(value, dict | list | None):
        return f'put it in quotes: "{value}"'
    if kind in ("literal_error", "union_tag_invalid") and isinstance(value, str):
        ctx = fault.get("ctx", {})
        return meant(value, _quoted_words(str(ctx.get("expected_tags", ctx.get("expected", "")))))
    if kind in _LISTS and isinstance(value, dict):
        return "begin each of its entries with a dash"
    if kind in _LISTS and isinstance(value, str):
        return f"write [{json.dumps(value, ensure_ascii=False)}]"
    if kind in _GROUPS and value in kinds_at(place, raw):
        return f"write {{kind: {value}}}"
    if kind == "float_parsing" and (share := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", str(value))):
        return f"write {float(share[1]) / 100:g}"
    return ""


def _place_of(place: Location, raw: Mapping[str, Any]) -> str:
    """Where an unknown key belongs, or which one is meant."""
    key = str(place[-1])
    own = re.sub(r"\[\d+\]", "[]", re.sub(r"^defaults\b", "sources[]", dotted(place[:-1])))
    others = [group for group in groups_with(key) if group != own]
    if others:
        return f"it belongs {' or '.join(map(_group, others[:3]))}"
    known = keys_at(place[:-1], raw)
    return meant(key, known) or f"the keys here are {', '.join(f'`{name}`' for name in known)}"


def _group(path: str) -> str:
    if path == "sources[]":
        return "in a source"
    return f"in `{path.removeprefix('sources[].')}`" if path else "at the top of the file"
