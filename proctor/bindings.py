"""Volatile values of one session: which live one stands for which recorded one, bound once, for all services."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from proctor.forgiving import LeftOut

SHORTEST = 6
"""Characters. A shorter value, such as a day's number, is in other places too by chance: it is never threaded."""


class Threaded(NamedTuple):
    """A live value that a request carried on, and the recorded one for which it stands."""

    place: str
    live: str
    recorded: str


@dataclass
class Bindings:
    """A recorded value stands for one live value, the first that was met at its place.

    A live value is threaded into later requests where it stands for just one recorded value.
    """

    _live: dict[tuple[str, str], str] = field(default_factory=dict)
    """By rule and recorded value."""
    _recorded: dict[str, set[str]] = field(default_factory=dict)
    """By live value."""
    _threads: re.Pattern[str] | None = None

    def conflict(self, recorded: Iterable[LeftOut], asked: Iterable[LeftOut]) -> str | None:
        """Why the values of two requests of one essence cannot stand for each other; None where they can."""
        new: dict[tuple[str, str], str] = {}
        for old, live in zip(recorded, asked, strict=True):
            if old.rule != live.rule:
                return f"{live.place}: another pattern matches here than in the recording"
            if old.value == live.value:
                continue
            bound = self._live.get((old.rule, old.value)) or new.setdefault((old.rule, old.value), live.value)
            if bound != live.value:
                was = f'"{bound}" stands for the recorded "{old.value}"'
                return f'{live.place}: {was}, and now comes "{live.value}"'
        return None

    def bind(self, recorded: Iterable[LeftOut], asked: Iterable[LeftOut]) -> None:
        """Note what stands for what, after a match."""
        for old, live in zip(recorded, asked, strict=True):
            if old.value != live.value:
                self._live.setdefault((old.rule, old.value), live.value)
                if old.value not in self._recorded.setdefault(live.value, set()):
                    self._recorded[live.value].add(old.value)
                    self._threads = None

    def thread(self, place: str, text: str, told: list[Threaded]) -> str:
        """A text of a request with recorded values for live ones, each noted in `told`."""
        if self._threads is None:
            self._threads = whole_words(self._threadable())
        if self._threads is None:
            return text

        def recorded(match: re.Match[str]) -> str:
            value = self._threadable()[match.group()]
            told.append(Threaded(place, match.group(), value))
            return value

        return self._threads.sub(recorded, text)

    def _threadable(self) -> dict[str, str]:
        return {
            live: next(iter(recorded))
            for live, recorded in self._recorded.items()
            if len(recorded) == 1 and len(live) >= SHORTEST
        }


def whole_words(values: Iterable[str]) -> re.Pattern[str] | None:
    """What matches one of these where no letter or digit of the Latin script goes on; None for no values."""
    longest_first = sorted(values, key=len, reverse=True)
    if not longest_first:
        return None
    return re.compile(rf"(?<![0-9A-Za-z_])(?:{'|'.join(map(re.escape, longest_first))})(?![0-9A-Za-z_])")
