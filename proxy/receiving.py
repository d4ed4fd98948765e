"""What comes from a real service: its bytes as they arrive, and what may go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import aiohttp
from aiohttp import web

from proctor.interaction import Response, readable
from proctor.proxy.hop import end_to_end
from proctor.proxy.seams import Exchange, decoded_headers

FAILURES = (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError)
"""What asking a real service may raise."""


async def rest_of(upstream: aiohttp.ClientResponse) -> tuple[list[bytes], bool]:
    """What is left of a body, and whether it came to its end."""
    pieces: list[bytes] = []
    try:
        while piece := await upstream.content.readany():
            pieces.append(piece)
    except FAILURES:
        return pieces, False
    return pieces, True


def response_of(upstream: aiohttp.ClientResponse, pieces: Sequence[bytes], complete: bool) -> Response:
    """An answer as far as it has come, in the real service's own words."""
    return Response(
        status=upstream.status,
        reason=readable(upstream.reason or ""),
        headers=end_to_end(decoded_headers(upstream.raw_headers)),
        body=b"".join(pieces),
        complete=complete,
    )


def abort(exchange: Exchange, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Break the agent's connection: a cut answer must not look whole."""
    transport = exchange.http.transport
    if transport is not None:
        transport.abort()
    return response if response is not None else web.Response(status=502)
