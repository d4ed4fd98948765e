"""Fault plans: which calls of a session go wrong, when, and how. What a person writes, checked; no I/O."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from proctor.errors import nearest

Kind = Literal[
    "timeout",
    "error",
    "empty",
    "malformed",
    "wrong_type",
    "reset",
    "slow",
    "truncated",
    "rate_limited",
    "expired_token",
]
Position = Literal["early", "mid", "late"]
KINDS: tuple[Kind, ...] = get_args(Kind)
POSITIONS: tuple[Position, ...] = get_args(Position)

SECONDS: dict[Kind, float] = {"timeout": 300.0, "slow": 8.0}
"""By default: after which a request that never gets an answer is dropped, and how late an answer comes."""
_STATUS = 500
_RETRY_AFTER = 1
_ONLY: dict[str, tuple[Kind, ...]] = {
    "status": ("error",),
    "body": ("error",),
    "seconds": ("timeout", "slow"),
    "retry_after": ("rate_limited",),
}
"""Fields that only some kinds have."""


class Fault(BaseModel):
    """One planned fault (`[[fault]]` of a plan)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str = "*"
    """A tool's name, a service's, a path or `METHOD /path`, with `*`. An LLM service is meant by its name or path only.

    Where nothing says how requests name their tool, the last part of the path is its name."""
    service: str = ""
    """Only calls of this service; by default of any."""
    kind: Kind
    call: int | None = Field(default=None, ge=1)
    """The how-manieth of these calls it is, from 1; a client's retry is a call. By default the first."""
    position: Position | None = None
    """In place of `call`: in which third of the run's tool calls. The plan's seed chooses among those meant."""
    times: Annotated[int, Field(ge=1, le=10_000)] = 1
    """How many of these calls in a row."""
    status: int | None = None
    """Of an `error`: by default 500."""
    body: Any = None
    """Of an `error`: JSON, or a text; by default an error as the service's API words it."""
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None
    """How late a `slow` answer comes, or after which a `timeout` drops the connection."""
    retry_after: Annotated[int, Field(ge=0)] | None = None
    """Seconds, of `rate_limited`."""

    @field_validator("kind", mode="before")
    @classmethod
    def _kind(cls, kind: Any) -> Any:
        return _one_of(kind, KINDS, "kind of fault")

    @field_validator("position", mode="before")
    @classmethod
    def _position(cls, position: Any) -> Any:
        return position if position is None else _one_of(position, POSITIONS, "position")

    @field_validator("status")
    @classmethod
    def _status(cls, status: int | None) -> int | None:
        if status is not None and status != 200 and not 400 <= status <= 599:
            raise ValueError(f"{status} is no status of an error: 400 to 599, or 200 with a body that says so")
        return status

    @model_validator(mode="after")
    def _whole(self) -> Fault:
        if not self.tool or (self.tool == "*" and not self.service and "tool" not in self.model_fields_set):
            raise ValueError('a fault says whose calls it is for: tool = "refund", or service = "orders"')
        if self.call is not None and self.position is not None:
            raise ValueError("a fault is planned by call or by position, not by both")
        for field, kinds in _ONLY.items():
            if getattr(self, field) is not None and self.kind not in kinds:
                raise ValueError(f"{field} is for {' and '.join(kinds)} only, not for {self.kind}")
        return self

    @property
    def lasting(self) -> float:
        """Its seconds; 0 for a kind that takes no time."""
        return SECONDS.get(self.kind, 0.0) if self.seconds is None else self.seconds

    @property
    def answer_status(self) -> int:
        """The status of an `error`."""
        return _STATUS if self.status is None else self.status

    @property
    def wait(self) -> int:
        """Of `rate_limited`: the seconds of Retry-After."""
        return _RETRY_AFTER if self.retry_after is None else self.retry_after

    @property
    def told(self) -> str:
        """The fault in the short text form; a `service` stands before the tool."""
        name = f"{self.service} {self.tool}".strip()
        when = self.position or self.call
        kind = str(self.status) if self.status is not None else self.kind
        late = f"@{self.seconds:g}" if self.seconds is not None else ""
        return f"{name}{f':{when}' if when else ''}={kind}{late}{f'*{self.times}' if self.times > 1 else ''}"


class FaultPlanSpec(BaseModel):
    """The faults of one session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fault: tuple[Fault, ...] = ()
    """Where two are due at one call, the first has it."""
    seed: int = 0
    """Decides what the plan leaves open: which call of a third it is, and where a body is cut."""
    reference: tuple[str, ...] = ()
    """The tool calls that the run should make, by name and in order: what positions are thirds of."""
    by_header: bool = False
    """A request may ask for a fault of its own, by the header `x-proctor-fault`."""

    @model_validator(mode="after")
    def _plans_something(self) -> FaultPlanSpec:
        if not self.fault and not self.by_header:
            raise ValueError("it plans nothing: name a fault, or set by_header")
        return self


def _one_of(value: Any, known: tuple[str, ...], what: str) -> Any:
    if value not in known:
        raise ValueError(f'"{value}" is no {what}: {nearest(str(value), known)}')
    return value
