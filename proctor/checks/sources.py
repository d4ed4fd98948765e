"""Where a value may come from: the user's words, tool results, the policy, the initial data. Indexed once."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from proctor.checks.findings import shown
from proctor.checks.values import (
    Day,
    comes_from,
    comes_from_two,
    day_of,
    days_in,
    number_of,
    numbers_in,
    ordinal,
    same_day,
)
from proctor.sensitive.readings import folded
from proctor.trajectory import Trajectory

TOKEN = re.compile(r"[a-z0-9]+")
_DIGITS = re.compile(r"[a-z#_-]*([0-9]{5,})")
_RELATIVE = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|next|this|following|previous|earlier|later|before|after|last|"
    r"in \w+ days?|weeks?)\b"
    r"|今天|明天|后天|昨天|前天|下周|本周|上周|下个?月|星期|周[一二三四五六日末]",
    re.IGNORECASE,
)
_WHO = {"user": "user", "tool": "result", "system": "policy"}
_FEW = 12
"""Numbers that a text may hold for a sum or product of two to mean something: among many, any number is one."""
_NEAR = 4
"""The latest texts in which two such numbers may stand."""
_MOST_LOOKED_AT = 64
_WINDOW = 31


@dataclass(frozen=True)
class Source:
    """One text; `step` -1 stands before the run."""

    step: int
    who: str
    text: str
    """As it stands, in lower case."""

    @cached_property
    def numbers(self) -> frozenset[float]:
        """The numbers in it."""
        return numbers_in(self.text)

    @cached_property
    def days(self) -> set[Day]:
        """The days in it."""
        return days_in(self.text)


class Sources:
    """All sources of a run in order, and which words stand in which."""

    def __init__(self, trajectory: Trajectory) -> None:
        task = trajectory.task
        begin = [Source(-1, "policy", _low(task.policy))] if task.policy else []
        if task.initial_data is not None:
            begin.append(Source(-1, "initial data", _low(shown(task.initial_data))))
        said = [
            Source(step.index, _WHO[step.role], _low(step.text))
            for step in trajectory.steps
            if step.text and step.role in _WHO
        ]
        self.all = [*begin, *said]
        self.told = [
            Source(step.index, "agent", _low(step.text))
            for step in trajectory.steps
            if step.text and step.role == "assistant"
        ]
        self._steps = [source.step for source in self.all]
        self._first: dict[str, int] = {}
        """Every word, and the place of the source in which it stands first."""
        for place in range(len(self.all) - 1, -1, -1):
            self._first.update(dict.fromkeys(TOKEN.findall(self.all[place].text), place))

    def before(self, step: int) -> Iterator[Source]:
        """The sources that the agent had seen when it acted at `step`, latest first."""
        for place in range(bisect_left(self._steps, step) - 1, -1, -1):
            yield self.all[place]

    def knows_word(self, word: str, step: int) -> bool:
        """The word stands in a source before `step`."""
        place = self._first.get(word)
        return place is not None and self.all[place].step < step

    def holds(self, value: str, step: int) -> bool:
        """The value stands in a source before `step`, as it is or in another spelling."""
        low = _low(value).strip(" #\"'")
        tokens = TOKEN.findall(low)
        if not tokens:
            return not low or any(low in source.text for source in self._some(step))
        if len(tokens) == 1 and tokens[0] == low:
            return self.knows_word(low, step) or self._holds_digits(low, step)
        if any(token not in self._first for token in tokens):
            return self._holds_digits(low, step)
        start = max(self._first[token] for token in tokens)
        within = self.all[start : start + _MOST_LOOKED_AT]
        return any(source.step < step and low in source.text for source in within) or self._holds_digits(low, step)

    def holds_words(self, value: str, step: int) -> bool:
        """Every word of the value stands in some source before `step`: names and addresses."""
        low = _low(value)
        tokens = TOKEN.findall(low)
        if not tokens:
            return any(low.strip() in source.text for source in self._some(step))
        return all(self.knows_word(token, step) for token in tokens)

    def holds_number(self, number: float, step: int, beside: frozenset[float] = frozenset()) -> bool:
        """The number stands in a source, or is a sum, difference or product of two.

        The two stand in one of the latest texts, which holds few numbers; or one of them is `beside` it in the call's
        arguments and the other stands in a source or in words of the agent's that the user has answered (a total that
        is split over two cards).
        """
        for place, source in enumerate(self._some(step)):
            if number in source.numbers or any(comes_from(number, one, source.numbers) for one in beside):
                return True
            if place < _NEAR and len(source.numbers) <= _FEW and comes_from_two(number, source.numbers):
                return True
        return bool(beside) and any(
            comes_from(number, one, told.numbers) for told in self._answered(step) for one in beside
        )

    def _answered(self, step: int) -> Iterator[Source]:
        last = next((source.step for source in self._some(step) if source.who == "user"), -1)
        end = bisect_left(self.told, last, key=lambda told: told.step)
        return iter(self.told[max(0, end - _MOST_LOOKED_AT) : end])

    def holds_day(self, day: Day, step: int) -> bool:
        """The day stands in a source in any notation, lies between two that one text names, or is told relatively."""
        known: list[int] = []
        wanted = ordinal(day, 2000)
        relative = False
        for source in self._some(step):
            if any(same_day(day, other) for other in source.days):
                return True
            found = [at for other in source.days if (at := ordinal(other, day[0] or 2000)) is not None]
            if wanted is not None and found and source.who == "user" and min(found) <= wanted <= max(found):
                return True
            known += found
            relative = relative or (source.who == "user" and bool(_RELATIVE.search(source.text)))
        return relative and wanted is not None and any(abs(at - wanted) <= _WINDOW for at in known)

    def _some(self, step: int) -> Iterator[Source]:
        """The latest sources, and those from before the run: bounded, so that a long run costs no more per value."""
        yield from islice(self.before(step), _MOST_LOOKED_AT)
        yield from (source for source in self.all[:2] if source.step < 0)

    def _holds_digits(self, low: str, step: int) -> bool:
        """An id may be told without its letters: `W2378156` where the user wrote 2378156."""
        found = _DIGITS.fullmatch(low)
        return bool(found) and self.knows_word(found[1] if found else "", step)


def supported(value: object, sources: Sources, step: int, beside: frozenset[float] = frozenset()) -> bool:
    """The value stands before `step` in any notation, or is derived. Texts are taken as ids, days or numbers."""
    if isinstance(value, str):
        if sources.holds(value, step):
            return True
        day = day_of(value)
        if day is not None:
            return sources.holds_day(day, step)
    number = number_of(value)
    return number is not None and sources.holds_number(number, step, beside)


def _low(text: str) -> str:
    return folded(text).text.lower()
