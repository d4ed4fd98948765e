"""Dates and numbers in a text, and the shape of an argument: what may be compared across notations."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from datetime import date

MONTHS = (
    {
        name: number
        for number, names in enumerate(
            "january february march april may june july august september october november december".split(),  # noqa: SIM905
            1,
        )
        for name in (names, names[:3])
    }
    | {"sept": 9}
)
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATES = (
    re.compile(r"(?<!\d)(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?!\d)", re.ASCII),
    re.compile(r"(?<!\d)(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})(?!\d)", re.ASCII),
    re.compile(r"(?:(?P<year>\d{4})\s*年)?\s*(?P<month>\d{1,2})\s*月\s*(?P<day>\d{1,2})\s*[日号號]", re.ASCII),
    re.compile(
        rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:,?\s+(?P<year>\d{{4}}))?",
        re.IGNORECASE | re.ASCII,
    ),
    re.compile(
        rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?{_MONTH}\b(?:,?[\s-]+(?P<year>\d{{4}}))?",
        re.IGNORECASE | re.ASCII,
    ),
    re.compile(r"(?<!\d)(?P<month>\d{1,2})(?P<sep>[-/.])(?P<day>\d{1,2})(?P=sep)(?P<year>\d{4})(?!\d)", re.ASCII),
    re.compile(r"(?<!\d)(?P<day>\d{1,2})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<year>\d{4})(?!\d)", re.ASCII),
    re.compile(r"(?<![\d/])(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\d/])", re.ASCII),
)
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:[$€£¥￥]\s?)?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?!\d)", re.ASCII)
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
} | {"零": 0, "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_WORD_NUMBER = re.compile(
    rf"\b(?:{'|'.join(w for w in _NUMBER_WORDS if w.isascii())})\b|[零一两二三四五六七八九十]", re.IGNORECASE
)
_WHOLE_NUMBER = re.compile(r"[-+]?[$€£¥￥]?\s?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,10})?\s?%?", re.ASCII)

Day = tuple[int | None, int, int]
"""Year (None where it is not told), month, day."""


def days_in(text: str) -> set[Day]:
    """The days that a text names; one that can be read in two ways is there in both."""
    return {day for pattern in _DATES for found in pattern.finditer(text) if (day := _day(found))}


def without_days(text: str) -> str:
    """The text with the days that it names taken out."""
    for pattern in _DATES:
        text = pattern.sub(lambda found: " " if _day(found) is not None else found[0], text)
    return text


def day_of(text: str) -> Day | None:
    """The day that a whole value is, its time of day aside."""
    plain = text.strip()
    if not 6 <= len(plain) <= 40:
        return None
    for pattern in _DATES[:-1]:
        found = pattern.match(plain)
        if found and re.fullmatch(r"(?:[T ,]+[\d:.+Z-]*(?: ?[AaPp][Mm])?)?", plain[found.end() :]):
            return _day(found)
    return None


def same_day(one: Day, other: Day) -> bool:
    """The same day, as far as both tell."""
    return one[1:] == other[1:] and (one[0] is None or other[0] is None or one[0] == other[0])


def ordinal(day: Day, year: int) -> int | None:
    """The day's number in the calendar, in `year` where it tells none."""
    try:
        return date(day[0] or year, day[1], day[2]).toordinal()
    except ValueError:
        return None


def _day(found: re.Match[str]) -> Day | None:
    parts = found.groupdict()
    name = parts.get("name")
    month = MONTHS.get(name.lower()[:3], 0) if name else int(parts["month"])
    day, year = int(parts["day"]), parts.get("year")
    whole = (int(year) if year else None, month, day)
    return whole if ordinal(whole, 2000) is not None else None


def numbers_in(text: str) -> frozenset[float]:
    """The numbers that a text names, in digits or as words up to twelve."""
    digits = (float(found[1].replace(",", "")) for found in _NUMBER.finditer(text))
    words = (float(_NUMBER_WORDS[found[0].lower()]) for found in _WORD_NUMBER.finditer(text))
    return frozenset(number for number in (*digits, *words) if math.isfinite(number))


def number_of(value: object) -> float | None:
    """The finite number that a value is, also where it is written as text; None for true and false."""
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, int | float):
            number = float(value)
        elif isinstance(value, str) and len(value) <= 32 and _WHOLE_NUMBER.fullmatch(value.strip()):
            number = float(re.sub(r"[^\d.+-]", "", value))
        else:
            return None
    except (OverflowError, ValueError):
        return None
    return abs(number) if math.isfinite(number) else None


def comes_from(wanted: float, one: float, known: Collection[float]) -> bool:
    """`wanted` is the sum, difference or product of `one` and a number that is known."""
    others = [wanted - one, wanted + one, one - wanted]
    if one >= 2:
        others.append(wanted / one)
    return any(round(other, 2) in known for other in others if other > 0)


def comes_from_two(wanted: float, known: Collection[float]) -> bool:
    """`wanted` is the sum, difference or product of two of these numbers."""
    return any(comes_from(wanted, one, known) for one in known if one != wanted)
