"""What a trial came to, fact by fact, and which trials of a case came to something else than the others.

A fact is the end state, the writes made, or an id, a number, a day or a denial in the last reply; other words and
another order say nothing. What a trial does not tell differs from nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from proctor.checks.state_changes import changes_state
from proctor.checks.values import Day, days_in, number_of, numbers_in, same_day, without_days
from proctor.judge.showing import as_json
from proctor.tool_calls import calls_of
from proctor.trajectory import Trajectory

_TOKEN = re.compile(r"[\w#$€£¥￥-]*\d[\w.,:/%-]*")
_ITEM = re.compile(r"^\s*\d{1,2}[.)、]\s", re.MULTILINE)
_COURTESY = re.compile(
    r"(?:do not|don['’]t) (?:hesitate|worry)|no (?:problem|worries|trouble)|not only|不客气|不用谢|没问题|没关系",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?:not|never|cannot|unable|no|none|nothing|neither)\b|n['’]t\b|未|没|无法|不能|不会|不可|并不|不是",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Said:
    """The facts of a last reply. `named` are ids, and numbers in digits; `numbers` are those in words, too."""

    named: frozenset[str]
    numbers: frozenset[float]
    days: frozenset[Day]
    denies: bool

    def agrees(self, other: Said) -> bool:
        """Each fact of one stands in the other, in whatever notation."""
        return self.denies == other.denies and self._within(other) and other._within(self)

    def _within(self, other: Said) -> bool:
        named = all(each in other.named or number_of(each) in other.numbers for each in self.named)
        return named and all(any(same_day(day, each) for each in other.days) for day in self.days)


@dataclass(frozen=True)
class Facts:
    """Of one trial; None where it does not tell."""

    end_state: str | None
    writes: tuple[str, ...]
    said: Said | None

    def agrees(self, other: Facts) -> bool:
        """No fact that both tell is another one."""
        if None not in (self.end_state, other.end_state) and self.end_state != other.end_state:
            return False
        if self.writes != other.writes:
            return False
        return self.said is None or other.said is None or self.said.agrees(other.said)


@dataclass(frozen=True)
class Drift:
    """Which trials differ in a fact from what most of them came to. Trials are numbered from 1."""

    compared: tuple[int, ...]
    differing: tuple[int, ...]
    left_out: tuple[int, ...]
    """Broken off by an error, which says nothing of the agent."""

    @property
    def share(self) -> float | None:
        """Of the trials compared; None where there are not two."""
        return len(self.differing) / len(self.compared) if len(self.compared) > 1 else None


def drift(trials: Sequence[Trajectory]) -> Drift:
    """How far the trials of a case differ."""
    whole = {number: facts_of(trial) for number, trial in enumerate(trials, 1) if trial.error is None}
    left_out = tuple(number for number in range(1, len(trials) + 1) if number not in whole)
    groups = [[number for number, other in whole.items() if facts.agrees(other)] for facts in whole.values()]
    most = max(groups, key=len, default=[])
    return Drift(tuple(whole), tuple(number for number in whole if number not in most), left_out)


def facts_of(trial: Trajectory) -> Facts:
    """What the trial came to."""
    return Facts(
        end_state=None if trial.end_state is None else plain_json(trial.end_state),
        writes=tuple(sorted(writes_of(trial))),
        said=None if not trial.final_answer else said_in(trial.final_answer),
    )


def writes_of(trial: Trajectory) -> list[str]:
    """The calls that change something, in order, whatever the order of their arguments."""
    return [f"{call.name} {plain_json(call.arguments)}" for call in calls_of(trial) if changes_state(call)]


def said_in(text: str) -> Said:
    """The facts of a last reply; the numbers of a list's items are none."""
    plain = without_days(_ITEM.sub(" ", text))
    tokens = (found[0].strip(".,:/-").casefold() for found in _TOKEN.finditer(plain))
    named = frozenset(_normal(token) for token in tokens if token)
    numbers = numbers_in(plain) | {number for each in named if (number := number_of(each)) is not None}
    return Said(named, numbers, frozenset(days_in(text)), _DENIAL.search(_COURTESY.sub(" ", text)) is not None)


def _normal(token: str) -> str:
    number = number_of(token)
    return token if number is None else f"{number:g}" if number < 1e6 else str(number)


def plain_json(value: object) -> str:
    """JSON in which the order of an object's keys says nothing, at any depth."""
    try:
        return as_json(_ordered(value))
    except RecursionError:
        return as_json(value)


def _ordered(value: object) -> object:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value, key=str)}
    return [_ordered(each) for each in value] if isinstance(value, list) else value
