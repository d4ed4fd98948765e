"""What a case expects, looked for in one run of it: the checks, of the whole run and of each turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proctor.cases.case import Case
from proctor.cases.parts import Called, Expectations
from proctor.check import CheckResult
from proctor.checks.answers import answer_contains, answer_must_not
from proctor.checks.branch import branch_taken
from proctor.checks.events import intent_known, skill_routed
from proctor.checks.expected_writes import expected_writes
from proctor.checks.final_state import final_state
from proctor.checks.preconditions import preconditions
from proctor.checks.recall import recall
from proctor.checks.state_held import state_held
from proctor.checks.tools import calls_match, tool_called, tool_not_called, tools_in_order
from proctor.checks.writes import ToolEffects
from proctor.trajectory import Step, Trajectory


@dataclass(frozen=True)
class Looked:
    """The result of one check of a case; `turn` is None for one of the whole run."""

    turn: int | None
    result: CheckResult


def evaluate(case: Case, run: Trajectory, effects: ToolEffects) -> tuple[Looked, ...]:
    """Every check that the case asks for: those of the whole run, the state first, then those of the turns."""
    whole = [Looked(None, result) for result in (*_of(case.expect, run, effects), *_of_case(case, run))]
    for number, turn in enumerate(case.turns):
        part = turn_of(run, number)
        whole += [Looked(number, result) for result in _of(turn.expect, part, effects)]
    return tuple(whole)


def turn_of(run: Trajectory, turn: int) -> Trajectory:
    """One turn as a run of its own, which ends with the state after it."""
    kept = [step for step in run.steps if step.turn == turn]
    places = {step.index: at for at, step in enumerate(kept)}
    after = next((state.after for state in run.states if state.turn == turn), None)
    said = [step.text for step in kept if step.role == "assistant" and (step.text or _says_nothing(step))]
    return run.model_copy(
        update={
            "steps": tuple(step.model_copy(update={"index": places[step.index]}) for step in kept),
            "events": tuple(
                each.model_copy(update={"step": places[each.step]}) for each in run.events if each.step in places
            ),
            "states": tuple(state for state in run.states if state.turn == turn),
            "end_state": after,
            "final_answer": said[-1] if said else None,
        }
    )


def _says_nothing(step: Step) -> bool:
    """An empty reply is the last word all the same: what was said before it is no answer."""
    return step.text == "" and not step.tool_calls


def _of(expect: Expectations, run: Trajectory, effects: ToolEffects) -> Iterator[CheckResult]:
    writes, reads = effects.writes, effects.reads
    if expect.state:
        yield final_state(run, expect.state, writes=writes, reads=reads)
    if expect.writes is not None:
        yield expected_writes(run, expect.writes, expect.outputs, writes=writes, reads=reads)
    if expect.held:
        yield state_held(run, expect.held)
    yield from (_called(run, each) for each in expect.called)
    yield from (tool_not_called(run, each) for each in expect.not_called)
    if expect.in_order:
        yield tools_in_order(run, expect.in_order)
    if expect.calls:
        yield calls_match(run, expect.calls.calls, expect.calls.mode)
    if expect.requires:
        yield preconditions(run, expect.requires)
    yield from _words(expect, run)


def _words(expect: Expectations, run: Trajectory) -> Iterator[CheckResult]:
    if expect.says:
        yield answer_contains(run, expect.says)
    if expect.says_finally:
        yield answer_contains(run, expect.says_finally, final=True)
    if expect.never_says:
        yield answer_must_not(run, expect.never_says)
    if expect.intents:
        yield intent_known(run, expect.intents)
    if expect.skill:
        yield skill_routed(run, expect.skill)


def _called(run: Trajectory, wanted: Called | str) -> CheckResult:
    if isinstance(wanted, str):
        return tool_called(run, wanted)
    return tool_called(
        run,
        wanted.tool,
        arguments=wanted.arguments,
        at_least=wanted.at_least,
        at_most=wanted.at_most,
        succeeded=wanted.succeeded,
    )


def _of_case(case: Case, run: Trajectory) -> Iterator[CheckResult]:
    for branch in case.branches:
        yield branch_taken(run, branch.routes, branch.right)
    for fact in case.recall:
        yield recall(run, fact.fact, instead=fact.instead, losses=fact.losses)
