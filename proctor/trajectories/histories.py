"""What stood said after an exchange, in marks that compare fast, and what a later request adds to it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, takewhile
from typing import NamedTuple

from proctor.trajectories.exchange import LlmExchange
from proctor.trajectories.steps import canonical
from proctor.trajectory import Step


class Mark(NamedTuple):
    """A message. `exact` is equal for two that say the same, `loose` also for two answers of a model that differ.

    Private reasoning, which is seldom sent back, counts in neither.
    """

    exact: int
    loose: int
    calls: tuple[str, ...]
    """Ids of the calls that it makes, or of the one that it answers, each with its role before it."""


@dataclass(frozen=True)
class History:
    """Instructions apart: some agents write them anew (with the time of day) for each request."""

    system: tuple[Mark, ...]
    marks: tuple[Mark, ...]
    """The messages after the instructions, and the answer."""
    asked: int
    """How many of them the request held."""
    echoed: frozenset[str]
    """Ids of the calls in the request."""
    minted: frozenset[str]
    """Ids of the calls that the model made so far."""

    @cached_property
    def exact(self) -> list[int]:
        """For each number of messages from the beginning, what they say in one number."""
        return list(accumulate((mark.exact for mark in self.marks), _both, initial=0))

    @cached_property
    def loose(self) -> list[int]:
        """The same but for the model's words."""
        return list(accumulate((mark.loose for mark in self.marks), _both, initial=0))

    def repeats(self, before: History, *, edited: bool = False) -> bool:
        """Whether its request begins with all of an earlier history, `edited`: but for the model's words."""
        size = len(before.marks)
        if not size or size > self.asked or (edited and (not before.asked or size == self.asked)):
            return False
        return self.loose[size] == before.loose[size] if edited else self.exact[size] == before.exact[size]

    def shared(self, before: History) -> int:
        """How many messages of an earlier history its request repeats from the beginning."""
        counts = range(1, min(len(before.marks), self.asked) + 1)
        return bisect_left(counts, True, key=lambda count: self.exact[count] != before.exact[count])


def begun(exchange: LlmExchange) -> History:
    """The history after an exchange, as its request tells it."""
    system, heard = _parted(exchange)
    return History(
        system=tuple(map(_mark, system)),
        marks=tuple(map(_mark, (*heard, *exchange.answered))),
        asked=len(heard),
        echoed=_ids(heard),
        minted=_ids(exchange.answered),
    )


def following(before: History, own: History, exchange: LlmExchange) -> History:
    """The same where it is known what the exchange goes on from."""
    minted = before.minted | own.minted
    if not exchange.previous:
        return replace(own, minted=minted)
    return replace(
        own,
        system=own.system or before.system,
        marks=(*before.marks, *own.marks),
        asked=len(before.marks) + own.asked,
        minted=minted,
    )


def added(before: History, own: History, exchange: LlmExchange) -> tuple[Step, ...]:
    """What a request adds: instructions that changed, and the messages that had not been said before."""
    system, heard = _parted(exchange)
    new = _not_said(before.system, system)
    if exchange.previous:  # the API keeps the history, and the request holds only what is new
        return (*new, *heard)
    if own.repeats(before, edited=True) or own.repeats(before):
        return (*new, *heard[len(before.marks) :])
    known = own.shared(before)
    return (*new, *_not_said(before.marks[known:], heard[known:]))


def _both(before: int, mark: int) -> int:
    return hash((before, mark))


def _not_said(before: Iterable[Mark], asked: Iterable[Step]) -> list[Step]:
    """The messages of an edited history that had not been said: a call or a result must not count twice.

    A call and a result are known by their ids as well, whatever was done to the words around them.
    """
    said = list(before)
    new = []
    for step in asked:
        mark = _mark(step)
        same = next((each for each in said if each == mark), None)
        same = same or next((each for each in said if mark.calls and each.calls == mark.calls), None)
        if same is None:
            new.append(step)
        else:
            said.remove(same)
    return new


def _parted(exchange: LlmExchange) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    system = tuple(takewhile(lambda step: step.role == "system", exchange.asked))
    return system, exchange.asked[len(system) :]


def _ids(steps: Iterable[Step]) -> frozenset[str]:
    found = [call.id for step in steps for call in step.tool_calls]
    return frozenset(each for each in (*found, *(step.tool_call_id for step in steps)) if each)


def _mark(step: Step) -> Mark:
    calls = tuple((call.name, call.id, canonical(call.arguments)) for call in step.tool_calls)
    exact = hash((step.role, (step.text or "").strip(), step.tool_call_id or "", calls))
    ids = [f"{step.role} {each}" for each in (step.tool_call_id, *(call.id for call in step.tool_calls)) if each]
    return Mark(exact, hash((step.role, calls)) if step.role == "assistant" else exact, tuple(ids))
