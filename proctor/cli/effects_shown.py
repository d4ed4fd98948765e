"""Effects, and what speaks against them, in lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proctor.trace import EffectSeen, Unexplained

_HEAD = ("service", "call", "effect", "why", "calls")
ADVICE = (
    "a writer outside, a wrong effect, or a value that changes (a clock); see docs/state.md:",
    "declare the tool that writes under writes, put services that share data into one state_group, "
    "keep others off staging; a clock may stay",
)
"""What the lines of `unexplained_lines` can mean, and what to do."""


def effect_lines(effects: Sequence[EffectSeen]) -> list[str]:
    """A table, its columns as wide as they must be."""
    rows = [_HEAD, *((each.service, each.name, each.effect, each.why, str(each.count)) for each in effects)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def unexplained_lines(found: Sequence[Unexplained]) -> Iterator[str]:
    """A line for each read that was answered differently with no write between."""
    for each in found:
        places = ", ".join(each.where) + (f" and {each.more} more" if each.more else "")
        pairs = f", as in {each.count - 1} more pairs" if each.count > 1 else ""
        told = f"{each.service} {each.name} answered differently at #{each.first} and #{each.second}"
        yield f"{told} with no write between: {places}{pairs}"
