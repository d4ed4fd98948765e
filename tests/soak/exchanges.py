"""One real service that does everything a service does on the wire, and clients that take it in every way."""

from __future__ import annotations

import asyncio
import gzip
import random
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import ClientSession, ClientTimeout, web

from tests.property.counts import count

LARGE = 1_300_000
HUGE = count(2, 9) * 2**20
EVENTS = 40


async def answer(request: web.Request) -> web.StreamResponse:
    """The service: what its path says."""
    await request.read()
    kind = request.path.split("/")[1]
    if kind in {"stream", "cut"}:
        return await _stream(request, cut=kind == "cut")
    if kind in {"empty", "unchanged"}:
        return web.Response(status=204 if kind == "empty" else 304, headers={"ETag": '"7"'})
    if kind in {"large", "huge"}:
        return web.Response(body=bytes(LARGE if kind == "large" else HUGE), content_type="application/octet-stream")
    if kind == "packed":
        body = gzip.compress(request.path.encode() * 50, mtime=0)
        return web.Response(body=body, headers={"Content-Encoding": "gzip"}, content_type="text/plain")
    return web.json_response({"path": request.path, "items": [{"id": f"i-{n}"} for n in range(30)]})


async def _stream(request: web.Request, *, cut: bool) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for number in range(EVENTS):
        await response.write(f'data: {{"number": {number}, "path": "{request.path}"}}\n\n'.encode())
        await asyncio.sleep(0)
        if cut and number == EVENTS // 2:
            assert request.transport is not None
            request.transport.abort()
            return response
    await response.write(b"data: [DONE]\n\n")
    return response


Headers = Mapping[str, str]
Client = Callable[[ClientSession, str, Headers], Awaitable[None]]


async def whole(http: ClientSession, url: str, headers: Headers) -> None:
    """Read to the end."""
    async with http.post(
        url, data=b'{"said": "hello"}', headers={"Content-Type": "application/json", **headers}
    ) as got:
        await got.read()


async def head(http: ClientSession, url: str, headers: Headers) -> None:
    """Ask for the head alone."""
    async with http.head(url, headers=headers) as got:
        await got.read()


async def left(http: ClientSession, url: str, headers: Headers) -> None:
    """Hang up after the first bytes."""
    async with http.get(url, headers=headers, timeout=ClientTimeout(total=30)) as got:
        await got.content.readany()
        got.close()


async def broken(http: ClientSession, url: str, headers: Headers) -> None:
    """Send half a request, and hang up."""
    host, port = url.split("/")[2].rsplit(":", 1)
    _, writer = await asyncio.open_connection(host, int(port))
    path = "/" + url.split("/", 3)[3]
    writer.write(f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n\r\nhalf".encode())
    await writer.drain()
    writer.transport.abort()


EXCHANGES: tuple[tuple[str, Client, int], ...] = (
    ("plain", whole, 8),
    ("plain", head, 2),
    ("stream", whole, 8),
    ("stream", left, 4),
    ("cut", whole, 4),
    ("empty", whole, 4),
    ("unchanged", whole, 2),
    ("packed", whole, 4),
    ("large", whole, 1),
    ("large", left, 1),
    ("plain", broken, 2),
)
"""What is asked, how it is taken, and how often."""


def chosen(rng: random.Random, number: int) -> list[tuple[str, Client]]:
    """Paths and clients of one conversation."""
    drawn = rng.choices(EXCHANGES, [often for *_, often in EXCHANGES], k=number)
    return [(f"/{kind}/{n}", client) for n, (kind, client, _) in enumerate(drawn)]
