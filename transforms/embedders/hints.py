"""What a server that refuses says of waiting: for how long, and whether it is of any use.

Providers say it in a header, in seconds, milliseconds or as a date, in a field of the answer, or in a sentence.
"""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_SECONDS = 3600.0
USED_UP = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "access_terminated"}
)
"""Codes by which OpenAI and those who speak like it say 429 where no waiting helps."""
_SENTENCE = re.compile(
    r"(?i)(?:try again|retry(?: your request)?|available|wait)(?: (?:in|after|for))? ((?:\d+(?:\.\d+)?\s*[a-z]+\s*)+)"
)
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_WORDS = {"milliseconds": "ms", "sec": "s", "min": "m"} | {
    f"{word}{end}": word[0] for word in ("second", "minute", "hour", "day") for end in ("", "s")
}


def seconds_to_wait(headers: Mapping[str, str], content: object, now: float) -> float:
    """The longest wait that the answer asks for, at most an hour; 0 where it asks for none.

    Args:
        headers: of the answer.
        content: its JSON, if it is any.
        now: seconds since 1970, for dates.
    """
    told = [retry_after(headers.get("Retry-After"), now), _number(headers.get("Retry-After-Ms")) / 1000]
    error = _error(content)
    told += [_span(str(detail.get("retryDelay", ""))) for detail in _details(error)]
    told.append(_number(error.get("retry_after")))
    sentence = _SENTENCE.search(str(error.get("message") or error.get("detail") or ""))
    if sentence:
        told.append(_span(sentence[1]))
    return min(max(told), MOST_SECONDS)


def is_used_up(content: object) -> bool:
    """Whether the account has no more to spend: it will be refused for as long as nobody pays."""
    error = _error(content)
    return not USED_UP.isdisjoint({str(error.get("code")), str(error.get("type"))})


def retry_after(value: str | None, now: float) -> float:
    """Seconds to wait that a ``Retry-After`` header asks for, given in seconds or as a date; else 0."""
    if not value:
        return 0.0
    try:
        return min(max(0.0, float(value)), MOST_SECONDS)
    except ValueError:
        pass
    try:
        return min(max(0.0, parsedate_to_datetime(value).timestamp() - now), MOST_SECONDS)
    except ValueError:
        return 0.0


def _number(value: object) -> float:
    try:
        return max(0.0, float(str(value)))
    except ValueError:
        return 0.0


def _error(content: object) -> Mapping[str, Any]:
    """The object that says what is wrong; Google's API gives a list of one."""
    if isinstance(content, list) and content:
        content = content[0]
    if not isinstance(content, dict):
        return {}
    error = content.get("error", content)
    return error if isinstance(error, dict) else {**content, "message": error}


def _details(error: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    details = error.get("details")
    yield from (one for one in details if isinstance(one, dict)) if isinstance(details, list) else ()


def _span(text: str) -> float:
    """``19s``, ``1m30.5s``, ``20ms`` or ``55 seconds`` in seconds; what is no unit counts nothing."""
    parts = ((float(number), unit.lower()) for number, unit in _SPAN.findall(text))
    return sum(number * _SECONDS.get(_WORDS.get(unit, unit), 0.0) for number, unit in parts)
