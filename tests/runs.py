"""Trajectories written in a few lines, for tests and for the examples in docs/checks.

A line is `user: text`, `agent: text`, or a call:
`{"call": NAME, "arguments": {...}, "result": ANY, "failed": true, "status": 500, "id": "..."}`; without `result` and
`status` no answer was seen. A turn begins with each user line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from proctor.trajectory import Step, ToolCall, Trajectory

ROLES: dict[str, Literal["user", "assistant"]] = {"user": "user", "agent": "assistant"}


def run_of(*lines: str | Mapping[str, Any], **fields: Any) -> Trajectory:
    """The trajectory that the lines tell; `fields` are its other fields."""
    steps: list[Step] = []
    turn = -1
    for line in lines:
        if isinstance(line, str):
            who, _, text = line.partition(": ")
            turn += who == "user"
            steps.append(Step(index=len(steps), turn=max(turn, 0), role=ROLES[who], text=text))
        else:
            steps += _call(line, len(steps), max(turn, 0))
    return Trajectory.model_validate({"id": "run", "steps": tuple(steps)} | fields)


def call(name: str, result: Any = "done", /, **arguments: Any) -> dict[str, Any]:
    """A line for a call that succeeded."""
    return {"call": name, "arguments": arguments, "result": result}


def refused(name: str, /, **arguments: Any) -> dict[str, Any]:
    """A line for a call that ended in an error."""
    return {"call": name, "arguments": arguments, "result": {"error": "refused"}}


def _call(line: Mapping[str, Any], index: int, turn: int) -> Sequence[Step]:
    known = {"call", "arguments", "result", "failed", "status", "attempts", "effect", "id"}
    assert line.keys() <= known, f"unknown: {sorted(line.keys() - known)}"
    identity = line.get("id", f"call-{index}")
    asked = ToolCall(name=line["call"], id=identity, arguments=line.get("arguments", {}))
    steps = [Step(index=index, turn=turn, role="assistant", tool_calls=(asked,))]
    if "result" in line or "status" in line:
        result = line.get("result")
        answer = Step(
            index=index + 1,
            turn=turn,
            role="tool",
            name=line["call"],
            tool_call_id=identity,
            text=result if isinstance(result, str) else json.dumps(result, ensure_ascii=False),
            status=line.get("status"),
            is_error=line.get("failed"),
            attempts=line.get("attempts"),
            effect=line.get("effect"),
        )
        steps.append(answer)
    return steps
