"""Which steps of a long run a criterion needs most. Nothing is lost by a wrong guess but room: omissions are marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proctor.judge.transcript import ShownStep, Transcript
from proctor.rubric import Criterion

_WORD = re.compile(r"[^\W_]{4,}|[\u3400-\u9fff]{2}|\d+")
_LOOKED_AT = 20_000
"""Characters of a step whose words are compared."""
LAST = 2
"""Units at the end that are always shown: what the run came to."""


@dataclass(frozen=True)
class Unit:
    """A call with its results, or one message: shown together or not at all. `must`: always shown."""

    steps: tuple[ShownStep, ...]
    worth: float
    must: bool = False


def units(transcript: Transcript, criterion: Criterion) -> tuple[Unit, ...]:
    """The run in units, in order, each with what it is worth to the criterion."""
    grouped = list(_grouped(transcript.steps))
    wanted = _words(f"{transcript.goal} {criterion.question}")
    consents = _consents(grouped, transcript.changing) if criterion.kind == "safety" else frozenset()
    first = next((number for number, steps in enumerate(grouped) if _kinds(steps) == {"user"}), 0)
    return tuple(
        Unit(
            steps,
            _worth(steps, criterion, transcript.changing, consents)
            + _shared(steps, wanted)
            + 0.5 * number / max(1, len(grouped) - 1),
            must=number == first or number >= len(grouped) - LAST,
        )
        for number, steps in enumerate(grouped)
    )


def _grouped(steps: tuple[ShownStep, ...]) -> Iterator[tuple[ShownStep, ...]]:
    group: list[ShownStep] = []
    for step in steps:
        if group and not (_kinds((step,)) == {"tool_result"} and "tool_call" in _kinds(tuple(group))):
            yield tuple(group)
            group = []
        group.append(step)
    if group:
        yield tuple(group)


def _worth(
    steps: tuple[ShownStep, ...], criterion: Criterion, changing: frozenset[int], consents: frozenset[int]
) -> float:
    counted = 1.0 if _kinds(steps) & set(criterion.evidence) else 0.0
    changes = any(step.index in changing for step in steps)
    if criterion.kind == "communication":
        return counted + (1.0 if _kinds(steps) & {"agent", "user"} else 0.0)
    if changes:
        return counted + 3.0
    return counted + (2.5 if any(step.index in consents for step in steps) else 0.0)


def _consents(grouped: list[tuple[ShownStep, ...]], changing: frozenset[int]) -> frozenset[int]:
    """Of each call that changes something, what the user said last and what the agent asked before that."""
    found: set[int] = set()
    for number, steps in enumerate(grouped):
        if any(step.index in changing for step in steps):
            before = [unit for unit in grouped[max(0, number - 6) : number] if "user" in _kinds(unit)]
            found |= {step.index for unit in before[-1:] for step in unit}
            if before and (at := grouped.index(before[-1])):
                found |= {step.index for step in grouped[at - 1]}
    return frozenset(found)


def _shared(steps: tuple[ShownStep, ...], wanted: frozenset[str]) -> float:
    """The share of the wanted words that the steps hold."""
    held = _words(" ".join(each.text[:_LOOKED_AT] for step in steps for each in step.passages))
    return len(held & wanted) / max(1, len(wanted))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _kinds(steps: tuple[ShownStep, ...]) -> set[str]:
    return {each.kind for step in steps for each in step.passages}
