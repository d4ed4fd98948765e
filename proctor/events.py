"""What no wire shows, told by the agent itself: an event as it is sent, and its row in the trace.

An agent sends `{"kind": ..., "data": ...}`; the kinds are the models of `KINDS`. What is told becomes an `Event` of the
trajectory, of the same kind and data (see `proctor.trajectory`): the agent's own word, never evidence of an outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from proctor.trace import TraceRow

Words = Annotated[str, Field(min_length=1)]
When = Literal["before", "after"]
AGENT: Literal["agent"] = "agent"
"""The `source` of a row that the agent told."""


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class IntentData(_Value):
    """What the user wants, as the agent understood it."""

    intent: Words
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    """How sure the agent is, from 0 to 1; absent where it has no such number."""


class SkillData(_Value):
    """The skill, or other agent, that the work went to."""

    skill: Words


class HitData(_Value):
    """What was looked for in the agent's memory, and what was there."""

    query: Words
    found: Any = None


class MissData(_Value):
    """What was looked for in the agent's memory, and was not there."""

    query: Words


class Told(_Value):
    """One event as an agent sends it."""

    opens_turn: ClassVar[bool] = False
    """It is about the user's message that the agent has just got."""

    kind: str
    data: Any
    turn: Annotated[int, Field(ge=0, le=100_000)] | None = None
    """Which of the user's turns it belongs to, from 0, where the agent counts them."""


class Intent(Told):
    """What the agent takes the user to want."""

    opens_turn: ClassVar[bool] = True
    kind: Literal["intent"]
    data: IntentData


class SkillRouted(Told):
    """To which skill the agent gave the work."""

    opens_turn: ClassVar[bool] = True
    kind: Literal["skill_routed"]
    data: SkillData


class MemoryHit(Told):
    """The agent's memory had what was looked for."""

    opens_turn: ClassVar[bool] = True
    kind: Literal["memory_hit"]
    data: HitData


class MemoryMiss(Told):
    """The agent's memory did not have what was looked for."""

    opens_turn: ClassVar[bool] = True
    kind: Literal["memory_miss"]
    data: MissData


class State(Told):
    """The agent's own state around a turn, as `data`: any JSON value but null."""

    kind: Literal["state"]
    when: When

    @field_validator("data")
    @classmethod
    def _known(cls, data: Any) -> Any:
        if data is None:
            raise ValueError("null is no state")
        return data


class Note(Told):
    """Whatever else is worth reading beside the exchanges: any JSON value."""

    kind: Literal["note"]


KINDS: Mapping[str, type[Told]] = {
    "intent": Intent,
    "skill_routed": SkillRouted,
    "memory_hit": MemoryHit,
    "memory_miss": MemoryMiss,
    "state": State,
    "note": Note,
}


class EventRow(BaseModel):
    """What an agent told, as a reader of `trace.jsonl` gets it. It is no exchange.

    `index` counts on with the exchanges, in order of arrival; `started` is seconds since the session's begin.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    index: int
    session: str
    source: Literal["agent"]
    started: float
    kind: str
    data: Any = None
    turn: int | None = None
    when: When | None = None
    """Of a `state`."""


class Trace(NamedTuple):
    """The rows of one session, both kinds in order."""

    exchanges: list[TraceRow]
    events: list[EventRow]


_ROW: TypeAdapter[TraceRow | EventRow] = TypeAdapter(Annotated[TraceRow | EventRow, Field(discriminator="source")])


def row_of(line: bytes) -> TraceRow | EventRow:
    """One line of `trace.jsonl`. Raises ValueError (pydantic's) for what is none."""
    return _ROW.validate_json(line)


def trace_of(data: bytes) -> Trace:
    """The whole of `trace.jsonl`. Raises ValueError (pydantic's) for what is none."""
    rows = [row_of(line) for line in data.splitlines()]
    return Trace([row for row in rows if isinstance(row, TraceRow)], [row for row in rows if isinstance(row, EventRow)])


def parted(rows: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows as plain data: the exchanges, and what the agent told."""
    both: tuple[list[dict[str, Any]], list[dict[str, Any]]] = [], []
    for row in rows:
        both[row["source"] == AGENT].append(row)
    return both
