"""What a judge is shown of a run: blinded, numbered, and the only text that a quote may stand in."""

from __future__ import annotations

from dataclasses import dataclass, field

from proctor.rubric import EvidenceKind


@dataclass(frozen=True)
class Passage:
    """One text of a step, exactly as the judge reads it. `field` names its place in the trajectory's step."""

    kind: EvidenceKind
    field: str
    """`text`, `thought`, `tool_calls/0`."""
    text: str
    withheld: tuple[tuple[int, int], ...] = ()
    """Spans of markers that stand for what was withheld (an order to an evaluator): no evidence."""


@dataclass(frozen=True)
class ShownStep:
    """One step. `index` is the trajectory's; `heading` is Proctor's own words and no evidence."""

    index: int
    heading: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Flag:
    """Something in the run that was disarmed before a judge saw it: its kind in words, and where."""

    kind: str
    step: int
    """-1 in the goal, the policy or the tools."""
    field: str
    quote: str
    """Masked and cut, for people."""


@dataclass(frozen=True)
class Transcript:
    """A run, blinded. `digest` is of what it was made from, so that equal runs give equal prompts."""

    steps: tuple[ShownStep, ...]
    goal: str = ""
    policy: str = ""
    tools: str = ""
    """What the agent was offered, a line each; no evidence, like goal and policy."""
    flags: tuple[Flag, ...] = ()
    digest: str = ""
    omitted: frozenset[int] = frozenset()
    """Steps left out for want of room; each is marked where it stood, and cannot be cited."""
    changing: frozenset[int] = frozenset()
    """Steps with a call that changes something, as far as can be told, and with its result."""
    language: str = ""
    """`en`, `zh`, `other` or `mixed`, by script."""
    names: dict[str, str] = field(default_factory=dict)
    """Of each name that was replaced, what stands for it: never shown to a judge."""
