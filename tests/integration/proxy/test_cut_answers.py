"""An answer that the service broke off is broken for the agent too, kept aside, and never served as a whole one."""

from __future__ import annotations

import asyncio
import contextlib
import shutil

import pytest

from proctor.errors import CassetteTorn
from proctor.resealing import accept_aside
from proctor.trace import TraceRow
from tests.integration.proxy.raw import Answer, Answering, canned, chunk, port_of, raw_service, request, send, send_raw
from tests.support import Project, services, session

CUTS = {
    "short of its length": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
    "between chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"half"),
    "within a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"half") + b"64\r\nmore",
    "after the head": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
}


def breaking(data: bytes, *, reset: bool = False) -> Answering:
    """A service's answer that ends in the middle, by a close or by a reset of the connection."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        if reset:
            writer.transport.abort()
        writer.close()

    return answer


def assert_broken(data: bytes) -> None:
    """What came can be told from a whole answer: shorter than announced, or without its last chunk."""
    head, _, body = data.partition(b"\r\n\r\n")
    if b"chunked" in head.lower():
        assert not body.endswith(b"0\r\n\r\n")
    elif data:
        assert b"content-length: 100" in head.lower()
        assert len(body) < 100


def body_so_far(data: bytes) -> bytes:
    """What came of a body that was broken off."""
    head, _, rest = data.partition(b"\r\n\r\n")
    if b"chunked" not in head.lower():
        return rest
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    return body


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("cut", CUTS)
async def test_a_broken_answer_is_broken_for_the_agent_and_the_old_tape_stays(
    project: Project, cut: str, reset: bool
) -> None:
    async with raw_service(canned(b"whole"), breaking(CUTS[cut], reset=reset)) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            await send(run, request(run, "desk", "/"))
            assert (await run.close()).sealed
        old = project.layout.cassette("t").read_bytes()
        async with session(project, "t") as run:
            with contextlib.suppress(ConnectionError):  # reset: as plain as it can be
                assert_broken(await send_raw(run, request(run, "desk", "/")))
            summary = await run.close()
    assert (summary.sealed, [error.code for error in summary.errors]) == ("", ["answer_cut"])
    assert any("broke off" in reason for reason in summary.aside_reasons)
    assert project.layout.cassette("t").read_bytes() == old
    assert project.trace(run.info.session)[0].cut


async def test_a_tape_that_was_put_aside_is_not_played(project: Project) -> None:
    async with raw_service(breaking(CUTS["between chunks"])) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            with contextlib.suppress(ConnectionError):
                await send_raw(run, request(run, "desk", "/"))
            summary = await run.close()
    project.layout.cassettes.mkdir(exist_ok=True)
    shutil.copy(summary.aside, project.layout.cassette("t"))
    with pytest.raises(CassetteTorn, match="broke off"):
        project.tape("t")


@pytest.mark.parametrize("cut", CUTS)
async def test_an_accepted_recording_of_a_broken_answer_breaks_off_again(project: Project, cut: str) -> None:
    async with raw_service(breaking(CUTS[cut])) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            await send_raw(run, request(run, "desk", "/"))
            assert (await run.close()).aside
    accept_aside(project.layout, "t", None)
    (kept,) = project.tape("t").interactions
    assert not kept.response.complete
    for _ in range(2):
        async with session(project, "t", "replay") as run:
            data = await send_raw(run, request(run, "desk", "/"))
            assert_broken(data)
            assert body_so_far(data) == kept.response.body
            summary = await run.close()
        assert (summary.hits, project.trace(run.info.session)[0].cut) == (1, True)


async def test_one_broken_answer_spoils_neither_the_others_nor_the_connection_pool(project: Project) -> None:
    answers = (canned(b"one"), breaking(CUTS["short of its length"]), canned(b"three"))
    got: list[Answer] = []
    async with raw_service(*answers) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            got.append(await send(run, request(run, "desk", "/1")))
            with contextlib.suppress(ConnectionError):
                await send_raw(run, request(run, "desk", "/2"))
            got.append(await send(run, request(run, "desk", "/3")))
            await run.close()
    assert [answer.body for answer in got] == [b"one", b"three"]
    assert [row.cut for row in project.trace(run.info.session)] == [False, True, False]


async def left_after_the_first_piece(project: Project, framing: str, pieces: list[bytes]) -> TraceRow:
    """A client that resets its connection after the first of some pieces; gives the row of its exchange."""
    gone = asyncio.Event()

    async def patient(writer: asyncio.StreamWriter) -> None:
        length = b"Content-Length: %d" % sum(map(len, pieces))
        framed = pieces if framing == "length" else [chunk(piece) for piece in (*pieces, b"")]
        writer.write(
            b"HTTP/1.1 200 OK\r\n%s\r\n\r\n" % (length if framing == "length" else b"Transfer-Encoding: chunked")
        )
        writer.write(framed[0])
        await gone.wait()
        writer.write(b"".join(framed[1:]))

    async with raw_service(patient) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            reader, writer = await asyncio.open_connection("127.0.0.1", port_of(run))
            writer.write(request(run, "desk", "/"))
            await reader.readuntil(pieces[0][-3:])
            writer.transport.abort()
            await run.control.session(run.info.session)  # the proxy's loop has come round: it knows of the reset
            gone.set()
            summary = await run.close()
    assert (summary.sealed != "", summary.recorded, summary.errors) == (True, 1, ())
    assert project.tape("t").interactions[0].response.body == b"".join(pieces)
    return project.trace(run.info.session)[0]


@pytest.mark.parametrize("framing", ["length", "chunked"])
async def test_the_whole_answer_is_kept_when_the_client_resets_after_its_first_piece(
    project: Project, framing: str
) -> None:
    row = await left_after_the_first_piece(project, framing, [b"x" * 3000] * 40)
    assert not row.cut


@pytest.mark.parametrize("framing", ["length", "chunked"])
async def test_the_trace_says_that_a_client_had_left_before_the_end(project: Project, framing: str) -> None:
    assert (await left_after_the_first_piece(project, framing, [b"first", b"last"])).client_gone
