"""Each call of a trajectory joined with its result."""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any

from proctor.interaction import Effect
from proctor.last_seen import LastSeen
from proctor.trajectory import Step, ToolCall, Trajectory

_ERROR_TEXT = re.compile(r"\s*(?:(?:Error|ERROR|Exception|Traceback)\b|错误)")
_ERROR_STATUS = frozenset({"error", "failed"})


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `index` counts the calls of the run; `step` and `position` say where it was asked for."""

    index: int
    step: int
    position: int
    """Which of the step's calls."""
    name: str
    arguments: Any
    arguments_raw: str | None
    result_step: int | None
    """The step that answers it; None where no answer was seen."""
    result_text: str | None
    result: Any
    """The result's text parsed as JSON, else the text itself; None without one."""
    failed: bool | None
    """The answer is an error (see `is_failure`); None without an answer."""
    effect: Effect | None


def calls_of(trajectory: Trajectory) -> tuple[Call, ...]:
    """Every call in order. A repeated id is joined by order: its n-th call takes the n-th result with that id.

    Calls without an id take the results without one that follow in the same turn, in order. No result answers a call
    that came after it. The calls of the last trajectory are kept, for checks run one after the other.
    """
    return _LAST.of(trajectory)


def _calls(trajectory: Trajectory) -> tuple[Call, ...]:
    asked: list[tuple[Step, int, ToolCall]] = []
    waiting: dict[str, deque[int]] = defaultdict(deque)
    answers: dict[int, Step] = {}
    for step in trajectory.steps:
        if step.role == "user":
            waiting.pop("", None)
        if step.role == "tool" and waiting[step.tool_call_id or ""]:
            answers[waiting[step.tool_call_id or ""].popleft()] = step
        for position, call in enumerate(step.tool_calls):
            waiting[call.id].append(len(asked))
            asked.append((step, position, call))
    return tuple(
        _joined(index, step, position, call, answers.get(index)) for index, (step, position, call) in enumerate(asked)
    )


_LAST: LastSeen[Trajectory, tuple[Call, ...]] = LastSeen(_calls)


def is_failure(step: Step, result: Any) -> bool:
    """A tool's answer is an error: its source or its status says so, or the tool marks it so itself.

    It does with an object that has a non-empty `error` or `errors`, `success` or `ok` false, or the status `error` or
    `failed`, and with a text that begins with Error, Exception, Traceback or 错误.
    """
    if step.is_error or (step.status is not None and step.status >= 400):
        return True
    if isinstance(result, dict):
        if result.get("error") or result.get("errors") or result.get("success") is False or result.get("ok") is False:
            return True
        status = result.get("status")
        return isinstance(status, str) and status.lower() in _ERROR_STATUS
    return isinstance(result, str) and _ERROR_TEXT.match(result) is not None


def _joined(index: int, step: Step, position: int, asked: ToolCall, answer: Step | None) -> Call:
    result = _parsed(answer.text) if answer else None
    return Call(
        index=index,
        step=step.index,
        position=position,
        name=asked.name,
        arguments=asked.arguments,
        arguments_raw=asked.arguments_raw,
        result_step=answer.index if answer else None,
        result_text=answer.text if answer else None,
        result=result,
        failed=is_failure(answer, result) if answer else None,
        effect=answer.effect if answer else None,
    )


def _parsed(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return text


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
