"""Matchers as data: how a suite file says what an argument, or a value in a state, must be.

    {"equal": ANY}                      the same JSON value; 1, 1.0 and true differ
    {"one_of": [M, ...]}                any of these
    {"regex": "ORD-\\\\d+"}               the whole text; with "anywhere": true a part of it
    {"number": 10, "within": 0.01}      a number (10 or 10.0) no further off than that; 0 where not said
    {"date": "2026-12-01"}              that day in any notation; with a time, that instant
    {"ignore": true}                    anything, but it must be there
    {"subset": {"a": M}}                an object with at least these fields
    {"a": M, "b": M}   [M, M]           an object, or a list, of exactly these
    anything else                       the same as {"equal": ...}

An object is a matcher where its keys are exactly a matcher's; to mean such an object itself, write `{"equal": {...}}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, RootModel, ValidationError, field_validator

from proctor.matching.dates import Unclear, read_date
from proctor.matching.patterns import bounded_pattern
from proctor.matching.values import DEEPEST, pointer, shown


class MatcherRefused(ValueError):
    """A matcher that cannot be: `at` is the JSON pointer to it, the message says what is wrong."""

    def __init__(self, at: str, why: str) -> None:
        super().__init__(f"at {at or 'the top'}: {why}")
        self.at = at


class _Matcher(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Equal(_Matcher):
    """The same JSON value."""

    equal: Any


class OneOf(_Matcher):
    """Any of these matchers."""

    one_of: tuple[Any, ...]


class Regex(_Matcher):
    """A text that the pattern matches; patterns whose cost has no bound are refused."""

    regex: str
    anywhere: bool = False

    @field_validator("regex")
    @classmethod
    def _bounded(cls, regex: str) -> str:
        bounded_pattern(regex)
        return regex


class Number(_Matcher):
    """A number, whole or not, at most `within` away."""

    number: int | float
    within: int | float = 0

    @field_validator("number", "within")
    @classmethod
    def _finite(cls, number: int | float) -> int | float:
        if isinstance(number, float) and not -1e308 <= number <= 1e308:
            raise ValueError("it is not a finite number")
        return number


class Date(_Matcher):
    """A day, or an instant where a time is said, in any notation."""

    date: str

    @field_validator("date")
    @classmethod
    def _clear(cls, text: str) -> str:
        read = read_date(text)
        if read is None:
            raise ValueError(f"{shown(text)} is no date; write it as 2026-12-01")
        if isinstance(read, Unclear):
            raise ValueError(f"{shown(text)} is not clear: {read.why}; write it as 2026-12-01")
        return text


class Ignore(_Matcher):
    """Anything."""

    ignore: Literal[True]


class Subset(_Matcher):
    """An object that has at least these fields."""

    subset: dict[str, Any]


class Fields(RootModel[dict[str, Any]]):
    """An object of exactly these fields, each with its matcher."""


class Items(RootModel[tuple[Any, ...]]):
    """A list of exactly these, in order."""


Matcher: TypeAlias = Equal | OneOf | Regex | Number | Date | Ignore | Subset | Fields | Items

_KEYED: tuple[type[Equal | OneOf | Regex | Number | Date | Ignore | Subset], ...] = (
    Equal,
    OneOf,
    Regex,
    Number,
    Date,
    Ignore,
    Subset,
)


def matcher_of(plain: Any, at: str = "") -> Matcher:
    """The matcher that plain JSON means. Raises MatcherRefused."""
    if isinstance(plain, _Matcher | Fields | Items):
        return cast(Matcher, plain)
    if at.count("/") > DEEPEST:
        raise MatcherRefused(at[:80], f"it is nested deeper than {DEEPEST} levels")
    if isinstance(plain, list | tuple):
        return Items(tuple(matcher_of(inner, pointer(at, index)) for index, inner in enumerate(plain)))
    if not isinstance(plain, Mapping):
        return Equal(equal=plain)
    for keyed in _KEYED:
        first, *others = keyed.model_fields
        if first in plain and plain.keys() <= {first, *others}:
            return _keyed(keyed, dict(plain), at)
    return Fields(fields_of(plain, at))


def fields_of(plain: Mapping[str, Any], at: str = "") -> dict[str, Matcher]:
    """The matcher of each field of an object that is no matcher itself. Raises MatcherRefused."""
    return {key: matcher_of(inner, pointer(at, key)) for key, inner in plain.items()}


def _keyed(keyed: type[_Matcher], plain: dict[str, Any], at: str) -> Matcher:
    said = dict(plain)
    if keyed is OneOf and isinstance(plain["one_of"], list | tuple):
        plain["one_of"] = tuple(matcher_of(each, pointer(at, i)) for i, each in enumerate(plain["one_of"]))
    if keyed is Subset and isinstance(plain["subset"], Mapping):
        plain["subset"] = fields_of(plain["subset"], at)
    try:
        return cast(Matcher, keyed.model_validate(plain))
    except ValidationError as error:
        first = error.errors()[0]
        where = "/".join(str(part) for part in first["loc"])
        raise MatcherRefused(at, f"{where}: {first['msg']}, not {shown(said.get(where, said))}") from None


MatcherField = Annotated[Any, BeforeValidator(matcher_of)]
"""A field of a pydantic model that holds a matcher, written as plain JSON."""

ArgumentsField = Annotated[dict[str, Any], BeforeValidator(fields_of)]
"""A field that holds one matcher for each argument, by its name."""
