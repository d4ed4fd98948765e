"""Streams on the wire: the framings of real APIs, a service that sends step by step, a client that sees the chunks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from tests.integration.proxy.raw import Answering, chunk, ended, port_of, request
from tests.support import Running

EVENTS = "Content-Type: text/event-stream; charset=utf-8"


def openai_chat(*words: str) -> list[bytes]:
    """Unnamed events and a `[DONE]`."""
    deltas = [{"role": "assistant", "content": ""}, *({"content": word} for word in words), {}]
    return [
        *(
            _unnamed(
                id="chatcmpl-1",
                object="chat.completion.chunk",
                created=1790000000,
                model="gpt-test",
                choices=[{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}],
            )
            for delta in deltas
        ),
        b"data: [DONE]\n\n",
    ]


def openai_responses(*words: str) -> list[bytes]:
    """Named events, numbered, and no `[DONE]`."""
    item = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    told: list[tuple[str, dict[str, object]]] = [
        ("response.created", {"response": {"id": "resp_1", "status": "in_progress"}}),
        *(("response.output_text.delta", {**item, "delta": word}) for word in words),
        ("response.output_text.done", {**item, "text": "".join(words)}),
        ("response.completed", {"response": {"id": "resp_1", "status": "completed"}}),
    ]
    return [_named(name, type=name, sequence_number=number, **data) for number, (name, data) in enumerate(told)]


def anthropic(*words: str) -> list[bytes]:
    """Named events with a ping among them, and no `[DONE]`."""
    told: list[tuple[str, dict[str, object]]] = [
        ("message_start", {"message": {"id": "msg_1", "role": "assistant", "content": []}}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("ping", {}),
        *(("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": word}}) for word in words),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}),
        ("message_stop", {}),
    ]
    return [_named(name, type=name, **data) for name, data in told]


FRAMINGS: dict[str, Callable[..., list[bytes]]] = {
    "openai chat": openai_chat,
    "openai responses": openai_responses,
    "anthropic": anthropic,
}


def _unnamed(**data: object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def _named(name: str, **data: object) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), json.dumps(data).encode())


def head(*headers: str) -> bytes:
    """The head of a chunked answer."""
    return "\r\n".join(["HTTP/1.1 200 OK", *headers, "Transfer-Encoding: chunked", "", ""]).encode()


def at_once(pieces: Sequence[bytes], *headers: str) -> bytes:
    """A whole chunked answer, its pieces a chunk each."""
    return head(*headers) + b"".join(map(chunk, (*pieces, b"")))


@dataclass
class Steps:
    """A service that sends its next piece only once the test has said `next`."""

    pieces: Sequence[bytes]
    headers: tuple[str, ...] = (EVENTS,)
    ending: Literal["whole", "cut", "silent"] = "whole"
    """What comes after the last piece: the end, the middle of a chunk and a closed connection, or nothing ever."""
    _may: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    def next(self, count: int = 1) -> None:
        """Let the service send `count` more pieces; the end counts as one."""
        for _ in range(count):
            self._may.release()

    @property
    def answer(self) -> Answering:
        """What the service does with a request."""
        return self._answer

    async def _answer(self, writer: asyncio.StreamWriter) -> None:
        writer.write(head(*self.headers))
        for piece in self.pieces:
            await self._may.acquire()
            writer.write(chunk(piece))
        await self._may.acquire()
        if self.ending == "whole":
            writer.write(chunk(b""))
        elif self.ending == "cut":
            writer.write(b"64\r\nmore")
            writer.close()
        else:
            await writer.wait_closed()


class Reader:
    """A client that takes a chunked answer chunk by chunk."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.head = b""
        self._reader = reader
        self.writer = writer

    async def chunk(self) -> bytes:
        """The next chunk; nothing at the end. Raises IncompleteReadError where the connection broke before that."""
        if not self.head:
            self.head = await self._reader.readuntil(b"\r\n\r\n")
        size = int(await self._reader.readuntil(b"\r\n"), 16)
        return (await self._reader.readexactly(size + 2))[:-2]

    async def chunks(self, count: int = -1) -> list[bytes]:
        """So many chunks; by default all that are left, to the end of the body."""
        found: list[bytes] = []
        while len(found) != count:
            found.append(await self.chunk())
            if not found[-1] and count < 0:
                return found[:-1]
        return found

    def nothing_more(self) -> bool:
        """Whether nothing has come beyond what was read, as far as this process knows."""
        return not self._reader._buffer  # type: ignore[attr-defined]


@asynccontextmanager
async def reading(run: Running, target: str = "/stream", *headers: str) -> AsyncIterator[Reader]:
    """A request for a stream on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(run))
    try:
        writer.write(request(run, "desk", target, *headers))
        yield Reader(reader, writer)
    finally:
        await ended(writer)
