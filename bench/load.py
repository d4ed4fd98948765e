"""The load generator, in a process of its own: a few keep-alive connections, each sending when it has its answer.

A question is `{"url": BASE, "path": ..., "count": N, "distinct": N, "compact": BOOL}`; the answer is `{"wrong": N,
"example": TEXT, "seconds": ...}`.
The client is a bare protocol: it has to cost less than what it measures. Every answer is compared whole.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from bench.pipes import answer_questions
from bench.traffic import LARGE, answer_body, request_body, request_bytes

_CONNECTIONS = 16
_LOAD_SECONDS = 50.0
_STRIDE = 7
"""Prime to every number of distinct requests: all are asked, not in their order on the tape."""
_BODIES = [request_body(number) for number in range(LARGE)]
_ANSWERS = [answer_body(number) for number in range(LARGE)]


@dataclass
class _Load:
    """What is left to send, and what came back wrong."""

    requests: list[bytes]
    answers: list[bytes]
    count: int
    ended: asyncio.Future[None]
    sent: int = 0
    open: int = _CONNECTIONS
    wrong: list[str] = field(default_factory=list)

    def next(self) -> int | None:
        """The number of the next request, or None where all are sent."""
        if self.sent == self.count or self.wrong:
            return None
        self.sent += 1
        return (self.sent - 1) * _STRIDE % len(self.requests)

    def connection_done(self) -> None:
        """One connection has no more to do; the last one ends the load."""
        self.open -= 1
        if not self.open and not self.ended.done():
            self.ended.set_result(None)


class _Connection(asyncio.Protocol):
    """One keep-alive connection with one request on its way at a time."""

    def __init__(self, load: _Load) -> None:
        self._load = load
        self._received = b""
        self._awaited: int | None = None
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, blank, body = self._received.partition(b"\r\n\r\n")
        if not blank or len(body) < _length(head):
            return
        assert self._awaited is not None
        if not head.startswith(b"HTTP/1.1 200 ") or body != self._load.answers[self._awaited]:
            self._load.wrong.append(f"request {self._awaited}: {self._received[:600].decode(errors='replace')}")
        self._received = b""
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._awaited is not None:
            self._load.wrong.append(f"request {self._awaited}: the connection was closed: {exc}")
        self._load.connection_done()

    def _send(self) -> None:
        assert self._transport is not None
        self._awaited = self._load.next()
        if self._awaited is None:
            self._transport.close()
        else:
            self._transport.write(self._load.requests[self._awaited])


def _length(head: bytes) -> int:
    """The announced length of a body; 0 where there is none, which no expected answer has."""
    _, _, rest = head.lower().partition(b"\r\ncontent-length:")
    return int(rest.partition(b"\r\n")[0] or b"0")


def _compact(body: bytes) -> bytes:
    return json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":")).encode()


async def run_load(question: dict[str, Any]) -> dict[str, Any]:
    """Send `count` requests and wait for all answers."""
    address = urlsplit(question["url"])
    distinct = question["distinct"]
    requests = [request_bytes(address.netloc, question["path"], body) for body in _BODIES[:distinct]]
    loop = asyncio.get_running_loop()
    answers = [_compact(body) for body in _ANSWERS[:distinct]] if question["compact"] else _ANSWERS
    load = _Load(requests, answers, question["count"], loop.create_future())
    began = time.perf_counter()
    try:
        async with asyncio.timeout(_LOAD_SECONDS):
            await asyncio.gather(
                *(
                    loop.create_connection(lambda: _Connection(load), address.hostname, address.port)
                    for _ in range(_CONNECTIONS)
                )
            )
            await load.ended
    except (OSError, TimeoutError) as error:
        load.wrong.append(f"after {load.sent} requests: {type(error).__name__}: {error}")
    return {"wrong": len(load.wrong), "example": "".join(load.wrong[:1]), "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    asyncio.run(answer_questions("ready", run_load))
