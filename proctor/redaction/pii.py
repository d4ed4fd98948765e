"""Stand-ins for personal data: of the same kind and form, so that a conversation stays readable."""

from __future__ import annotations

import re
from datetime import date, timedelta

from proctor.sensitive.finds import luhn

_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_DIGIT = re.compile("[0-9]")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_NAMED = re.compile(r"(?:person-|Person |某人)(\d{4,})(?:@redacted\.invalid)?")
_PHONE_DIGITS = 8
"""The last digits of a phone's stand-in: four zeros and the number, as in `139 0000 0001`."""
_CARD = "40000000"
_PLACE = "110101"
"""Of a Chinese ID number: the district; the birthday is in the first years of the last century."""
_FIRST_DAY = date(1900, 1, 1)


def personal_stand_in(kind: str, value: str, number: int) -> str | None:
    """The stand-in for the `number`-th secret of a tape, where that is personal data; else None."""
    digits = "".join(_DIGIT.findall(value))
    if kind == "e-mail address":
        return f"person-{number:04d}@redacted.invalid"
    if kind == "person":
        return f"某人{number:04d}" if _CHINESE.search(value) else f"Person {number:04d}"
    if kind == "phone":
        return _laid_over(value, digits[:-_PHONE_DIGITS] + f"{number:0{min(len(digits), _PHONE_DIGITS)}d}")
    if kind == "card number":
        return _laid_over(value, _card(len(digits), number))
    if kind == "Chinese ID number":
        return _identity(number)
    return None


def personal_number(kind: str, value: str) -> int | None:
    """The number of a stand-in that was found as personal data; None for what is surely none."""
    digits = "".join(_DIGIT.findall(value))
    named = _NAMED.fullmatch(value)
    if named:
        return int(named[1])
    if kind == "phone":
        return int(digits[-_PHONE_DIGITS:])
    if kind == "card number" and digits.startswith(_CARD):
        return int(digits[len(_CARD) : -1])
    if kind == "Chinese ID number" and digits.startswith(f"{_PLACE}19"):
        born = date(int(digits[6:10]), int(digits[10:12]), int(digits[12:14]))
        return (born - _FIRST_DAY).days * 1000 + int(digits[14:17])
    return None


def _card(size: int, number: int) -> str:
    body = f"{_CARD}{number:0{size - len(_CARD) - 1}d}"
    return next(f"{body}{check}" for check in range(10) if luhn(f"{body}{check}"))


def _identity(number: int) -> str:
    born = _FIRST_DAY + timedelta(days=number // 1000)
    body = f"{_PLACE}{born:%Y%m%d}{number % 1000:03d}"
    total = sum(int(digit) * weight for digit, weight in zip(body, _WEIGHTS, strict=True))
    return body + "10X98765432"[total % 11]


def _laid_over(value: str, digits: str) -> str:
    """The digits of a value replaced, its spaces and dashes kept."""
    waiting = iter(digits)
    return _DIGIT.sub(lambda match: next(waiting, match[0]), value)
