"""Where the pipeline of an exchange can be extended: carrier, fault plan, source. (Order has its own module.)

One exchange: a carrier finds session and service, the fault plan may answer, else the service's source does; a
recording source journals, every source traces.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from aiohttp import web
from multidict import CIMultiDictProxy

from proctor.interaction import Headers, Request, Response
from proctor.redaction.digests import remeasured
from proctor.trace import FaultUnfired

if TYPE_CHECKING:
    from proctor.proxy.session import ServiceInSession, Session

RawHeader = tuple[bytes, bytes]
RawHeaders = tuple[RawHeader, ...]


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
    fault: dict[str, Any] = field(default_factory=dict, init=False)
    """Fields of its trace row, where a fault lets the source answer late or the guard breaks the answer off."""
    limit: float | None = field(default=None, init=False)
    """So many seconds after it began the agent is answered an error (see `Guard.tool_seconds`)."""
    raw_headers: RawHeaders = field(kw_only=True)
    """What came, without that which only names the session (see `Carrier`)."""
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
        headers = self.session.restorer.headers(decoded_headers(self.raw_headers), self.rewrites)
        return remeasured(headers, self._received, self.body)

    def left(self) -> float | None:
        """Seconds until its limit, less than 0 past it; None where it has none."""
        return None if self.limit is None else self.started + self.limit - time.perf_counter()

    def row_head(self, source: str, request: Request) -> dict[str, Any]:
        """What each trace row of it begins with, its seconds being those until now; `request` as it may be shown."""
        return {
            "index": self.index,
            "session": self.session.id,
            "source": source,
            "started": round(self.started - self.session.began, 6),
            "seconds": round(time.perf_counter() - self.started, 6),
            "service": request.service,
            "method": request.method,
            "target": request.target,
        }


class Source(Protocol):
    """What answers the requests of one service in one session."""

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """Answer, and leave one trace row (or journal line). Never raises for what upstream or client do."""


@runtime_checkable
class Foretelling(Protocol):
    """A source that can tell its answer beforehand, for a fault that spoils it."""

    def foretell(self, exchange: Exchange) -> Response | None:
        """The answer that the request would have now, nothing being noted, played or changed; None for none."""


class FaultPlan(Protocol):
    """Decides whether an exchange meets a planned fault instead of its source."""

    async def answer(self, exchange: Exchange) -> web.StreamResponse | None:
        """The fault's answer, or None to let the source answer. Leaves a trace row for what it answers."""

    def unfired(self) -> Iterable[FaultUnfired]:
        """The planned faults that have not fired, or not as often as planned."""


class Carrier(Protocol):
    """A way in which the headers of a request say to which session it belongs, where its path does not say all."""

    told: str
    """How a message calls it."""

    def sessions(self, headers: CIMultiDictProxy[str]) -> Iterable[str]:
        """The ids that a request names; none for most."""

    def passed_on(self, header: RawHeader, credential: str) -> RawHeader | None:
        """A header as it goes on to the service's source; None for one that only names the session.

        `credential` takes the place of a key that does; where it is empty, the key stays.
        """


def decoded_headers(raw: RawHeaders) -> Headers:
    """Header pairs as text; bytes that are not UTF-8 become surrogate escapes."""
    return tuple([(_text(name), _text(value)) for name, value in raw])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
