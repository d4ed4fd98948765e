"""Requests and answers as bytes on a socket, for what no HTTP library would send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support import Running


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A service that gives this answer to every request and then hangs up; its URL and the heads it was sent."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heads
    finally:
        server.close()
        await server.wait_closed()


async def get(run: Running, target: str, *headers: bytes, method: bytes = b"GET") -> bytes:
    """The whole answer to a request without a body, with these header lines, as bytes."""
    path = run.url("desk", target).removeprefix(run.proxy.url).encode()
    head = [method + b" " + path + b" HTTP/1.1", b"Host: x", b"Connection: close", *headers]
    reader, writer = await asyncio.open_connection("127.0.0.1", int(run.proxy.url.rpartition(":")[2]))
    try:
        writer.write(b"\r\n".join([*head, b"", b""]))
        await writer.drain()
        return await reader.read()
    finally:
        writer.close()
