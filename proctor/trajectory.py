"""The trajectory: what one trial of an agent did. The one value that checks, judge, metrics and reports read.

    Trajectory
    ├── steps        in order: what users, the agent and tools said; an agent's step may call tools
    ├── events       what no wire shows, told by the agent itself (its own word) or by Proctor
    ├── states       the state before and after a turn, where a world or the agent tells it
    └── final_answer, end_state, error, limits_hit, tokens, seconds; labels, where people gave some

What is not known is None (or absent), never 0 and never an empty text that means something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from proctor.interaction import Effect

Role = Literal["system", "user", "assistant", "tool"]
SetUp = Literal["code", "prompt", "retape", "record", "extend", "live", "world", "mixed", ""]
Llm = Literal["live", "replayed", "stand-in", "none", ""]
Level = Literal["unit", "flow", "live", ""]


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tokens(_Value):
    """Tokens as the LLM API counted them; a number that it did not tell is None."""

    input: Annotated[int, Field(ge=0)] | None = None
    output: Annotated[int, Field(ge=0)] | None = None


class ToolCall(_Value):
    """One call as the agent asked for it; what came back is the `tool` step that answers it."""

    name: str
    id: str = ""
    """As the model minted it. Ids repeat in real data, so calls are joined by id, then by order (`calls_of`)."""
    arguments: Any = None
    """Parsed JSON; None where `arguments_raw` did not parse."""
    arguments_raw: str | None = None
    """Verbatim, where the source has it as text."""


class Step(_Value):
    """One message. A `tool` step is the result of a call; its facts are the wire's where traffic was seen."""

    index: Annotated[int, Field(ge=0)]
    turn: Annotated[int, Field(ge=0)] = 0
    """Which of the user's turns it belongs to, from 0; steps before the first user message belong to turn 0."""
    role: Role
    text: str | None = None
    name: str | None = None
    """Who speaks, or which tool answers."""
    thought: str | None = None
    """Private reasoning, where the agent showed any: no check may need it."""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    """Of a `tool` step: the id of the call that it answers."""
    status: int | None = None
    """HTTP status of the tool's answer."""
    is_error: bool | None = None
    """The source says that the tool failed (or not)."""
    seconds: Annotated[float, Field(ge=0)] | None = None
    attempts: Annotated[int, Field(ge=1)] | None = None
    fault: str | None = None
    """Kind of the fault that was injected into this answer."""
    service: str | None = None
    effect: Effect | None = None
    tokens: Tokens | None = None
    segment: int | None = None
    """Which stretch of a source that holds several conversations."""
    source_index: int | None = None
    """Where in its source the step stood, if elsewhere than here."""


class Event(_Value):
    """What no wire shows, with the data told: `intent`, `skill_routed`, `memory_hit`, `memory_miss`, `state`, `note`
    (their data: `proctor.events`) and the like.

    Of Proctor's own: `unattributed_call`, traffic of a tool that no call of a model explains.
    """

    kind: str
    data: Any = None
    step: int | None = None
    """The step it came after, where known."""
    by: Literal["agent", "proctor"] = "agent"
    """`agent`: its own word, never evidence of an outcome."""


class TurnState(_Value):
    """The state around one turn."""

    turn: Annotated[int, Field(ge=0)]
    before: Any = None
    after: Any = None
    by: Literal["agent", "proctor"] = "agent"
    """As of an event."""


class ToolSchema(_Value):
    """A tool as the agent was offered it."""

    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None
    """JSON Schema of the arguments."""


class Agent(_Value):
    """The thing under test. Never shown to a judge."""

    model: str = ""
    vendor: str = ""
    framework: str = ""


class Task(_Value):
    """What the agent was to do: the user's goal, the agent's policy, and the data it began with."""

    goal: str | None = None
    policy: str | None = None
    initial_data: Any = None


class Versions(_Value):
    """What a baseline compares; an unknown one is empty."""

    agent: str = ""
    suite: str = ""
    judge: str = ""


class Difference(_Value):
    """Where the agent's own log says otherwise than the wire. The wire's is in the steps."""

    step: int | None = None
    what: str
    wire: Any = None
    log: Any = None


class Trajectory(_Value):
    """See the module. Steps are numbered 0, 1, 2, ... without gaps; times are seconds."""

    v: Literal[1] = 1
    id: str
    case: str = ""
    category: str = ""
    group: str = ""
    """Trials of one task share it."""
    trial: Annotated[int, Field(ge=0)] = 0
    session: str = ""
    set_up: SetUp = ""
    llm: Llm = ""
    level: Level = ""
    agent: Agent = Agent()
    versions: Versions = Versions()
    identity: str = ""
    seed: int | None = None
    task: Task = Task()
    tools: tuple[ToolSchema, ...] | None = None
    """None where nothing tells which tools were offered."""
    steps: tuple[Step, ...] = ()
    events: tuple[Event, ...] = ()
    states: tuple[TurnState, ...] = ()
    final_answer: str | None = None
    end_state: Any = None
    error: str | None = None
    """Why the run broke off, in words; None where it did not."""
    limits_hit: tuple[str, ...] = ()
    tokens: Tokens | None = None
    seconds: Annotated[float, Field(ge=0)] | None = None
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    """What the builder could not tell, in words: edited histories, repeats, content that was not captured."""
    source: dict[str, Any] = Field(default_factory=dict)
    """Where it was built from."""
    expected: dict[str, Any] | None = None
    """What a correct run would have done, where the source says so."""
    labels: dict[str, Any] = Field(default_factory=dict)
    """What people or programs said of the run. Never shown to a judge."""

    @model_validator(mode="after")
    def _numbered(self) -> Trajectory:
        for position, step in enumerate(self.steps):
            if step.index != position:
                raise ValueError(
                    f"step {position} has the index {step.index}: steps are numbered 0, 1, 2, ... in order"
                )
        return self


def end_state_of(states: Mapping[str, Any]) -> Any:
    """The end state of a run as paths look at it: that of the only world, or each by its service; None without any."""
    return next(iter(states.values())) if len(states) == 1 else dict(states) or None
