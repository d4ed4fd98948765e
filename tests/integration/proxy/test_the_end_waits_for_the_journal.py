"""The end of a body goes on only when the journal has the exchange, and nothing before the end waits.

While the proxy is about to write the journal its loop stands still, so what the client's socket then holds is all that
was ever sent. Asking for the line after the body was read would not do: a proxy that sends first and writes at once
afterwards passes such a test.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from proctor.journal import JournalWriter
from tests.integration.proxy.raw import canned, chunk, parsed, port_of, raw_service, request
from tests.support import Project, Running, services, serving, session

PIECES = [b"a" * 10, b"b" * 5000, b"c" * 30]
WHOLE = b"".join(PIECES)
HEADS = {
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(WHOLE),
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "until close": b"HTTP/1.0 200 OK\r\n\r\n",
}
READER = """
import glob, http.client, json, os
from urllib.parse import urlsplit
url = urlsplit(os.environ["DESK_URL"])
connection = http.client.HTTPConnection(url.hostname, url.port)
late = []
for number in range(150):
    connection.request("GET", f"{url.path}/{number}")
    connection.getresponse().read()
    with open(glob.glob(".proctor/journals/*.jsonl")[0], "rb") as journal:
        lines = journal.read().splitlines()
    if json.loads(lines[-1]).get("target") != f"/{number}":
        late.append(number)
print(json.dumps(late))
"""


@dataclass
class Watched:
    """A client whose socket can be emptied at any moment, also from within the proxy."""

    sock: socket.socket
    got: bytearray = field(default_factory=bytearray)
    over: bool = False
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)

    def take(self) -> bytes:
        """Everything that was sent up to now."""
        while not self.over:
            try:
                data = self.sock.recv(2**20)
            except BlockingIOError:
                break
            self.got += data
            self.over = not data
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()
        return bytes(self.got)

    async def until(self, tail: bytes) -> None:
        """Wait for the answer so far to end with `tail`; of nothing, for the end of the connection."""
        loop = asyncio.get_running_loop()
        while not (self.got.endswith(tail) if tail else self.over):
            loop.add_reader(self.sock, self.take)
            news = loop.create_future()
            self._waiting.append(news)
            await news

    def close(self) -> None:
        """Let the socket go."""
        asyncio.get_running_loop().remove_reader(self.sock)
        self.sock.close()


async def watched(run: Running, path: str = "/") -> Watched:
    """Ask for a path, and leave the answer to be looked at."""
    client = Watched(socket.create_connection(("127.0.0.1", port_of(run))))
    client.sock.sendall(request(run, "desk", path))
    client.sock.setblocking(False)
    return client


def seen_at_each_write(monkeypatch: pytest.MonkeyPatch, client: Callable[[], Watched]) -> list[bytes]:
    """What the client has got whenever the journal begins to write; one more with every answer."""
    seen: list[bytes] = []
    write = JournalWriter.interaction

    def looked_at(journal: JournalWriter, *arguments: Any, **options: Any) -> None:
        seen.append(client().take())
        write(journal, *arguments, **options)

    monkeypatch.setattr(JournalWriter, "interaction", looked_at)
    return seen


@pytest.mark.parametrize("framing", HEADS)
async def test_the_end_of_a_body_waits_for_the_journal_and_the_pieces_before_do_not(
    project: Project, monkeypatch: pytest.MonkeyPatch, framing: str
) -> None:
    async def lockstep(writer: asyncio.StreamWriter) -> None:
        writer.write(HEADS[framing])
        for number, piece in enumerate(PIECES):
            if number:
                end = b"\r\n" if framing != "length" else b""
                await client.until(PIECES[number - 1][-5:] + end)  # the client has the piece before: send the next
            writer.write(chunk(piece) if framing == "chunked" else piece)
            await writer.drain()
        if framing != "length":
            await client.until(PIECES[-1][-5:] + b"\r\n")
        if framing == "chunked":
            writer.write(chunk(b""))
        if framing == "until close":
            writer.close()

    seen = seen_at_each_write(monkeypatch, lambda: client)
    async with raw_service(lockstep) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            client = await watched(run)
            await client.until(b"")
            client.close()
            assert (await run.close()).sealed
    assert parsed(bytes(client.got)).body == WHOLE
    if framing == "length":
        assert seen[0].endswith(b"\r\n\r\n" + b"".join(PIECES[:-1])), (
            "the last piece went first, or an earlier one waited"
        )
    else:
        assert not seen[0].endswith(b"\r\n0\r\n\r\n"), "the end went ahead of the journal"
        assert parsed(seen[0] + chunk(b"")).body == WHOLE, "a piece before the end waited for the journal"


@pytest.mark.parametrize("answer", [canned(b"all at once"), canned(b"", status="204 No Content", length=False)])
async def test_an_answer_that_is_there_at_once_waits_whole(
    project: Project, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    seen = seen_at_each_write(monkeypatch, lambda: client)
    async with raw_service(answer) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            client = await watched(run)
            await client.until(b"")
            client.close()
    end = answer.partition(b"\r\n\r\n")[2]
    assert len(seen) == 1
    assert bytes(client.got).endswith(end)
    assert not seen[0] if not end else not seen[0].endswith(end)


async def test_a_client_in_another_process_finds_its_exchange_in_the_journal_at_once(project: Project) -> None:
    async def kinds(request: web.Request) -> web.StreamResponse:
        number = int(request.path.strip("/"))
        if number % 3 == 0:
            return web.json_response({"n": number})
        response = web.StreamResponse()
        if number % 3 == 1:
            response.content_length = len(WHOLE)
        await response.prepare(request)
        for piece in PIECES:
            await response.write(piece)
        return response

    async with serving(kinds) as url:
        project.configure(services(desk=url))
        agent = str(project.script("reader.py", READER))
        done = await project.proctor("record", "--cassette", "t", "--", sys.executable, agent)
    assert done.status == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0]) == []
