"""A stream is recorded with its pieces and replayed in them, byte for byte, at once or at the recorded times."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from proctor.cassette import Cassette, save_cassette
from proctor.interaction import Interaction, Request, Response
from proctor.pieces import Pieces
from proctor.proxy import receiving
from tests.integration.proxy.raw import canned, chunk, raw_service, request, send, send_raw
from tests.integration.proxy.streaming import EVENTS, FRAMINGS, Steps, at_once, head, reading
from tests.support import Project, services, session

WORDS = ("The parcel ", "is in ", "Gdańsk", " 📦.")
HOUR = 3600


def lengths(project: Project) -> tuple[int, ...] | None:
    """Of the pieces of the tape's first answer."""
    pieces = project.tape("t").interactions[0].response.pieces
    return None if pieces is None else pieces.lengths


@pytest.mark.parametrize("framing", FRAMINGS)
async def test_the_agent_gets_the_same_pieces_while_recording_and_in_replay(project: Project, framing: str) -> None:
    events = FRAMINGS[framing](*WORDS)
    steps = Steps(events)
    async with raw_service(steps.answer) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run, reading(run) as agent:
            live = []
            for _ in events:
                steps.next()
                live.append(await agent.chunk())
            steps.next()
            assert await agent.chunk() == b""
            assert (await run.close()).sealed
    assert live == events
    kept = project.tape("t").interactions[0].response
    assert kept.body == b"".join(events)
    assert kept.pieces is not None
    assert (kept.pieces.lengths, kept.pieces.anew) == (tuple(map(len, events)), False)
    async with session(project, "t", "replay") as run, reading(run) as agent:
        assert await agent.chunks() == events


async def test_events_that_come_in_one_packet_are_pieces_of_their_own(project: Project) -> None:
    events = FRAMINGS["anthropic"](*WORDS)
    async with raw_service(at_once(events, EVENTS)) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run, reading(run) as agent:
            assert await agent.chunks() == events
            await run.close()
    async with session(project, "t", "replay") as run, reading(run) as agent:
        assert await agent.chunks() == events


@pytest.mark.parametrize(("seconds", "pieces"), [(float(HOUR), 2), (0.0, 3)], ids=["close together", "far apart"])
async def test_a_chunk_that_came_in_two_parts_is_one_piece_if_they_were_close_together(
    project: Project, monkeypatch: pytest.MonkeyPatch, seconds: float, pieces: int
) -> None:
    monkeypatch.setattr(receiving, "_ONE_PIECE_SECONDS", seconds)
    half_seen = asyncio.Event()

    async def in_halves(writer: asyncio.StreamWriter) -> None:
        writer.write(head(EVENTS) + b"a\r\ndata:")
        await half_seen.wait()
        writer.write(b" one\n\r\n" + chunk(b"data: two\n") + chunk(b""))

    async with raw_service(in_halves) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run, reading(run) as agent:
            assert await agent.chunk() == b"data:"  # what is here goes on, whatever becomes of it on the tape
            half_seen.set()
            await agent.chunks()
            await run.close()
    found = lengths(project)
    assert found is not None
    assert (len(found), sum(found)) == (pieces, 20)


@pytest.mark.parametrize(
    "answer",
    [
        canned(b'{"plain": true}', "Content-Type: application/json"),
        at_once([b'{"one": "chunk"}'], "Content-Type: application/json"),
        at_once([b"data: alone\n\n"], EVENTS),
        at_once([], EVENTS),
    ],
    ids=["of a known length", "one chunk", "one event", "no event"],
)
async def test_what_came_in_one_piece_has_no_table(project: Project, answer: bytes) -> None:
    async with raw_service(answer) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            first = await send(run, request(run, "desk", "/"))
            await run.close()
    assert lengths(project) is None
    assert b"pieces" not in project.layout.cassette("t").read_bytes()
    async with session(project, "t", "replay") as run:
        assert (await send(run, request(run, "desk", "/"))).body == first.body


async def test_the_pieces_in_which_a_body_of_known_length_came_are_the_networks_doing(project: Project) -> None:
    async def in_two(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n{ ")
        await writer.drain()
        await seen.wait()
        writer.write(b" }")

    seen = asyncio.Event()
    async with raw_service(in_two) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            answer = await run.http.get(run.url("desk", "/"))
            await answer.content.readexactly(2)
            seen.set()
            assert await answer.read() == b" }"
            await run.close()
    assert lengths(project) is None


async def test_a_compressed_stream_passes_untouched_in_its_pieces(project: Project) -> None:
    packed = gzip.compress(b"".join(FRAMINGS["openai chat"](*WORDS)), mtime=0)
    pieces = [packed[:20], packed[20:90], packed[90:]]
    async with raw_service(at_once(pieces, EVENTS, "Content-Encoding: gzip")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run, reading(run) as agent:
            assert await agent.chunks() == pieces
            await run.close()
    async with session(project, "t", "replay") as run, reading(run) as agent:
        assert await agent.chunks() == pieces


async def test_a_client_of_http_1_0_gets_the_bytes_without_chunks(project: Project) -> None:
    events = FRAMINGS["openai chat"](*WORDS)
    async with raw_service(at_once(events, EVENTS)) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            await send(run, request(run, "desk", "/"))
            await run.close()
    async with session(project, "t", "replay") as run:
        data = await send_raw(run, request(run, "desk", "/").replace(b"HTTP/1.1", b"HTTP/1.0"))
    assert data.partition(b"\r\n\r\n")[2] == b"".join(events)


async def test_trailers_are_named_where_they_are_lost(project: Project) -> None:
    answer = at_once([b"one\n", b"two\n"], "Trailer: X-Sum, Expires")
    with_trailer = answer[: -len(b"\r\n")] + b"X-Sum: 12\r\n\r\n"
    async with raw_service(with_trailer) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            assert (await send(run, request(run, "desk", "/sums"))).body == b"one\ntwo\n"
            summary = await run.close()
    assert "desk GET /sums: its trailers (X-Sum, Expires) were not passed on" in summary.notes
    assert project.tape("t").interactions[0].response.trailers == "X-Sum, Expires"


def hour_long(project: Project, *, streamed: bool = True, complete: bool = True) -> None:
    """A tape whose answer took an hour: its first event at once, the second at the end."""
    project.configure(services(desk="http://desk.test"))
    events = [b"data: first\n\n", b"data: second\n\n"]
    pieces = Pieces((len(events[0]), len(events[1])), (0, HOUR * 1000)) if streamed else None
    answer = Response(200, "OK", (("Content-Type", "text/event-stream"),), b"".join(events), complete, pieces)
    asked = Request("desk", "GET", "/stream", (), b"")
    made = Interaction(0, asked, answer, "http://desk.test/stream", "read", "method", seconds=HOUR)
    save_cassette(project.layout.cassette("t"), Cassette("t", (made,), {"services": {"desk": "http://desk.test"}}))


async def test_without_timing_nothing_waits(project: Project) -> None:
    hour_long(project)
    async with session(project, "t", "replay") as run, reading(run) as agent:
        assert await agent.chunks() == [b"data: first\n\n", b"data: second\n\n"]


async def test_with_timing_a_piece_waits_for_its_moment_and_the_closing_session_for_nothing(project: Project) -> None:
    hour_long(project)
    async with session(project, "t", "replay", timing=True) as run, reading(run) as agent:
        assert await agent.chunk() == b"data: first\n\n"
        await run.control.session(run.info.session)  # the proxy's loop has come round
        assert agent.nothing_more()
        summary = await run.close()
        assert await agent.chunks() == [b"data: second\n\n"]
    assert (summary.hits, summary.errors) == (1, ())


async def test_with_timing_an_answer_that_was_not_streamed_comes_when_the_real_one_had_come(project: Project) -> None:
    hour_long(project, streamed=False)
    async with session(project, "t", "replay", timing=True) as run, reading(run) as agent:
        await run.control.session(run.info.session)
        assert agent.nothing_more()
        await run.close()
        assert await agent.chunks() == [b"data: first\n\ndata: second\n\n"]


async def test_with_timing_a_broken_stream_breaks_when_it_broke(project: Project) -> None:
    hour_long(project, complete=False)
    async with session(project, "t", "replay", timing=True) as run, reading(run) as agent:
        assert await agent.chunk() == b"data: first\n\n"
        await run.close()
        assert await agent.chunk() == b"data: second\n\n"
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await agent.chunk()


async def test_an_agent_that_leaves_a_replayed_stream_is_no_fault(project: Project) -> None:
    hour_long(project)
    async with session(project, "t", "replay", timing=True) as run:
        async with reading(run) as agent:
            await agent.chunk()
        summary = await run.close()
    assert (summary.hits, summary.errors, summary.misses) == (1, (), ())


async def test_pieces_survive_a_retape_of_the_llm(project: Project) -> None:
    """The tools' answers are taken over from the earlier tape, their tables with them."""
    events = FRAMINGS["openai chat"](*WORDS)
    async with raw_service(at_once(events, EVENTS)) as desk, raw_service(canned(b"{}")) as llm:
        project.configure(services(desk=desk.url, llm=llm.url))
        async with session(project, "t") as run:
            for name in ("desk", "llm"):
                await send(run, request(run, name, "/"))
            await run.close()
        old = project.tape("t")
        async with session(project, "new", "replay", {"llm": "record"}, over="t") as run:
            for name in ("desk", "llm"):
                await send(run, request(run, name, "/"))
            assert (await run.close()).sealed
    assert project.tape("new").interactions[0].response == old.interactions[0].response
    assert old.interactions[0].response.pieces is not None
