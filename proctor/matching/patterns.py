"""Regular expressions that cannot run away. Python's `re` has no time limit, so the work is bounded before it begins.

The bound is the number of ways in which a pattern can be tried on a text: the product of the choices that it leaves
open (`?` two, `|` one a branch, `{2,5}` four, `*` and `+` as many as the text is long). A repeated group that leaves a
choice open itself, looks ahead or may take nothing has no such bound and is refused, as are back references. So `(a+)+`
and `(a|aa)*` are refused, and `ORD-\\d+` is not.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import lru_cache

LONGEST_PATTERN = 500
LONGEST_TEXT = 5_000
MOST_WAYS = 20_000_000

_REPEAT = re.compile(r"[*+?]|\{(\d*)(?:,(\d*))?\}")
_SET = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GROUP = re.compile(r"\((?:\?(?:P<\w+>|P=\w+\)|<[=!]|[:=!>]|#[^)]*\)|\(\w+\)|[a-zA-Z-]+[:)]))?")


class PatternRefused(ValueError):
    """The pattern is no regular expression, or one whose cost has no bound; the message says why."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern with its choices: `fixed` ways, times the text's length for each of `open_repeats`."""

    compiled: re.Pattern[str]
    fixed: int
    open_repeats: int

    def ways(self, text: str, *, anywhere: bool) -> int:
        """An upper bound of the ways to try it on this text."""
        length: int = len(text) + 1
        return self.fixed * int(length ** (self.open_repeats + anywhere))

    def found(self, text: str, *, anywhere: bool = False) -> bool | None:
        """Whether the whole text (or a part of it, `anywhere`) matches; None where that is too much work to try."""
        if len(text) > LONGEST_TEXT or self.ways(text, anywhere=anywhere) > MOST_WAYS:
            return None
        return (self.compiled.search(text) if anywhere else self.compiled.fullmatch(text)) is not None


@dataclass(slots=True)
class _Group:
    """The choices inside one pair of brackets, while it is read."""

    fixed: int = 1
    open_repeats: int = 0
    branches: int = 1
    takes: bool = False
    """A character at least, each time it is gone through."""
    looks: bool = False
    """Ahead or behind, so that characters are gone through more than once."""

    @property
    def ways(self) -> int:
        return self.fixed * self.branches

    @property
    def repeats_cheaply(self) -> bool:
        return self.ways == 1 and self.open_repeats == 0 and self.takes and not self.looks


@lru_cache(maxsize=512)
def bounded_pattern(text: str) -> Pattern:
    """The pattern compiled. Raises PatternRefused."""
    if len(text) > LONGEST_PATTERN:
        raise PatternRefused(f"it has {len(text)} characters; at most {LONGEST_PATTERN} are taken")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(text)
    except (Warning, re.error, RecursionError, OverflowError) as error:
        raise PatternRefused(f"it is no regular expression: {error}") from None
    if compiled.flags & re.VERBOSE:
        raise PatternRefused("the verbose form (?x) is not taken")
    whole = _choices(text)
    if whole.ways > MOST_WAYS:
        raise PatternRefused("its optional parts can be tried in too many ways")
    return Pattern(compiled, whole.ways, whole.open_repeats)


def _choices(text: str) -> _Group:
    stack = [_Group()]
    at = 0
    while at < len(text):
        inner: _Group | None = None
        takes = text[at] not in "^$|"
        if text[at] == "\\":
            if text[at + 1] in "123456789":
                raise PatternRefused("back references are not taken")
            takes = text[at + 1] not in "AbBZ"
            at += 2
        elif found := _SET.match(text, at):
            at = found.end()
        elif found := _GROUP.match(text, at):
            at = found.end()
            _open(stack, found[0])
            continue
        elif text[at] == ")":
            inner = stack.pop()
            takes = inner.takes
            at += 1
        else:
            if text[at] == "|":
                stack[-1].branches += 1
            at += 1
        at = _repeat(text, at, stack[-1], inner, takes=takes)
    return stack[0]


def _open(stack: list[_Group], opening: str) -> None:
    if opening.startswith(("(?P=", "(?(")):
        raise PatternRefused("back references are not taken")
    if not opening.endswith(")"):
        stack.append(_Group(looks=opening in ("(?=", "(?!", "(?<=", "(?<!")))


def _repeat(text: str, at: int, outer: _Group, inner: _Group | None, *, takes: bool) -> int:
    """Read the repeat that stands at `at`, if one does, and count what it repeats into `outer`."""
    found = _REPEAT.match(text, at)
    low, high = _bounds(found)
    if inner is not None:
        if (high is None or high > 1) and not inner.repeats_cheaply:
            why = "leaves a choice open inside, looks ahead or may take nothing: its cost has no bound"
            raise PatternRefused(f"a repeated group {why}")
        outer.looks |= inner.looks
        takes = takes and not inner.looks
        outer.fixed *= inner.ways
        outer.open_repeats += inner.open_repeats
    if high is None:
        outer.open_repeats += 1
    else:
        outer.fixed *= high - low + 1
    outer.takes |= takes and low > 0
    if not found:
        return at
    at = found.end()
    return at + 1 if at < len(text) and text[at] in "?+" else at


def _bounds(found: re.Match[str] | None) -> tuple[int, int | None]:
    if found is None or found[0] == "{}" or found[0] == "{,}":
        return (1, 1) if found is None or found[0] == "{}" else (0, None)
    if found[0] in "*+?":
        return (0, 1) if found[0] == "?" else (0, None)
    low = int(found[1] or 0)
    if "," not in found[0]:
        return low, low
    return (low, int(found[2])) if found[2] else (low, None)
