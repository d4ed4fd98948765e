"""HTTP as no client library would send it: bytes over a real socket, and whatever comes back."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

MOST = 2**26


@dataclass(frozen=True)
class Told:
    """An answer as it came."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        """The body of an ErrorAnswer."""
        told: dict[str, Any] = json.loads(self.body)
        assert told.keys() == {"code", "message", "fix", "exit_code"}, told
        return told

    @property
    def code(self) -> str:
        """`STATUS CODE` of an error, `STATUS` of anything else."""
        return f"{self.status} {self.error['code']}" if self.status >= 400 else str(self.status)


def request(
    method: str, path: str | bytes, body: bytes = b"", *headers: str | bytes, token: str = "", sized: bool = True
) -> bytes:
    """A request for `exchange`. Its connection ends with the answer."""
    lines: list[str | bytes] = ["Host: loopback", "Connection: close", *headers]
    if token:
        lines.append(f"x-proctor-token: {token}")
    if sized:
        lines.append(f"Content-Length: {len(body)}")
    start = method.encode() + b" " + _bytes(path) + b" HTTP/1.1"
    return b"\r\n".join([start, *map(_bytes, lines), b"", body])


async def exchange(url: str, sent: bytes) -> Told:
    """Send bytes to a service, and read its answer, though it may still wait for more of the request."""
    reader, writer = await connected(url)
    try:
        try:
            writer.write(sent)
            await writer.drain()
        except ConnectionError:
            pass  # it was refused before it was read
        return await _answer(reader)
    finally:
        writer.close()


async def connected(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a service."""
    host, _, port = url.removeprefix("http://").partition(":")
    return await asyncio.open_connection(host, int(port), limit=MOST)


async def _answer(reader: asyncio.StreamReader) -> Told:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    status, length = int(first.split()[1]), headers.get("content-length")
    if status == 100:
        return await _answer(reader)
    return Told(status, headers, await reader.read() if length is None else await reader.readexactly(int(length)))


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
