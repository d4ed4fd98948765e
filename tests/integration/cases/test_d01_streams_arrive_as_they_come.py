"""D1: a recorder that holds a whole stream back is cut off by its client's idle timer.

The service sends its next event only when the client has got the one before: with a recorder that waits for more than
one event, none of these tests comes to its end.
"""

from __future__ import annotations

from contextlib import aclosing

import pytest

from tests.integration.cases.stream_clients import STREAM_CLIENTS
from tests.integration.proxy.raw import raw_service
from tests.integration.proxy.streaming import EVENTS, Steps, anthropic, openai_chat, openai_responses, reading
from tests.support import Project, services, session

NDJSON = "Content-Type: application/x-ndjson"
STREAMS = {
    "unnamed events and a [DONE]": (EVENTS, openai_chat("Shipped ", "yesterday.")),
    "named events": (EVENTS, openai_responses("Shipped ", "yesterday.")),
    "named events with a ping": (EVENTS, anthropic("Shipped ", "yesterday.")),
    "an idle stream with heartbeats": (EVENTS, [b": ping\n\n", b"data: 1\n\n", b":\n\n", b":\n\n", b"data: 2\n\n"]),
    "an event in two packets": (EVENTS, [b"event: note\n", b"data: split\n\n", b"id: 7\nretry: 100\ndata\n\n"]),
    "a line of JSON each": (NDJSON, [b'{"n": 1}\n', b'{"n": 2}\n', b'{"n": 3}\n']),
}


@pytest.mark.parametrize("kind", STREAMS)
async def test_each_piece_reaches_the_client_before_the_next_is_sent_and_all_are_kept(
    project: Project, kind: str
) -> None:
    media, pieces = STREAMS[kind]
    steps = Steps(pieces, (media,))
    async with raw_service(steps.answer) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run, reading(run) as client:
            for piece in pieces:
                steps.next()
                assert await client.chunk() == piece
            steps.next()
            assert await client.chunk() == b""
            summary = await run.close()
    assert (summary.sealed != "", summary.recorded, summary.errors) == (True, 1, ())
    assert project.tape("t").interactions[0].response.body == b"".join(pieces)
    async with session(project, "t", "replay") as run, reading(run) as client:
        assert await client.chunks() == pieces


@pytest.mark.req(173)
@pytest.mark.parametrize("client", STREAM_CLIENTS)
async def test_real_clients_get_each_event_before_the_next_is_sent(project: Project, client: str) -> None:
    words = ("Shipped ", "yesterday", ".")
    pieces = openai_chat(*words)
    expected = ["", *words, ""] if client == "by_openai" else [piece.decode() for piece in pieces]
    steps = Steps(pieces)
    async with raw_service(steps.answer) as service:
        project.configure(services(desk=service.url) + 'preset = "openai"\n')
        async with session(project, "t") as run, aclosing(STREAM_CLIENTS[client](run.url("desk"))) as stream:
            for event in expected:
                steps.next()
                assert (await anext(stream)).decode() == event
            steps.next(len(pieces) - len(expected) + 1)
            assert [piece async for piece in stream] == []
            assert (await run.close()).sealed
    assert project.tape("t").interactions[0].response.body == b"".join(pieces)
    async with session(project, "t", "replay") as run:
        again = b"".join([piece async for piece in STREAM_CLIENTS[client](run.url("desk"))])
    assert again.decode() == "".join(expected)
