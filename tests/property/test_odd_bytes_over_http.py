"""Bytes that are no UTF-8, where HTTP allows them: an exchange with them is recorded, replayed and missed like any."""

from __future__ import annotations

from proctor.wire import MISS_HEADER
from tests.property.wires import answering, get
from tests.support import Project, services, session

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"


def first_line(answer: bytes) -> bytes:
    """The status line."""
    return answer.partition(b"\r\n")[0]


async def record_and_replay(project: Project, answer: bytes, *headers: bytes) -> tuple[bytes, bytes]:
    """What the client gets while recording, and from the tape."""
    async with answering(answer) as (url, _):
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            recorded = await get(run, "/a", *headers)
            assert (await run.close()).sealed
    async with session(project, "t", "replay") as run:
        return recorded, await get(run, "/a", *headers)


async def test_a_reason_phrase_in_latin_1_does_not_spoil_the_exchange(project: Project) -> None:
    answer = PLAIN.replace(b"200 OK", b"200 Gr\xfc\xdfe")
    recorded, replayed = await record_and_replay(project, answer)
    assert first_line(recorded).startswith(b"HTTP/1.1 200 ")
    assert recorded.endswith(b"\r\n\r\nok")
    assert first_line(replayed) == first_line(recorded)


async def test_a_target_header_in_latin_1_does_not_spoil_the_exchange(project: Project) -> None:
    recorded, replayed = await record_and_replay(project, PLAIN, b"X-Amz-Target: Db.gr\xfcn")
    assert first_line(recorded) == first_line(replayed) == b"HTTP/1.1 200 OK"


async def test_a_key_header_that_is_no_utf8_misses_as_any_other_and_the_summary_says_so(project: Project) -> None:
    await record_and_replay(project, PLAIN)
    async with session(project, "t", "replay") as run:
        answer = await get(run, "/a", b'If-Match: "\xff"')
        summary = await run.close()
    assert first_line(answer).startswith(b"HTTP/1.1 422 ")
    assert MISS_HEADER.encode() in answer
    assert len(summary.misses) == 1
    assert summary.errors == ()


async def test_a_miss_names_a_declared_key_header_that_differs(project: Project) -> None:
    async with answering(PLAIN) as (url, _):
        project.configure(services(desk=url) + 'key_headers = ["X-Tenant"]\n')
        async with session(project, "t") as run:
            await get(run, "/a", b"X-Tenant: one")
            assert (await run.close()).sealed
    async with session(project, "t", "replay") as run:
        await get(run, "/a", b"X-Tenant: two")
        (missed,) = (await run.close()).misses
    assert missed.diff == ('header x-tenant: recorded "one", got "two"',)
