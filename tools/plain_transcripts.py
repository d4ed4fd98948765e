"""A run as a transcript without any blinding: for measuring what reads transcripts, apart from what makes them."""

from __future__ import annotations

import json

from proctor.judge.transcript import Passage, ShownStep, Transcript
from proctor.rubric import EvidenceKind
from proctor.trajectory import Role, Step, ToolCall, Trajectory

_KIND: dict[Role, EvidenceKind] = {"user": "user", "assistant": "agent", "tool": "tool_result", "system": "agent"}


def plain(run: Trajectory) -> Transcript:
    """Every text of the run as it stands, thoughts too."""
    return Transcript(
        steps=tuple(_shown(step) for step in run.steps),
        goal=run.task.goal or "",
        policy=run.task.policy or "",
        tools="\n".join(f"{tool.name}: {tool.description}" for tool in run.tools or ()),
    )


def _shown(step: Step) -> ShownStep:
    passages = [Passage("thought", "thought", step.thought)] if step.thought else []
    passages += [Passage(_KIND[step.role], "text", step.text)] if step.text else []
    passages += [
        Passage("tool_call", f"tool_calls/{at}", f"{call.name} {_arguments(call)}")
        for at, call in enumerate(step.tool_calls)
    ]
    return ShownStep(step.index, f"step {step.index}: {_KIND[step.role]} {step.name or ''}".rstrip(), tuple(passages))


def _arguments(call: ToolCall) -> str:
    return json.dumps(call.arguments, ensure_ascii=False) if call.arguments_raw is None else call.arguments_raw
