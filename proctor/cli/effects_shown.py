"""Effects in lines for a person."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.trace import EffectSeen

_HEAD = ("service", "call", "effect", "why", "calls")


def effect_lines(effects: Sequence[EffectSeen]) -> list[str]:
    """A table, its columns as wide as they must be."""
    rows = [_HEAD, *((each.service, each.name, each.effect, each.why, str(each.count)) for each in effects)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
