"""The parts of a case that several fields share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from proctor.checks.final_state import StateAssertion
from proctor.checks.state_held import StatePoint
from proctor.matching.calls import ExpectedCall

Text = Annotated[str, Field(min_length=1)]
Texts = tuple[Text, ...]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Count = Annotated[int, Field(ge=1, le=10_000)]


class Part(BaseModel):
    """Plain data of a suite's file: no unknown keys, nothing that changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Limits(Part):
    """When a trial is stopped. Time that a fault takes counts towards `tool` and `task` only."""

    tool: Seconds = 20.0
    """Seconds for one tool call; then the agent is given an error."""
    response: Seconds = 30.0
    """Seconds for the agent's answer to one turn."""
    session: Seconds = 300.0
    """Seconds for one conversation."""
    task: Seconds = 600.0
    """Seconds for the trial."""
    steps: Count = 40
    """Model calls and tool calls."""


class Called(Part):
    """A tool that must be called, and how often."""

    tool: Text
    arguments: dict[str, Any] | None = None
    """A matcher for each; those not named are ignored."""
    at_least: Annotated[int, Field(ge=0)] = 1
    at_most: Annotated[int, Field(ge=0)] | None = None
    succeeded: bool = False


class Calls(Part):
    """The whole of the calls, compared in one of five ways."""

    mode: Literal["strict", "in_order", "any_order", "subset", "superset"]
    calls: tuple[ExpectedCall | Text, ...]


class Branch(Part):
    """A point at which there are several lawful routes, each known by its calls, and the right one of them."""

    routes: dict[Text, Annotated[tuple[ExpectedCall | Text, ...], Field(min_length=1)]] = Field(min_length=2)
    right: Text
    why: str = ""
    """The condition that decides, for people."""


class Recall(Part):
    """A fact that the user told once, and that must be used later on."""

    fact: Text
    instead: Texts = ()
    """Values that would show that it was lost."""
    losses: Count = 1
    """From so many on it is lost."""


class Expectations(Part):
    """What must come of a run or a turn. The state is looked at first."""

    state: tuple[StateAssertion, ...] = ()
    """What the world, or the list of writes, must hold at the end."""
    writes: tuple[ExpectedCall | Text, ...] | None = None
    """All that may be written, and must be; empty: nothing may. None: nothing is said of it."""
    outputs: Texts = ()
    """What the agent must tell of the writes."""
    called: tuple[Called | Text, ...] = ()
    not_called: Texts = ()
    in_order: Texts = ()
    calls: Calls | None = None
    requires: dict[Text, Texts] = Field(default_factory=dict)
    """By tool: those that must have succeeded before."""
    held: tuple[StatePoint, ...] = ()
    """What the state must hold at a turn or step."""
    says: Texts = ()
    """Texts that the agent must say."""
    says_finally: Texts = ()
    never_says: Texts = ()
    skill: str = ""
    intents: Texts = ()

    @property
    def empty(self) -> bool:
        """Nothing is expected at all: any run would pass."""
        return self == Expectations()
