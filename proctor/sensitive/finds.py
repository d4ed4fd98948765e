"""Where a text holds what must not be shown: phones, e-mail addresses, cards, identity numbers, keys."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Literal

from proctor.sensitive.readings import is_long_worded, readings
from proctor.sensitive.shapes import has_key_sign, keys

Kind = Literal["phone", "e-mail address", "card number", "Chinese ID number", "key"]
PERSONAL: frozenset[Kind] = frozenset({"phone", "e-mail address", "card number", "Chinese ID number"})


@dataclass(frozen=True, slots=True)
class Sensitive:
    """One find: its span in the original text, and its value as it reads (digits only for numbers).

    Where a text can be read in several ways, over a line break and not, the longest find stands for all.
    """

    kind: Kind
    start: int
    end: int
    value: str
    others: frozenset[str] = frozenset()
    """The values of the shorter readings."""

    @property
    def values(self) -> frozenset[str]:
        """Every value that it may be."""
        return self.others | {self.value}


_Found = Iterator[tuple[int, int, str]]
_NOT_DIGIT = re.compile("[^0-9Xx+]")
_RUN = re.compile(r"[0-9](?:[ ().-]{0,3}[0-9]){6}")
_SEPARATED = r"(?<![0-9A-Za-z_#])"
_END = r"(?![0-9A-Za-z_])"
_ID18 = re.compile(rf"{_SEPARATED}[1-8][0-9]{{5}}[ -]?(?:18|19|20)[0-9]{{6}}[ -]?[0-9]{{3}}[0-9Xx]{_END}")
_ID15 = re.compile(rf"{_SEPARATED}[1-8][0-9]{{14}}{_END}")
_CARD = re.compile(r"(?<![0-9A-Za-z_#.])[2-9](?:[ -]?[0-9]){12,18}")
_PHONES = (
    re.compile(rf"{_SEPARATED}(?:\+?86[ -]?)?1[3-9][0-9](?:[0-9]{{8}}|[ -][0-9]{{4}}[ -][0-9]{{4}}){_END}"),
    re.compile(rf"(?<![0-9A-Za-z_+])\+[1-9](?:[ .()-]{{0,2}}[0-9]){{7,14}}{_END}"),
    re.compile(
        r"(?<![0-9A-Za-z_#.-])(?:1[ .-])?(?:\([2-9][0-9]{2}\)[ .-]?|[2-9][0-9]{2}([ .-]))[0-9]{3}[ .-][0-9]{4}"
        r"(?![0-9A-Za-z_-])"
    ),
    re.compile(rf"{_SEPARATED}0[1-9][0-9]{{1,2}}-[0-9]{{7,8}}{_END}"),
)
_TEN = re.compile("[0-9]{10}")
_TOLD_PHONE = re.compile(
    r"(?:(?i:phone|telephone|tel|mobile|cell|fax|call|whatsapp)(?: number)?(?: is| at)?|电话|手机|致电|联系方式)"
    rf"[号码是为]*[ .:：*]{{0,6}}([0-9]{{10,11}}){_END}"
)
_COUNTRY = re.compile(r"\A(?:\+?86[ -]?(?=1[3-9])|\+1[ .-]?|1[ .-])")
_MAIL_BEFORE = re.compile(r"[A-Za-z0-9_.%+'-]{1,64}\Z")
_MAIL_AFTER = re.compile(r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,6}\.[A-Za-z]{2,24}")
_OTHER_SIGNS = ("@", "%", "\\", "&#")
_NO_DIGITS = dict.fromkeys(map(ord, "0123456789"))
_FEWEST_DIGITS = 7
_KEPT = 16384
"""Characters of a text whose finds are kept."""
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def sensitive(text: str, *, old_ids: bool = False) -> list[Sensitive]:
    """All finds in the text, in order, none over another; `old_ids` takes the 15-digit Chinese IDs too."""
    return list(_kept(text, old_ids) if len(text) <= _KEPT else _search(text, old_ids))


@lru_cache(maxsize=1024)
def _kept(text: str, old_ids: bool) -> tuple[Sensitive, ...]:
    """Kept, for the checks and the quotes look at the same texts again."""
    return tuple(_search(text, old_ids))


def _search(text: str, old_ids: bool) -> list[Sensitive]:
    if not _may_hold(text):
        return []
    found = [
        Sensitive(kind, *reading.span(start, end), value)
        for reading in readings(text)
        for kind, start, end, value in plain_finds(reading.text, old_ids=old_ids)
    ]
    found.sort(key=lambda one: one.start - one.end)
    starts: list[int] = []
    kept: list[Sensitive] = []
    for one in found:
        place = bisect_left(starts, one.end)  # kept finds lie apart, so only the one before can reach into this one
        if place and kept[place - 1].end > one.start:
            over = kept[place - 1]
            kept[place - 1] = replace(over, others=over.others | {one.value})
        else:
            starts.insert(place, one.start)
            kept.insert(place, one)
    return kept


def _may_hold(text: str) -> bool:
    """Quickly told of most prose: too few digits, no sign of an address, a key or an encoding."""
    if not text.isascii() or any(sign in text for sign in _OTHER_SIGNS) or has_key_sign(text):
        return True
    return len(text) - len(text.translate(_NO_DIGITS)) >= _FEWEST_DIGITS or is_long_worded(text)


def plain_finds(text: str, *, old_ids: bool = False) -> Iterator[tuple[Kind, int, int, str]]:
    """Kind, start, end and value of each find in the text as it stands, unread by any encoding; they may overlap."""
    if has_key_sign(text):
        yield from (("key", *one) for one in keys(text))
    if "@" in text:
        yield from (("e-mail address", *one) for one in _mails(text))
    if not _RUN.search(text):
        return
    yield from (("Chinese ID number", *one) for one in _ids(text, old_ids))
    yield from (("card number", *one) for one in _cards(text))
    yield from (("phone", *one) for one in _phones(text))


def _mails(text: str) -> _Found:
    at = text.find("@")
    while at >= 0:
        before, after = _MAIL_BEFORE.search(text, max(0, at - 64), at), _MAIL_AFTER.match(text, at + 1)
        if before and after:
            yield before.start(), after.end(), text[before.start() : after.end()].lower()
        at = text.find("@", at + 1)


def _ids(text: str, old_ids: bool) -> _Found:
    for found in _ID18.finditer(text):
        digits = _digits(found[0]).upper()
        if _is_day(digits[6:14]) and _id_checksum(digits):
            yield found.start(), found.end(), digits
    for found in _ID15.finditer(text) if old_ids else ():
        if _is_day(f"19{found[0][6:12]}"):
            yield found.start(), found.end(), found[0]


def _cards(text: str) -> _Found:
    for found in _CARD.finditer(text):
        places = [at for at in range(found.start(), found.end()) if text[at] not in " -"]
        for size in range(min(19, len(places)), 12, -1):
            end = places[size - 1] + 1
            digits = "".join(text[at] for at in places[:size])
            if not text[end : end + 1].isalnum() and luhn(digits) and len(set(digits)) > 1:
                yield found.start(), end, digits
                break


def _phones(text: str) -> _Found:
    for pattern in _PHONES:
        for found in pattern.finditer(text):
            yield found.start(), found.end(), _digits(_COUNTRY.sub("", found[0])).lstrip("+")
    if _TEN.search(text):
        for found in _TOLD_PHONE.finditer(text):
            yield found.start(1), found.end(1), found[1]


def _digits(text: str) -> str:
    return _NOT_DIGIT.sub("", text)


def luhn(digits: str) -> bool:
    """The check digit of a card number holds."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _id_checksum(digits: str) -> bool:
    total = sum(int(digit) * weight for digit, weight in zip(digits[:17], _WEIGHTS, strict=True))
    return "10X98765432"[total % 11] == digits[17]


def _is_day(digits: str) -> bool:
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    except ValueError:
        return False
    return True
