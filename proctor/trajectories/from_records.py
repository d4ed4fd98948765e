"""From labelled records: one JSON object a line with `id`, `task`, `steps`, `expected` and `labels`."""

from __future__ import annotations

from typing import Any

from proctor.trajectories.steps import final_answer, numbered
from proctor.trajectory import Agent, Step, Task, ToolCall, Trajectory

_KNOWN = frozenset({"id", "domain", "group", "agent", "task", "steps", "expected", "labels", "source"})


def from_record(record: dict[str, Any]) -> Trajectory:
    """The trajectory of one record. Raises ValueError (pydantic's) or KeyError where it is none.

    What has no field of its own (`stats`, `redactions`, ...) is kept in `source`.
    """
    steps = numbered([_step(step) for step in record["steps"]])
    task, agent = record.get("task") or {}, record.get("agent") or {}
    rest = {key: value for key, value in record.items() if key not in _KNOWN}
    return Trajectory(
        id=record["id"],
        category=record.get("domain") or "",
        group=record.get("group") or "",
        agent=Agent(**{name: agent.get(name) or "" for name in Agent.model_fields}),
        task=Task(goal=task.get("goal"), policy=task.get("policy")),
        steps=steps,
        final_answer=final_answer(steps),
        expected=record.get("expected"),
        labels=record.get("labels") or {},
        source={**(record.get("source") or {}), **rest},
    )


def _step(step: dict[str, Any]) -> Step:
    return Step(
        index=0,
        role=step["role"],
        text=step.get("content"),
        name=step.get("name"),
        thought=step.get("thought"),
        tool_calls=tuple(_call(call) for call in step.get("tool_calls") or ()),
        tool_call_id=step.get("tool_call_id"),
        segment=step.get("session"),
        source_index=step.get("src_i"),
    )


def _call(call: dict[str, Any]) -> ToolCall:
    return ToolCall(
        name=call["name"],
        id=call.get("id") or "",
        arguments=call.get("arguments"),
        arguments_raw=call.get("arguments_raw"),
    )
