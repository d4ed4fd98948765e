"""Where a value differs from what its matcher wants: the field, what was wanted, what was got."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from proctor.matching.dates import Unclear, read_date, same_date
from proctor.matching.matchers import (
    Date,
    Equal,
    Fields,
    Ignore,
    Items,
    Matcher,
    Number,
    OneOf,
    Regex,
    Subset,
)
from proctor.matching.patterns import bounded_pattern
from proctor.matching.values import DEEPEST, cut, kind, pointer, same, shown

How = Literal["differs", "missing", "extra", "undecidable"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One field that is not as wanted. `undecidable`: it may or may not be, and `why` says what is in doubt."""

    at: str
    """JSON pointer into the value; empty for the whole of it."""
    how: How
    wanted: str
    got: str
    why: str = ""

    def __str__(self) -> str:
        where = cut(self.at) or "the value"
        if self.how == "missing":
            return f"{where}: wanted {self.wanted}, and it is not there"
        if self.how == "extra":
            return f"{where}: not wanted, got {self.got}"
        said = f"{where}: wanted {self.wanted}, got {self.got}"
        return f"{said} ({self.why})" if self.why else said


def mismatches(matcher: Matcher, value: Any, at: str = "") -> tuple[Mismatch, ...]:
    """Every field that is not as wanted; none where the value matches. Never raises, whatever the value is."""
    return tuple(_walk(matcher, value, at))


def field_mismatches(
    wanted: Mapping[str, Any], value: Any, at: str = "", *, others: Literal["refused", "ignored"] = "refused"
) -> tuple[Mismatch, ...]:
    """The same for an object given as one matcher a field; `others` says what fields not named there are."""
    return tuple(_object(wanted, value, at, closed=others == "refused"))


def matches(matcher: Matcher, value: Any) -> bool:
    """The value is as wanted, without doubt."""
    return next(_walk(matcher, value, ""), None) is None


def _walk(matcher: Matcher, value: Any, at: str) -> Iterator[Mismatch]:
    if at.count("/") > DEEPEST:
        yield _too_deep(at)
        return
    match matcher:
        case Ignore():
            return
        case Equal(equal=wanted):
            yield from _equal(wanted, value, at)
        case Fields(root=fields):
            yield from _object(fields, value, at, closed=True)
        case Subset(subset=fields):
            yield from _object(fields, value, at, closed=False)
        case Items(root=items):
            yield from _list(items, value, at)
        case OneOf(one_of=choices):
            yield from _one_of(choices, value, at)
        case Number():
            yield from _number(matcher, value, at)
        case Regex():
            yield from _regex(matcher, value, at)
        case Date():
            yield from _date(matcher, value, at)


def _equal(wanted: Any, value: Any, at: str) -> Iterator[Mismatch]:
    """Objects and lists are gone into, so that the field is named and not the whole."""
    if at.count("/") > DEEPEST:
        yield _too_deep(at)
    elif isinstance(wanted, dict) and isinstance(value, dict):
        yield from _object({key: Equal(equal=inner) for key, inner in wanted.items()}, value, at, closed=True)
    elif isinstance(wanted, list) and isinstance(value, list) and len(wanted) == len(value):
        for index, (a, b) in enumerate(zip(wanted, value, strict=True)):
            yield from _equal(a, b, pointer(at, index))
    elif not same(wanted, value):
        yield Mismatch(at, "differs", shown(wanted), shown(value), _kinds(wanted, value))


def _too_deep(at: str) -> Mismatch:
    levels = f"{DEEPEST} levels"
    return Mismatch(at, "undecidable", f"at most {levels}", "more", f"nested deeper than {levels}")


def _kinds(wanted: Any, got: Any) -> str:
    """Said of values whose type is easily overlooked: "10" and 10, 1 and true."""
    unlike = wanted is not None and got is not None and kind(wanted) != kind(got)
    return f"a {kind(wanted)} was wanted, not a {kind(got)}" if unlike else ""


def _object(wanted: Mapping[str, Any], value: Any, at: str, *, closed: bool) -> Iterator[Mismatch]:
    if not isinstance(value, dict):
        yield Mismatch(at, "differs", "an object", shown(value), f"it is a {kind(value)}")
        return
    for key, matcher in wanted.items():
        if key in value:
            yield from _walk(matcher, value[key], pointer(at, key))
        else:
            yield Mismatch(pointer(at, key), "missing", described(matcher), "nothing")
    if closed:
        for key in value:
            if key not in wanted:
                yield Mismatch(pointer(at, key), "extra", "nothing", shown(value[key]))


def _list(wanted: tuple[Any, ...], value: Any, at: str) -> Iterator[Mismatch]:
    if not isinstance(value, list):
        yield Mismatch(at, "differs", "a list", shown(value), f"it is a {kind(value)}")
    elif len(value) != len(wanted):
        why = f"{len(value)} items instead of {len(wanted)}"
        yield Mismatch(at, "differs", described(Items(wanted)), shown(value), why)
    else:
        for index, (matcher, inner) in enumerate(zip(wanted, value, strict=True)):
            yield from _walk(matcher, inner, pointer(at, index))


def _one_of(choices: tuple[Any, ...], value: Any, at: str) -> Iterator[Mismatch]:
    found = [mismatches(choice, value, at) for choice in choices]
    if all(found):
        doubt = next((each.why for one in found for each in one if each.how == "undecidable"), "")
        yield Mismatch(at, "undecidable" if doubt else "differs", described(OneOf(one_of=choices)), shown(value), doubt)


def _number(matcher: Number, value: Any, at: str) -> Iterator[Mismatch]:
    fits = False
    if isinstance(value, int | float) and not isinstance(value, bool) and _finite(value):
        fits = abs(_exact(value) - _exact(matcher.number)) <= _exact(matcher.within)
    if not fits:
        why = "" if kind(value) == "number" else f"a number was wanted, not a {kind(value)}"
        yield Mismatch(at, "differs", described(matcher), shown(value), why)


def _finite(value: int | float) -> bool:
    return isinstance(value, int) or (value == value and abs(value) != float("inf"))


def _exact(value: int | float) -> Fraction:
    """As it is written in JSON: 0.1 is a tenth."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def _regex(matcher: Regex, value: Any, at: str) -> Iterator[Mismatch]:
    if not isinstance(value, str):
        yield Mismatch(at, "differs", described(matcher), shown(value), f"a string was wanted, not a {kind(value)}")
        return
    found = bounded_pattern(matcher.regex).found(value, anywhere=matcher.anywhere)
    if found is None:
        why = f"the text is too long ({len(value)} characters) for this pattern"
        yield Mismatch(at, "undecidable", described(matcher), shown(value), why)
    elif not found:
        yield Mismatch(at, "differs", described(matcher), shown(value))


def _date(matcher: Date, value: Any, at: str) -> Iterator[Mismatch]:
    wanted = read_date(matcher.date)
    got = read_date(value) if isinstance(value, str) else None
    if got is None or wanted is None or isinstance(wanted, Unclear):
        yield Mismatch(at, "differs", described(matcher), shown(value), "it is no date")
        return
    equal = got if isinstance(got, Unclear) else same_date(wanted, got)
    if isinstance(equal, Unclear):
        yield Mismatch(at, "undecidable", described(matcher), shown(value), equal.why)
    elif not equal:
        yield Mismatch(at, "differs", described(matcher), shown(value))


def described(matcher: Matcher) -> str:
    """What a matcher wants, in words for a message."""
    match matcher:
        case Equal(equal=wanted):
            return shown(wanted)
        case Ignore():
            return "anything"
        case Number(number=number, within=within):
            return f"the number {shown(number)}" + (f" within {shown(within)}" if within else "")
        case Regex(regex=regex, anywhere=anywhere):
            return f"a text {'with' if anywhere else 'like'} {shown(regex)}"
        case Date(date=text):
            return f"the date {text}"
        case OneOf(one_of=choices):
            return cut(f"one of {', '.join(map(described, choices))}")
        case Items(root=items):
            return cut(f"[{', '.join(map(described, items))}]")
        case Fields(root=fields) | Subset(subset=fields):
            inside = ", ".join(f"{key}: {described(inner)}" for key, inner in fields.items())
            return cut(f"{{{inside}}}" if isinstance(matcher, Fields) else f"at least {{{inside}}}")
