"""What comes from a real service: its bytes as they arrive, and what may go wrong."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import aiohttp
from aiohttp import web

from proctor.interaction import Response, header, readable
from proctor.pieces import Pieces, table
from proctor.proxy.hop import end_to_end
from proctor.proxy.seams import Exchange, decoded_headers

FAILURES = (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError)
"""What asking a real service may raise."""
_ONE_PIECE_SECONDS = 0.05
"""Two parts of one transfer chunk that came closer together are one piece; others are told apart for their timing."""


KEPT_BYTES = 64 * 2**20
"""Of one body, at most: what is larger goes on in pieces, and is neither on the tape nor in the trace."""


class Received:
    """A body as it comes, part by part, with when each piece of it came."""

    def __init__(self, upstream: aiohttp.ClientResponse, started: float) -> None:
        """`started` is when the agent's request arrived, by the performance counter."""
        self._upstream = upstream
        self._content = upstream.content
        self._started = started
        self._parts: list[bytes] = []
        self._lengths: list[int] = []
        self._at: list[float] = []
        self._within = False
        """In the middle of a transfer chunk."""
        self.size = 0
        """Bytes so far."""
        self.stopped = False
        """Broken off by ourselves: however the connection ends now, the body did not come to its end."""
        self.overdue = False
        """Broken off since the call took too long."""

    async def part(self) -> bytes:
        """The next part of the body, noted; nothing at its end. Raises one of FAILURES."""
        content = self._content
        while not content.at_eof():  # `iter_chunks` would never end on the second empty body of a process
            part, ended = await content.readchunk()
            if part:
                self._note(part, ended)
                return part
            self._within = False
        return b""

    def stop(self) -> None:
        """Break the body off: whoever waits for its next part gets one of FAILURES, or its end."""
        self.stopped = True
        self._upstream.close()

    def overrun(self) -> None:
        """Break the body off since the call took too long."""
        self.overdue = True
        self.stop()

    def _note(self, part: bytes, ended: bool) -> None:
        at = time.perf_counter() - self._started
        self.size += len(part)
        if self.size > KEPT_BYTES:
            self._let_go()
            return
        self._parts.append(part)
        if self._within and at - self._at[-1] < _ONE_PIECE_SECONDS:
            self._lengths[-1] += len(part)
        else:
            self._lengths.append(len(part))
            self._at.append(at)
        self._within = not ended and self._upstream.headers.get("Transfer-Encoding") is not None

    def _let_go(self) -> None:
        """Hold nothing of a body that is too large."""
        for held in (self._parts, self._lengths, self._at):
            held.clear()

    def response(self, complete: bool) -> Response:
        """The answer as far as it has come, in the real service's own words."""
        upstream = self._upstream
        raw = decoded_headers(upstream.raw_headers)
        headers = end_to_end(raw)
        return Response(
            status=upstream.status,
            reason=readable(upstream.reason or ""),
            headers=headers,
            body=b"".join(self._parts),
            complete=complete and not self.stopped,
            pieces=self._pieces(),
            trailers=readable(header(raw, "trailer") or ""),
            unkept=self.size if self.size > KEPT_BYTES else 0,
        )

    def _pieces(self) -> Pieces | None:
        """Of a stream only: in what pieces a body of known length came is the network's doing."""
        headers = self._upstream.headers
        return table(self._lengths, self._at) if "Content-Length" not in headers or is_events(headers) else None


def is_events(headers: Mapping[str, str]) -> bool:
    """Whether an answer is a stream of server-sent events."""
    return headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/event-stream"


async def rest_of(received: Received) -> Response:
    """The answer when all of it is here, or as much of it as will ever be."""
    try:
        while await received.part():
            pass
    except FAILURES:
        return received.response(complete=False)
    return received.response(complete=True)


def abort(exchange: Exchange, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Break the agent's connection: a cut answer must not look whole."""
    transport = exchange.http.transport
    if transport is not None:
        transport.abort()
    return response if response is not None else web.Response(status=502)
