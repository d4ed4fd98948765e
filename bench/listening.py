"""The client of streams, in a process of its own: it notes when each event comes.

A question is `{"url": BASE, "path": ..., "events": N, "count": STREAMS}`; the streams are asked for at the same time.
The answer is a list of streams, each a list of seconds from its request to each of its events.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any
from urllib.parse import urlsplit

from bench.pipes import answer_questions
from bench.traffic import event, stream_request

_STREAM_SECONDS = 50.0


async def listen(question: dict[str, Any]) -> list[list[float]]:
    """Ask for the streams and hear them to their ends."""
    address = urlsplit(question["url"])
    asked = stream_request(address.netloc, question["path"])
    async with asyncio.timeout(_STREAM_SECONDS):
        opened = [asyncio.open_connection(address.hostname, address.port) for _ in range(question["count"])]
        connections = await asyncio.gather(*opened)
        return await asyncio.gather(*(_one(*connection, asked, question["events"]) for connection in connections))


async def _one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: bytes, events: int) -> list[float]:
    """One stream, on a connection of its own. Raises ValueError for any other event than the next."""
    try:
        began = time.perf_counter()
        writer.write(asked)
        times = []
        for number in range(events):
            data = await reader.readuntil(b"\n\n")
            times.append(time.perf_counter() - began)
            if not data.endswith(event(number)):
                raise ValueError(f"event {number} came as {data!r}")
        await reader.read()
        return times
    finally:
        writer.close()


if __name__ == "__main__":
    asyncio.run(answer_questions({}, listen))
