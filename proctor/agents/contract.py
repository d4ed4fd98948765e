"""What the harness and an agent tell each other: one object in, one object out, for each of the user's turns."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

LARGEST_ANSWER = 8 * 1024 * 1024
"""Bytes of one answer."""

Failure = Literal[
    "agent_unstartable",
    "agent_crashed",
    "agent_ended",
    "agent_timeout",
    "agent_garbage",
    "agent_flood",
    "agent_unreachable",
    "agent_refused",
    "model_failed",
]
"""How an agent fails: each is an outcome of its trial, and the run goes on. `model_failed` is none of its doing."""


class Said(BaseModel):
    """One earlier message of the conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Literal["user", "assistant"]
    content: str


class Settings(BaseModel):
    """How the agent's model is to be asked; what is None or empty is the agent's own choice."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = ""
    prompt_version: str = ""
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None


class Asked(BaseModel):
    """One turn, as an agent gets it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    v: Literal[1] = 1
    case: str
    trial: int = Field(ge=0)
    session: str
    """Of the proxy; the trial's own."""
    session_url: str = ""
    """Where events can be told: `POST SESSION_URL/_events`."""
    services: Mapping[str, str] = Field(default_factory=dict)
    """By service: its address at the proxy. The same stand in the variables that the services name."""
    user_id: str = ""
    account: str = ""
    """For whom the agent acts, by the account's name; its credentials come in variables."""
    audience: str = ""
    settings: Settings = Settings()
    turn: int = Field(ge=0)
    user: str
    """What the user says."""
    history: tuple[Said, ...] = ()
    """What was said before, for agents that keep nothing themselves."""


class Answered(BaseModel):
    """What an agent answers. Further keys are kept in the agent's log and mean nothing."""

    model_config = ConfigDict(extra="allow", frozen=True)

    reply: str
    """What the user gets to read."""
    events: tuple[Any, ...] = ()
    """What no wire shows, as `POST SESSION_URL/_events` takes it."""


class AgentFailed(Exception):
    """An agent gave no answer to a turn: how, and what there is to see."""

    def __init__(self, kind: Failure, message: str, shown: str = "") -> None:
        """`shown` is the end of what it printed."""
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.shown = shown


class Conversation(Protocol):
    """An agent in one trial. Turns are asked one after the other."""

    async def ask(self, asked: Asked, seconds: float) -> Answered:
        """The answer to a turn, for which it has so many seconds. Raises AgentFailed."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave nothing running."""


def read_answer(text: bytes | str, shown: str = "") -> Answered:
    """The answer in a JSON text. Raises AgentFailed (`agent_garbage`), which says what is wrong with it."""
    try:
        return Answered.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        told = f'{where}: {first["msg"]}; an answer is one JSON object, {{"reply": "..."}}'
        raise AgentFailed("agent_garbage", told, shown) from None
