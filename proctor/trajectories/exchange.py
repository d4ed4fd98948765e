"""One call of an LLM, or of a tool, in a form that no longer depends on the API or the tracing that told it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from proctor.events import EventRow
from proctor.interaction import Effect
from proctor.trajectory import Step, Tokens, ToolSchema


@dataclass(frozen=True)
class LlmExchange:
    """A question to a model and its answer. Times are seconds since the source's begin."""

    index: int
    """In the source, for notes."""
    asked: tuple[Step, ...]
    """What the request holds: the whole history, or only what is new after `previous`."""
    answered: tuple[Step, ...]
    tokens: Tokens | None = None
    tools: tuple[ToolSchema, ...] | None = None
    model: str = ""
    id: str = ""
    previous: str = ""
    """The id of the answer that the request goes on from, where the API keeps the history itself."""
    started: float = 0.0
    seconds: float | None = None
    failed: str = ""
    """Why there is no answer, in words."""
    broken: str = ""
    """Why there is only a part of the answer, in words: it "broke off"."""
    captured: bool = True
    """False where the source did not keep what was said."""


@dataclass(frozen=True)
class ToolTraffic:
    """A tool's call as it was seen beside the LLM's traffic."""

    index: int
    name: str
    arguments: Any
    result: Any
    call_id: str = ""
    status: int | None = None
    is_error: bool | None = None
    effect: Effect | None = None
    service: str | None = None
    fault: str | None = None
    attempts: int | None = None
    started: float = 0.0
    seconds: float | None = None

    @property
    def failed(self) -> bool:
        """The source or the status says so."""
        return self.is_error is True or (self.status is not None and self.status >= 400)


@dataclass(frozen=True)
class Seen:
    """All that a source tells of one run."""

    exchanges: tuple[LlmExchange, ...] = ()
    silent: tuple[LlmExchange, ...] = ()
    """Exchanges whose words the source did not keep: no conversation can be told from them."""
    tools: tuple[ToolTraffic, ...] = ()
    told: tuple[EventRow, ...] = ()
    """What the agent told of itself, in order."""
    notes: tuple[str, ...] = ()
