"""The labelled runs that the figures are measured on: `trajectories.jsonl` of the folder in PROCTOR_TEST_DATA."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.trajectory import Step, Task, ToolCall, Trajectory

ROOT = Path(__file__).resolve().parents[1]


def folder() -> Path:
    """Where the runs are, or should be."""
    return Path(os.environ.get("PROCTOR_TEST_DATA", ROOT.parent / "shared" / "data"))


def labelled_runs(data: Path) -> list[Trajectory]:
    """Every run of the file, in its order. Raises FileNotFoundError."""
    with (data / "trajectories.jsonl").open(encoding="utf-8") as lines:
        return [_run(json.loads(line)) for line in lines]


def _run(record: Mapping[str, Any]) -> Trajectory:
    steps: list[Step] = []
    turn = -1
    for step in record["steps"]:
        turn += step["role"] == "user"
        steps.append(
            Step(
                index=step["i"],
                turn=max(turn, 0),
                role=step["role"],
                text=step.get("content"),
                name=step.get("name"),
                thought=step.get("thought"),
                tool_calls=tuple(_call(call) for call in step.get("tool_calls") or ()),
                tool_call_id=step.get("tool_call_id"),
                source_index=step.get("src_i"),
            )
        )
    return Trajectory(
        id=record["id"],
        category=record["domain"],
        group=record["group"] or "",
        task=Task(goal=record["task"]["goal"], policy=record["task"]["policy"]),
        steps=tuple(steps),
        expected=record["expected"],
        labels=record["labels"],
    )


def _call(call: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        name=call["name"], id=call.get("id") or "", arguments=call["arguments"], arguments_raw=call["arguments_raw"]
    )
