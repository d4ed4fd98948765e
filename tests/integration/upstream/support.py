"""Real services behind TLS or a proxy, and one question to them through Proctor."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trustme
from aiohttp import ClientSession, web

from proctor.trace import SessionSummary
from proctor.wire import ERROR_HEADER, Mode
from tests.integration.proxy.raw import ended
from tests.support import Project, session


@dataclass(frozen=True)
class Answered:
    """What the agent got, and what the session's summary says."""

    status: int
    error: str
    """The code of Proctor's own error; empty where the service answered."""
    body: str
    headers: dict[str, str]
    summary: SessionSummary

    @property
    def told(self) -> str:
        """What the summary tells a person."""
        return "\n".join(f"{each.message} ({each.fix})" for each in self.summary.errors)


async def ask(
    project: Project, mode: Mode = "record", target: str = "/x", headers: dict[str, str] | None = None
) -> Answered:
    """One GET to the service `desk` of the project, in a session of its own."""
    async with session(project, "t", mode) as run, ClientSession(max_field_size=2**17, max_headers=2_000) as http:
        async with http.get(run.url("desk", target), headers=headers or {}) as got:
            body = (await got.read()).decode("utf-8", "replace")
        summary = await run.close()
    return Answered(got.status, got.headers.get(ERROR_HEADER, ""), body, dict(got.headers), summary)


def configure(project: Project, url: str, *lines: str) -> None:
    """A `proctor.toml` with the one service `desk`."""
    project.configure("\n".join(["[services.desk]", f'url = "{url}"', 'reads = ["*"]', *lines]) + "\n")


async def say_ok(request: web.Request) -> web.StreamResponse:
    """A service that tells with which credential it was asked."""
    return web.json_response({"as": request.headers.get("Authorization", ""), "path": request.path})


def write(project: Project, name: str, *blobs: trustme.Blob) -> None:
    """A PEM file of the project."""
    (project.root / name).write_bytes(b"".join(blob.bytes() for blob in blobs))


@asynccontextmanager
async def https(certificate: trustme.LeafCert, client_ca: trustme.CA | None = None) -> AsyncIterator[str]:
    """A service that speaks TLS; with `client_ca` only to those who show a certificate of it. Gives its URL."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(context)
    if client_ca is not None:
        client_ca.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    runner = web.ServerRunner(web.Server(_handle, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        yield f"https://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _handle(request: web.BaseRequest) -> web.StreamResponse:
    return web.json_response({"as": request.headers.get("Authorization", ""), "path": request.path})


@dataclass
class Between:
    """A proxy between Proctor and a service. It notes the first line of each request, and its credential."""

    credential: str = ""
    """`user:password` that it wants; empty for none."""
    says: bytes = b""
    """What it answers to everything, instead of doing its work."""
    lines: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    url: str = ""
    connections: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: one request that is passed on, or a tunnel."""
        task = asyncio.current_task()
        assert task is not None
        self.connections.add(task)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            self.lines.append(first)
            given = [line.split(" ", 2)[2] for line in lines if line.lower().startswith("proxy-authorization")]
            self.given += given
            wanted = b64encode(self.credential.encode()).decode()
            if self.says:
                writer.write(self.says)
            elif self.credential and wanted not in given:
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            else:
                await self._pass(first, head, reader, writer)
        await ended_softly(writer)

    async def _pass(self, first: str, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target, _ = first.split(" ")
        place = target if method == "CONNECT" else target.split("/")[2]
        host, port = place.rsplit(":", 1)
        behind_reader, behind = await asyncio.open_connection(host, int(port))
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                behind.write(head.encode("latin-1"))
            await asyncio.gather(_pump(reader, behind), _pump(behind_reader, writer))
        finally:
            await ended(behind)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def ended_softly(writer: asyncio.StreamWriter) -> None:
    """Send what there is, and close."""
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


@asynccontextmanager
async def between(credential: str = "", says: bytes = b"") -> AsyncIterator[Between]:
    """Such a proxy, on a port of the system's choice."""
    made = Between(credential, says)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        await asyncio.gather(*made.connections)
