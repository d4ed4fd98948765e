"""Asking a language model one thing, whatever stands behind it: the values, and the one method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant"]
Cause = Literal[
    "refusal", "timeout", "rate_limited", "credentials", "bad_request", "unreachable", "cut_off", "no_reply", "too_long"
]
"""Why a model gave no reply that can be read."""


@dataclass(frozen=True)
class Message:
    """One message of the prompt. The static ones come first, so that providers can cache them."""

    role: Role
    content: str


@dataclass(frozen=True)
class ModelCall:
    """One question. `schema` is the JSON Schema of the answer, which is never believed to have been kept to."""

    messages: tuple[Message, ...]
    schema_name: str
    schema: dict[str, Any]
    seed: int
    max_output_tokens: int
    timeout: float
    """Seconds for one attempt."""


@dataclass(frozen=True)
class Usage:
    """As the provider counted; None is not told, never 0. `cost` is in US dollars."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Attempt:
    """One try: how it ended and how long it took in seconds.

    That is `ok`, or a cause with what the provider said, or `not_kept` where a tape tells only that there was one.
    """

    ended: Cause | Literal["ok", "not_kept"]
    seconds: float
    said: str = ""


@dataclass(frozen=True)
class Reply:
    """The text of the structured channel, whole."""

    text: str
    model: str
    """As the provider names the model that answered."""
    usage: Usage
    attempts: tuple[Attempt, ...]


class ModelFailure(Exception):
    """No reply after all attempts. Not a ProctorError: a verdict tells it, and the run goes on."""

    def __init__(
        self, cause: Cause, message: str, attempts: tuple[Attempt, ...] = (), usage: Usage | None = None
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.message = message
        self.attempts = attempts
        self.usage = usage or Usage()


class Model(Protocol):
    """A model that can be asked."""

    @property
    def name(self) -> str:
        """As the user named it: `anthropic/claude-...`, `stand-in/obedient`."""
        ...

    @property
    def is_stand_in(self) -> bool:
        """No live model: every verdict says so."""
        ...

    async def ask(self, call: ModelCall) -> Reply:
        """One reply. Raises ModelFailure."""
        ...
