"""A trajectory for a person: one line a message, turns apart, what was called with what and what came back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from proctor.trajectories.steps import text_of
from proctor.trajectory import Step, Trajectory

_WIDTH = 100
_WHO = {"system": "system", "user": "user", "assistant": "agent", "tool": "tool"}


def timeline(run: Trajectory, *, full: bool = False) -> Iterator[str]:
    """The lines."""
    yield " ".join(_head(run))
    if run.task.goal:
        yield f"  goal    {_cut(run.task.goal, full)}"
    turn = -1
    for step in run.steps:
        if step.turn != turn:
            turn = step.turn
            yield f"  turn {turn}"
        yield from _step_lines(step, full)
        yield from _events(run, step.index, full)
    yield from _events(run, None, full)
    yield from _end(run, full)


def _events(run: Trajectory, step: int | None, full: bool) -> Iterator[str]:
    """What came after a step, or has no place among them."""
    for event in run.events:
        if event.step == step:
            yield f"  event   {event.kind}, by {event.by}: {_cut(text_of(event.data), full)}"


def _head(run: Trajectory) -> Iterator[str]:
    yield run.id
    facts = (
        ("case", run.case),
        ("set-up", run.set_up),
        ("llm", run.llm),
        ("level", run.level),
        ("session", run.session),
    )
    yield from (f"  {name} {value}" for name, value in facts if value)
    if run.seconds is not None:
        yield f"  {run.seconds:.1f} s"
    if run.tokens is not None:
        yield f"  tokens {_known(run.tokens.input)} in, {_known(run.tokens.output)} out"


def _step_lines(step: Step, full: bool) -> Iterator[str]:
    facts = [f"{step.seconds:.3f} s"] if step.seconds is not None else []
    facts += [f"status {step.status}"] if step.status is not None else []
    facts += [f"fault {step.fault}"] if step.fault else []
    facts += ["error"] if step.is_error else []
    who = f"{step.index:>4}  {_WHO[step.role]}{' ' + step.name if step.name else ''}"
    told = f"  ({', '.join(facts)})" if facts else ""
    if step.thought:
        yield f"{step.index:>4}  agent thinks  {_cut(step.thought, full)}"
    if step.text is not None or not step.tool_calls:
        yield f"{who}{told}  {_cut(step.text, full)}"
    for call in step.tool_calls:
        arguments = call.arguments_raw if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
        yield f"{step.index:>4}  agent calls {call.name} {_cut(arguments, full)}"


def _end(run: Trajectory, full: bool) -> Iterator[str]:
    for difference in run.differences:
        yield (
            f"  differs {'' if difference.step is None else f'step {difference.step}, '}{difference.what}: "
            f"wire {_cut(text_of(difference.wire), full)}, log {_cut(text_of(difference.log), full)}"
        )
    for name, value in (("end", text_of(run.end_state)), ("error", run.error)):
        if value is not None:
            yield f"  {name:<7} {_cut(value, full)}"
    yield from (f"  limit   {limit}" for limit in run.limits_hit)
    yield from (f"  note    {note}" for note in run.notes)


def _cut(text: str | None, full: bool) -> str:
    if text is None:
        return "(nothing)"
    if full:
        return text.replace("\n", "\n          ")
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]}... ({len(text)} characters)"


def _known(count: Any) -> str:
    return "?" if count is None else str(count)
