"""Criteria and prompts for tests, and a reader of the prompt's form that shares nothing with what writes it."""

from __future__ import annotations

import re
from typing import Any

from proctor.judge.blinding import blind
from proctor.judge.fences import fence, level_order
from proctor.judge.prompt import messages
from proctor.judge.transcript import Transcript
from proctor.rubric import Criterion, Level
from proctor.trajectory import Trajectory

SALT = b"a salt of this test"


def criterion(kind: str = "outcome", **fields: Any) -> Criterion:
    """A criterion with the levels 0 to 2."""
    known = {
        "id": f"test_{kind}",
        "title": "Task achievement",
        "question": "Was the task brought about?",
        "kind": kind,
        "levels": [Level(score=score, anchor=f"anchor number {score}") for score in (0, 1, 2)],
        "evidence": ("tool_call", "tool_result")
        if kind == "outcome"
        else ("user", "agent", "tool_call", "tool_result"),
        "weight": 20,
    }
    return Criterion.model_validate(known | fields)


def user_message(transcript: Transcript, asked: Criterion | None = None) -> tuple[str, str]:
    """The user message of the prompt, and its tag."""
    asked = asked or criterion()
    tag = fence(SALT, transcript.digest, asked.id)
    return messages(transcript, asked, tag, level_order(SALT, transcript.digest, asked))[1].content, tag


def prompt_of(run: Trajectory, *, thoughts: bool = False) -> str:
    """All that a judge reads of a run."""
    return user_message(blind(run, thoughts=thoughts))[0]


def read(content: str, tag: str) -> tuple[dict[str, str], list[tuple[int, str, str]], list[int]]:
    """Goal, policy and tools by name; the passages as step, kind and text; the steps that were left out."""
    parts = re.split(rf"(?m)^{tag} (.*)\n", content)
    about: dict[str, str] = {}
    passages: list[tuple[int, str, str]] = []
    omitted: list[int] = []
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        step = re.fullmatch(r"step (\d+): (\w+)(.*)", heading)
        if step is None:
            about[heading] = text.removesuffix("\n")
        elif f"{step[2]}{step[3]}" == "left out for length":
            omitted.append(int(step[1]))
        else:
            passages.append((int(step[1]), step[2], text.removesuffix("\n")))
    return about, passages, omitted
