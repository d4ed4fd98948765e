"""Bytes on the wire: a client and a service that add nothing and hide nothing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.support import Running

Pairs = tuple[tuple[str, str], ...]
Answering = Callable[[asyncio.StreamWriter], Awaitable[None]]
Canned = bytes | Answering


@dataclass(frozen=True)
class Answer:
    """One answer as its bytes say it; `body` without chunk framing, `interim` the 1xx lines that came before."""

    version: str
    status: int
    reason: str
    headers: Pairs
    body: bytes
    interim: tuple[str, ...] = ()

    def values(self, name: str) -> list[str]:
        """Every value of a header, in order."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    @property
    def relayed(self) -> Pairs:
        """The headers without those of the connection between proxy and client."""
        own = {"connection", "transfer-encoding", "date", "server"}
        return tuple(pair for pair in self.headers if pair[0].lower() not in own)


@dataclass
class RawService:
    """A service that answers from a script; the last answer repeats."""

    url: str = ""
    requests: list[bytes] = field(default_factory=list)

    def head(self, index: int = -1) -> list[str]:
        """The lines of a request's head: request line first, then the headers, as they came."""
        return self.requests[index].partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")

    def body(self, index: int = -1) -> bytes:
        """A request's body."""
        return self.requests[index].partition(b"\r\n\r\n")[2]


@asynccontextmanager
async def raw_service(*answers: Canned) -> AsyncIterator[RawService]:
    """A service on a port of the system's choice. An answer may close the writer itself, to break off."""
    service = RawService()
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        try:
            while not writer.is_closing():
                service.requests.append(await _one_request(reader))
                answer = answers[min(len(service.requests), len(answers)) - 1]
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                else:
                    await answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**26)
    service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield service
    finally:
        server.close()
        for writer in writers:
            await ended(writer)
        await server.wait_closed()


def canned(body: bytes = b"{}", *headers: str, status: str = "200 OK", length: bool = True) -> bytes:
    """A whole answer: status line, `headers` as they are, Content-Length unless told otherwise, body."""
    measured = [f"Content-Length: {len(body)}"] if length else []
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, *measured, "", ""]).encode("latin-1") + body


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body; of nothing, the end."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def request(run: Running, service: str, target: str, *headers: str, method: str = "GET", body: bytes = b"") -> bytes:
    """A request to a service of the session, with `headers` as they are; the connection ends with its answer."""
    path = run.url(service, target).removeprefix(run.proxy.url)
    host = run.proxy.url.removeprefix("http://")
    measured = [f"Content-Length: {len(body)}"] if body else []
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers, *measured, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


async def send(run: Running, data: bytes) -> Answer:
    """Send bytes to the proxy's port and read the answer to the end of the connection."""
    return parsed(await send_raw(run, data))


async def send_raw(run: Running, data: bytes) -> bytes:
    """The same; gives everything that came back, unparsed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(run))
    try:
        writer.write(data)
        await writer.drain()
        return await reader.read()
    finally:
        await ended(writer)


async def ended(writer: asyncio.StreamWriter) -> None:
    """Close a connection and see it gone, so that nothing of it is left for the next test."""
    writer.transport.abort()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


def port_of(run: Running) -> int:
    """The proxy's port."""
    return int(run.proxy.url.rpartition(":")[2])


def parsed(data: bytes) -> Answer:
    """An answer from its bytes. Asserts that the framing fits: length or chunks to their end."""
    interim: list[str] = []
    head, blank, rest = data.partition(b"\r\n\r\n")
    while head.split(b" ", 2)[1].startswith(b"1") and b"101" not in head.split(b" ", 2)[1]:
        interim.append(head.decode("latin-1"))
        head, blank, rest = rest.partition(b"\r\n\r\n")
    assert blank, data[:200]
    first, *lines = head.decode("latin-1").split("\r\n")
    version, status, reason = [*first.split(" ", 2), ""][:3]
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
    low = {name.lower(): value for name, value in headers}
    body = _dechunked(rest) if low.get("transfer-encoding") == "chunked" else rest
    return Answer(version, int(status), reason, headers, body, tuple(interim))


def _dechunked(data: bytes) -> bytes:
    pieces: list[bytes] = []
    while True:
        size, mark, data = data.partition(b"\r\n")
        assert mark, "the chunks have no end"
        length = int(size, 16)
        if not length:
            return b"".join(pieces)
        pieces.append(data[:length])
        assert data[length : length + 2] == b"\r\n", "the chunks have no end"
        data = data[length + 2 :]


async def _one_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), b"0"
    )
    return head + await reader.readexactly(int(length))


async def aired(run: Running, requests: Sequence[bytes]) -> list[Answer]:
    """Send several requests, one after the other."""
    return [await send(run, data) for data in requests]
