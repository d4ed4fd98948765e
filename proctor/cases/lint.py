"""What is wrong with a suite that can be read: cases that show nothing, and what a set of cases lacks. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from proctor.cases.case import WANTED, Case, Category
from proctor.cases.demands import demands_a_deed, expectations_of, met_at_start, tools_named
from proctor.cases.files import Placed, SuiteRead
from proctor.errors import nearest
from proctor.matching.names import name_match
from proctor.trajectory import end_state_of

Level = Literal["error", "warning"]
OF_EACH = 10
"""Cases of each category that a baseline set has."""
CATEGORIES: tuple[Category, ...] = ("normal", "boundary", "adversarial")
LONG, LONGER = 10, 15
"""Turns of a chain, and of some that are longer."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong: a stable code, where (file and line), what, and what to do."""

    code: str
    where: str
    message: str
    fix: str
    level: Level = "error"


@dataclass(frozen=True)
class Surroundings:
    """What a suite is linted against."""

    today: date
    starts: Mapping[str, Any]
    """By service with a world: the state it begins with, as JSON data."""
    tools: Collection[str] | None = None
    """Every tool there is; None where some service's are not known."""


def lint(read: SuiteRead, around: Surroundings) -> tuple[Problem, ...]:
    """Every problem of a suite: those of cases in their order, then those of the whole."""
    of_cases = [problem for placed in read.cases for problem in _of_case(placed, around)]
    return (*of_cases, *_of_files(read), *_of_set(read))


def _of_case(placed: Placed, around: Surroundings) -> Iterator[Problem]:
    case = placed.case
    yield from _of_dates(placed, around.today)
    if case.expects_nothing:
        yield _problem("expects_nothing", placed, "expects nothing, so any agent passes it", "say what must come of it")
        return
    # `{id:ORD:mine}` stands in the state and in the paths alike, so it need not be replaced
    starts = {} if case.tape else {**around.starts, **case.state}
    met = met_at_start(case, end_state_of(starts)) if starts else None
    if met and not any(map(demands_a_deed, expectations_of(case))) and not case.branches and not case.recall:
        told = "is passed by an agent that does nothing: all of it holds at the start"
        yield _problem("do_nothing_passes", placed, told, "expect a state, a call or words that are not there yet")
    elif met and case.expect.state:
        told = "asserts a state that holds at the start already, so the state shows nothing"
        fix = "begin with another state, or assert what the agent is to change"
        yield _problem("met_at_start", placed, told, fix, "warning")
    yield from _of_tools(placed, around.tools)


def _of_dates(placed: Placed, today: date) -> Iterator[Problem]:
    until = placed.case.valid_until
    if until is not None and until < today:
        fix = "look whether its baseline still holds, and move the date"
        yield _problem("expired", placed, f"was valid until {until}", fix)


def _of_tools(placed: Placed, tools: Collection[str] | None) -> Iterator[Problem]:
    if tools is None:
        return
    for name in dict.fromkeys(tools_named(placed.case)):
        if not any(name_match(name, tool) for tool in tools):
            yield _problem("unknown_tool", placed, f'names the tool "{name}", which is not there', nearest(name, tools))


def _of_files(read: SuiteRead) -> Iterator[Problem]:
    """Who works on a file sees all of its cases, and a blind one that was seen is none any more."""
    seen = {placed.path for placed in read.cases if placed.case.set != "blind"}
    mixed = {placed.path: placed for placed in reversed(read.cases) if placed.case.set == "blind"}
    for path, first in reversed(mixed.items()):
        if path in seen:
            fix = "keep blind cases in a file of their own, which the suite includes"
            yield _problem("blind_mixed", first, "is blind, and stands in one file with cases that are not", fix)


def _of_set(read: SuiteRead) -> Iterator[Problem]:
    """Of the baseline set: its parts, and chains long enough to forget something in."""
    cases = [placed.case for placed in read.cases if placed.case.set == "baseline"]
    found = {name: sum(case.category == name for case in cases) for name in CATEGORIES}
    short = [f"{count} {name}" for name, count in found.items() if count < OF_EACH]
    if short:
        told = f"the baseline set has {', '.join(short)} of {OF_EACH} + {OF_EACH} + {OF_EACH}"
        yield Problem("set_short", str(read.path), told, "normal cases are the main flows", "warning")
    yield from _of_kinds(read, cases)
    yield from _of_chains(read, cases)


def _of_kinds(read: SuiteRead, cases: Sequence[Case]) -> Iterator[Problem]:
    for category, wanted in WANTED.items():
        found = {case.kind for case in cases if case.category == category}
        missing = [kind for kind in wanted if kind not in found]
        if missing:
            told = f"the baseline set has no {category} case of the kind {', '.join(missing)}"
            yield Problem("kinds_missing", str(read.path), told, "say the kind of each such case", "warning")


def _of_chains(read: SuiteRead, cases: Sequence[Case]) -> Iterator[Problem]:
    longest = max((len(case.turns) for case in cases), default=0)
    for turns, code in ((LONG, "no_long_chain"), (LONGER, "no_longer_chain")):
        if longest < turns:
            told = f"no case of the baseline set has {turns} turns; the longest has {longest}"
            yield Problem(code, str(read.path), told, "memory fails late: add a conversation that long", "warning")


def _problem(code: str, placed: Placed, told: str, fix: str, level: Level = "error") -> Problem:
    return Problem(code, placed.where, f"case {placed.case.id} {told}", fix, level)
