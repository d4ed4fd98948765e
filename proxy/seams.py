"""Where the pipeline of an exchange can be extended: carrier, fault plan, source. (Order has its own module.)

One exchange: a carrier finds session and service, the fault plan may answer, else the service's source does; a
recording source journals, every source traces.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from aiohttp import web

from proctor.interaction import Headers, Request
from proctor.redaction.digests import remeasured

if TYPE_CHECKING:
    from proctor.proxy.session import ServiceInSession, Session


@dataclass
class Exchange:
    """One request on its way. `target` is the raw path and query after the service's prefix; times are seconds.

    It is made of what came. Where that quotes an address of the proxy, `target`, `body` and `headers` then have the
    real service's instead.
    """

    http: web.BaseRequest
    session: Session
    service: ServiceInSession
    index: int
    target: str
    body: bytes
    started: float
    rewrites: list[str] = field(default_factory=list, init=False)
    """A text for each kind of address that was found so far; headers are looked through when they are read."""
    beside: tuple[int, ...] = ()
    """Indexes of the earlier exchanges that had no answer yet when this one began."""
    after: tuple[int, ...] | None = None
    """See `Interaction.after`; of an exchange that is appended to a tape."""
    _received: bytes = field(init=False)

    def __post_init__(self) -> None:
        """Put real addresses into target and body."""
        restorer = self.session.restorer
        self._received = self.body
        self.target = restorer.text("target", self.target, self.rewrites)
        self.body = restorer.data("body", self.body, self.rewrites)

    @cached_property
    def request(self) -> Request:
        """The request as a value, with all of its headers."""
        return Request(self.service.name, self.http.method, self.target, self.headers, self.body)

    @cached_property
    def headers(self) -> Headers:
        """Header pairs in order, hop-by-hop ones included; the length is that of `body`."""
        headers = self.session.restorer.headers(decoded_headers(self.http.raw_headers), self.rewrites)
        return remeasured(headers, self._received, self.body)


class Source(Protocol):
    """What answers the requests of one service in one session."""

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """Answer, and leave one trace row (or journal line). Never raises for what upstream or client do."""


class FaultPlan(Protocol):
    """Decides whether an exchange meets a planned fault instead of its source."""

    async def answer(self, exchange: Exchange) -> web.StreamResponse | None:
        """The fault's answer, or None to let the source answer."""


class NoFaults:
    """The plan of a session without faults."""

    async def answer(self, exchange: Exchange) -> web.StreamResponse | None:
        """Nothing is planned."""
        return None


class Located(NamedTuple):
    """Where a request belongs: names from its address, and what is left for the service."""

    session: str
    service: str
    target: str


class Carrier(Protocol):
    """Reads from a request to which session and service it belongs."""

    def locate(self, target: str) -> Located | None:
        """From an origin-form target, or None where it names none."""


class PathCarrier:
    """`/s/SESSION/SERVICE/rest`: the rest goes to the service byte for byte.

    With a path token, which only those know who were given an address, it reads `/p/TOKEN/s/SESSION/SERVICE/rest`.
    """

    def __init__(self, path_token: str = "") -> None:
        self._prefix = f"/p/{path_token}" if path_token else ""
        self._start = f"{self._prefix}/s/"

    def address(self, session: str) -> str:
        """The path that every address of a session begins with."""
        return self._start + session

    def admits(self, target: str) -> bool:
        """Whether the sender was given an address of this proxy; else it is a stranger."""
        head = target[: len(self._prefix)]
        return hmac.compare_digest(head.encode("utf-8", "surrogateescape"), self._prefix.encode())

    def without_token(self, target: str) -> str:
        """An admitted target as it may be told: the path token is nobody else's."""
        return target[len(self._prefix) :]

    def locate(self, target: str) -> Located | None:
        """See `Carrier.locate`."""
        if self._prefix and not self.admits(target):
            return None
        if not target.startswith(self._start):
            return None
        path, mark, query = target.partition("?")
        session, _, rest = path[len(self._start) :].partition("/")
        service, slash, tail = rest.partition("/")
        if not session or not service:
            return None
        return Located(session, service, slash + tail + mark + query)


def decoded_headers(raw: tuple[tuple[bytes, bytes], ...]) -> Headers:
    """Header pairs as text; bytes that are not UTF-8 become surrogate escapes."""
    return tuple([(_text(name), _text(value)) for name, value in raw])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
