"""The values that recording makes and replay serves: request, response, interaction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from proctor.pieces import Pieces, fitted

Headers = tuple[tuple[str, str], ...]
"""Header pairs in wire order, names in wire case. Bytes that are not UTF-8 stand as surrogate escapes."""

Effect = Literal["read", "write", "pure"]
"""What a call does to the service: `pure` answers from its request alone (an LLM), `read` also from state."""

EffectWhy = Literal["declared", "preset", "method", "guessed", "observed"]
"""Where an effect was learnt from; only `guessed` may be wrong without anyone having said so."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the service saw it (or would). `target` is the raw path and query after the service's URL."""

    service: str
    method: str
    target: str
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class Response:
    """One answer. `body` is as on the wire: content codings are kept, transfer codings are not."""

    status: int
    reason: str
    headers: Headers
    body: bytes
    complete: bool = True
    """False where the service broke off before the end it had announced, or never came to one."""
    pieces: Pieces | None = None
    """In which pieces a streamed body came; None for one that came whole."""
    trailers: str = ""
    """The names of the trailers that it announced, as it spelled them. The trailers themselves are not kept."""
    unkept: int = 0
    """Bytes of a body that was too large to be kept: `body` is empty then. No tape has such an answer."""

    def rewritten(self, headers: Headers, body: bytes) -> Response:
        """The answer with another body, its table of pieces fitted to that."""
        return replace(self, headers=headers, body=body, pieces=fitted(self.pieces, self.body, body))


@dataclass(frozen=True, slots=True)
class Interaction:
    """A request and its answer, with what a tape keeps beside them. Times are seconds since the session began."""

    index: int
    request: Request
    response: Response
    url: str
    """The upstream URL that was asked."""
    effect: Effect
    effect_why: EffectWhy
    tool: str | None = None
    started: float = 0.0
    seconds: float = 0.0
    stand_in: str | None = None
    """The name a stand-in service gave itself, so that its answers are never taken for the real thing's."""
    beside: tuple[int, ...] = ()
    """Indexes of the earlier exchanges that had no answer yet when this one began: their order is not known."""
    attempts: int = 1
    """How often the client asked until this answer; the answers before it are not kept."""
    after: tuple[int, ...] | None = None
    """Of an interaction that was appended to a tape: the writes of its state that its session had made, by their places
    on the tape. None where that is every write of its state before it."""
    redacted: tuple[str, ...] = field(default=())
    """Which parts hold placeholders: `request.headers`, `request.body`, `request.target`, `response.headers`, ..."""


def readable(text: str) -> str:
    """The text with "?" for bytes that are no UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def header(headers: Headers, name: str) -> str | None:
    """The first value of a header, by lower-case `name`, or None."""
    return next((value for key, value in headers if key.lower() == name), None)
