"""What a model can read off a prompt: the levels, what counts as evidence, and the passages. For stand-ins only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from proctor.errors import PlatformError
from proctor.model_call import Message
from proctor.rubric import EvidenceKind

_START = re.compile(r"^([0-9a-f]{16}) transcript$", re.MULTILINE)
_LEVEL = re.compile(r"^\W*Level (-?\d+):", re.MULTILINE)
_STEP = re.compile(r"step (\d+): (\w+)(.*)")
_STATUS = re.compile(r"\bstatus (\d{3})\b")
_KINDS = re.compile(r"\b(" + "|".join(get_args(EvidenceKind)) + r")\b")


@dataclass(frozen=True)
class Read:
    """A passage as the prompt gives it. `step` is None for the goal, the policy and the tools."""

    step: int | None
    kind: str
    text: str
    status: int | None = None


@dataclass(frozen=True)
class Prompt:
    """The question of one criterion."""

    levels: tuple[int, ...]
    """Lowest first."""
    counted: frozenset[str]
    """Kinds of evidence that count, as far as the prompt says."""
    passages: tuple[Read, ...]


def read_prompt(messages: Sequence[Message]) -> Prompt:
    """The prompt as `proctor.judge.prompt` writes it. Raises PlatformError where it holds no transcript or levels."""
    for message in messages:
        found = _START.search(message.content) if message.role == "user" else None
        if found is None:
            continue
        head = message.content[: found.start()]
        levels = sorted({int(level) for level in _LEVEL.findall(head)})
        if levels:
            return Prompt(tuple(levels), _counted(head), tuple(_passages(message.content[found.end() :], found[1])))
    raise PlatformError(
        "stand_in_cannot_read",
        "the stand-in judge finds no levels and no transcript in its prompt",
        "The form of the prompt has changed: proctor/judge/prompt_reading.py has to follow it.",
    )


def _counted(head: str) -> frozenset[str]:
    telling = [line for line in head.splitlines() if re.search(r"evidence|\bcounts?\b", line) and "Level " not in line]
    return frozenset(_KINDS.findall("\n".join(telling)))


def _passages(body: str, tag: str) -> Iterator[Read]:
    parts = re.split(rf"^{tag} (.*)\n?", body, flags=re.MULTILINE)
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        if heading == "end":
            return
        step = _STEP.fullmatch(heading)
        if step is None:
            yield Read(None, heading, text.removesuffix("\n"))
        elif step[2] in get_args(EvidenceKind):
            status = _STATUS.search(step[3])
            yield Read(int(step[1]), step[2], text.removesuffix("\n"), int(status[1]) if status else None)
