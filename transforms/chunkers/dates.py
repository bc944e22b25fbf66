"""Dates as people write them in documents: numbers in either order, and months by name in six languages."""

from __future__ import annotations

import re
from datetime import date

_MONTHS = (
    "january jan januar janvier enero gennaio janeiro ene gen",
    "february feb februar février fevrier febrero febbraio fevereiro fév fev",
    "march mar märz mär maerz mars marzo março marco",
    "april apr avril abril aprile avr abr",
    "may mai mayo maggio maio mag",
    "june jun juni juin junio giugno junho giu",
    "july jul juli juillet julio luglio julho juil lug",
    "august aug août aout agosto ago",
    "september sep sept septembre septiembre settembre setembro set",
    "october oct oktober okt octobre octubre ottobre outubro ott out",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre decembre diciembre dicembre dezembro déc dic",
)
_MONTH = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}

_ISO = r"(?P<iso>\d{4})-(?P<iso_month>\d{1,2})-(?P<iso_day>\d{1,2})"
_NUMBERS = r"(?P<first>\d{1,2})(?P<mark>[/.-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})"
_DAY_FIRST = (
    r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?[ \t]+(?:de[ \t]+)?(?P<name>[^\W\d_]{3,})\.?,?"
    r"[ \t]+(?:de[ \t]+)?(?P<day_year>\d{4})"
)
_NAME_FIRST = r"(?P<name2>[^\W\d_]{3,})\.?[ \t]+(?P<day2>\d{1,2})(?:st|nd|rd|th)?,?[ \t]+(?P<year2>\d{4})"
DATE = re.compile(rf"(?<![\w/.-])(?:{_ISO}|{_NUMBERS}|{_DAY_FIRST}|{_NAME_FIRST})(?![\w/])")
"""What looks like a date, whether or not there is such a day."""


def parse_date(text: str, *, day_first: bool = True) -> date | None:
    """The date that a text is, or None. Years of two digits are of this century."""
    found = DATE.fullmatch(text.strip())
    return date_of(found, day_first=day_first) if found else None


def date_of(found: re.Match[str], *, day_first: bool) -> date | None:
    """The day that a match of :data:`DATE` names; None if there is none."""
    parts = found.groupdict()
    if parts["iso"]:
        return _date(parts["iso"], int(parts["iso_month"]), parts["iso_day"])
    if parts["year"]:
        day, month = (parts["first"], parts["second"]) if day_first else (parts["second"], parts["first"])
        return _date(parts["year"], int(month), day)
    name = parts["name"] or parts["name2"]
    month_number = _MONTH.get(name.casefold())
    if month_number is None:
        return None
    return _date(parts["day_year"] or parts["year2"], month_number, parts["day"] or parts["day2"])


def _date(year: str, month: int, day: str) -> date | None:
    try:
        return date(int(year) + (2000 if len(year) == 2 else 0), month, int(day))
    except ValueError:
        return None
