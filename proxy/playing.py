"""Playing a recorded answer that is not just sent: one that came in pieces, or broke off, or is to take its time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from multidict import CIMultiDict

from proctor.interaction import Response
from proctor.pieces import Pieces
from proctor.proxy.answers import Streamed

_EARLIER_SECONDS = 0.0005
"""The loop's clock wakes up to a millisecond late, never early."""


class Pace:
    """Recorded timing: waits until so long after the request's arrival, never from one piece to the next."""

    def __init__(self, started: float, closing: asyncio.Event) -> None:
        """`started` is by the performance counter; once `closing` is set, nothing waits any more."""
        self._started = started
        self._closing = closing

    async def until(self, seconds: float) -> None:
        """Wait for the moment; at once where it is past."""
        left = self._started + seconds - _EARLIER_SECONDS - time.perf_counter()
        if left > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._closing.wait()


async def play(
    http: web.BaseRequest, headers: CIMultiDict[str], recorded: Response, seconds: float, pace: Pace | None
) -> web.StreamResponse:
    """Send a body in its pieces, a write each, then end it as it ended: where it broke off, by closing the connection.

    With a pace each piece has its moment, and the end has `seconds`. The head goes with the first piece.
    """
    response = Streamed(status=recorded.status, reason=recorded.reason, headers=headers)
    if "Content-Length" not in headers and http.version >= (1, 1):
        response.enable_chunked_encoding()
    with suppress(ConnectionError):  # the agent may leave
        writer = await response.prepare(http)
        for at, piece in _pieces(recorded, seconds):
            if pace is not None:
                await pace.until(at)
            await response.write(piece)
        if pace is not None:
            await pace.until(seconds)
        if recorded.complete:
            await response.write_eof()
        elif writer is not None:
            await _break_off(http, writer)
    return response


def cut_at(recorded: Response, seconds: float) -> Response | None:
    """As much of an answer as came within so many seconds; None where nothing did."""
    if recorded.pieces is None:
        return None
    came = [at for at in recorded.pieces.at if at / 1000 < seconds]
    if not came:
        return None
    pieces = Pieces(recorded.pieces.lengths[: len(came)], tuple(came))
    return replace(recorded, body=recorded.body[: sum(pieces.lengths)], pieces=pieces, complete=False)


def _pieces(recorded: Response, seconds: float) -> Iterator[tuple[float, bytes]]:
    """Each piece with its moment."""
    if recorded.pieces is not None:
        for at, piece in zip(recorded.pieces.at, recorded.pieces.of(recorded.body), strict=True):
            yield at / 1000, piece
    elif recorded.body:
        yield seconds, recorded.body


async def _break_off(http: web.BaseRequest, writer: AbstractStreamWriter) -> None:
    """Close the connection before the end that was announced: it must not look whole."""
    transport = http.transport
    if transport is None:
        return
    writer.send_headers()
    transport.set_write_buffer_limits(high=0)
    await writer.drain()  # aborting throws away what is still buffered
    transport.abort()
