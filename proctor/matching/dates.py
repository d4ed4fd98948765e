"""One date in many notations. What may be read in two ways is not decided: 03/04/2026 is refused, 25/12/2026 is not."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG = (
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_NAMES = frozenset((*_MONTHS, *_LONG, "sept"))
LONGEST = 80

_HOUR = r"(?:[T ]|,\s*|\s*)(?P<hour>\d{1,2})(?::|[时時点點])"
_CLOCK = rf"(?:{_HOUR}(?P<minute>\d{{2}})?(?::|分)?(?:(?P<second>\d{{2}})(?:[.,]\d+)?秒?)?"
_ZONE = r"\s*(?P<zone>Z|UTC|[+-]\d{2}:?\d{2})?)?"
_END = f"{_CLOCK}{_ZONE}"
_NAME = r"(?P<name>[A-Za-z]{3,9})\.?"
_YEAR_FIRST = re.compile(rf"(?P<year>\d{{4}})([-/.])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){_END}")
_COMPACT = re.compile(rf"(?P<year>\d{{4}})(?P<month>\d{{2}})(?P<day>\d{{2}}){_END}")
_CHINESE = re.compile(rf"(?:(?P<year>\d{{4}})\s*年)?\s*(?P<month>\d{{1,2}})\s*月\s*(?P<day>\d{{1,2}})\s*[日号號]{_END}")
_MONTH_NAME = re.compile(rf"{_NAME}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{{4}}))?{_END}")
_DAY_NAME = re.compile(rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+{_NAME}(?:,?[\s-]+(?P<year>\d{{4}}))?{_END}")
_YEAR_LAST = re.compile(rf"(?P<one>\d{{1,2}})([-/.])(?P<two>\d{{1,2}})\2(?P<year>\d{{4}}){_END}")
_NAMED = (_YEAR_FIRST, _COMPACT, _CHINESE, _MONTH_NAME, _DAY_NAME)


@dataclass(frozen=True, slots=True)
class Moment:
    """A day as it was written, with the clock time and the zone where they were."""

    day: date
    clock: time | None = None
    zone: timezone | None = None


@dataclass(frozen=True, slots=True)
class Unclear:
    """A date that cannot be told from its text alone, and why."""

    why: str


def read_date(text: str) -> Moment | Unclear | None:
    """The date that the whole text is, or None where it is none."""
    plain = unicodedata.normalize("NFKC", text[: LONGEST + 1]).strip()
    if len(plain) > LONGEST:
        return None
    for pattern in _NAMED:
        if found := pattern.fullmatch(plain):
            return _moment(found)
    found = _YEAR_LAST.fullmatch(plain)
    return _year_last(found) if found else None


def same_date(wanted: Moment, got: Moment) -> bool | Unclear:
    """The same day, or the same instant where `wanted` has a time. A zone on one side only is not decided."""
    if wanted.clock is None:
        return wanted.day == got.day
    if got.clock is None:
        return False
    if (wanted.zone is None) != (got.zone is None):
        return Unclear("one has a time zone and the other has none")
    return _instant(wanted) == _instant(got)


def _month(name: str) -> int | None:
    return _MONTHS.index(name[:3]) + 1 if name in _NAMES else None


def _instant(moment: Moment) -> timedelta:
    at = datetime.combine(moment.day, moment.clock or time()) - datetime.min
    return at - (moment.zone.utcoffset(None) if moment.zone else timedelta())


def _moment(found: re.Match[str]) -> Moment | Unclear | None:
    parts = found.groupdict()
    name = parts.get("name")
    month = _month(name.lower()) if name else int(parts["month"])
    if month is None:
        return None
    if parts["year"] is None:
        return Unclear("it has no year")
    return _built(found, month, int(parts["day"]))


def _year_last(found: re.Match[str]) -> Moment | Unclear | None:
    one, two = int(found["one"]), int(found["two"])
    if one != two and one <= 12 and two <= 12:
        return Unclear("day and month may be either way round")
    return _built(found, two, one) if one > 12 else _built(found, one, two)


def _built(found: re.Match[str], month: int, day: int) -> Moment | None:
    try:
        clock = (
            time(int(found["hour"]), int(found["minute"] or 0), int(found["second"] or 0)) if found["hour"] else None
        )
        return Moment(date(int(found["year"]), month, day), clock, _zone(found["zone"]))
    except ValueError:
        return None


def _zone(text: str | None) -> timezone | None:
    if not text:
        return None
    if text in ("Z", "UTC"):
        return UTC
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))
