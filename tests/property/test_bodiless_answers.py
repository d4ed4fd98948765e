"""Answers that have no body whatever their headers say keep those headers, recorded and replayed."""

from __future__ import annotations

import pytest

from tests.property.wires import answering, get
from tests.support import Project, services, session

HEADERS = ("ETag", "X-One", "x-one", "Set-Thing", "Content-Type")


def headers_of(answer: bytes) -> list[bytes]:
    """The header lines that the service sent, in order."""
    head = answer.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]
    return [line for line in head if line.split(b":")[0].decode() in {*HEADERS, "Content-Length"}]


@pytest.mark.parametrize(
    ("method", "status", "length"),
    [
        (b"HEAD", b"200 OK", b"Content-Length: 12345\r\n"),
        (b"HEAD", b"404 Not Found", b"Content-Length: 9\r\n"),
        (b"HEAD", b"200 OK", b""),
        (b"GET", b"204 No Content", b""),
        (b"GET", b"304 Not Modified", b""),
        (b"GET", b"205 Reset Content", b"Content-Length: 0\r\n"),
        (b"GET", b"200 OK", b"Content-Length: 0\r\n"),
        (b"OPTIONS", b"200 OK", b"Content-Length: 0\r\n"),
    ],
)
async def test_an_answer_without_a_body_keeps_status_and_headers(
    project: Project, method: bytes, status: bytes, length: bytes
) -> None:
    lines = b'ETag: "1"\r\nX-One: a\r\nx-one: b\r\nSet-Thing: 1\r\nContent-Type: text/x\r\n'
    answer = b"HTTP/1.1 " + status + b"\r\n" + lines + length + b"\r\n"
    async with answering(answer) as (url, _):
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            recorded = await get(run, "/a", method=method)
            assert (await run.close()).sealed
    async with session(project, "t", "replay") as run:
        replayed = await get(run, "/a", method=method)
        assert (await run.close()).hits == 1
    for relayed in (recorded, replayed):
        assert relayed.startswith(b"HTTP/1.1 " + status + b"\r\n")
        assert headers_of(relayed) == headers_of(answer)
        assert relayed.endswith(b"\r\n\r\n")
    assert project.tape("t").interactions[0].response.body == b""


@pytest.mark.parametrize("body", [b"", b"\x00\r\n\r\n\xff", b"0\r\n\r\n", b"x" * 200_000])
async def test_a_body_that_ends_with_the_connection_is_whole(project: Project, body: bytes) -> None:
    async with answering(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/x\r\n\r\n" + body) as (url, _):
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            await get(run, "/a")
            assert (await run.close()).sealed
    assert project.tape("t").interactions[0].response.body == body
    async with session(project, "t", "replay") as run, run.http.get(run.url("desk", "/a")) as answer:
        assert await answer.read() == body
