"""What happens in the middle of a call, or of a tool: the call is whole or it is not, and the session goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from urllib.parse import urlsplit

from tests.integration.worlds.support import TOML, asked, with_shop
from tests.support import Project, Running, session

GOOD = b'{"order_id": "A1"}'


async def until(holds: Callable[[], bool]) -> None:
    """Let everything else go on until something holds."""
    for _ in iter(holds, True):
        await asyncio.sleep(0)


def upload(run: Running) -> tuple[bytes, bytes]:
    """The two halves of a call that cancels an order."""
    target = f"{urlsplit(run.url('shop')).path}/tools/cancel_order"
    key = "X-Api-Key: proctor-world-alice"
    head = f"POST {target} HTTP/1.1\r\nHost: x\r\n{key}\r\nContent-Length: {len(GOOD)}\r\n\r\n"
    return head.encode() + GOOD[:5], GOOD[5:]


async def begun(run: Running) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which half of the call has come; the session knows of it."""
    address = urlsplit(run.proxy.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(upload(run)[0])
    found = run.proxy.registry.find(run.info.session)
    await until(lambda: found._open > 0)
    return reader, writer


async def test_a_session_that_closes_in_the_middle_of_a_call_waits_for_its_end(project: Project) -> None:
    async with session(with_shop(project), "case", "world") as run:
        reader, writer = await begun(run)
        found = run.proxy.registry.find(run.info.session)
        closing = asyncio.create_task(run.close())
        await found.closing.wait()
        writer.write(upload(run)[1])
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        summary = await closing
        writer.close()
        status, told = await asked(run, "query_order", order_id="A1")
        assert (status, told["error"]) == (410, "session_closed")
    assert (summary.worlds, summary.errors) == (1, ())
    left = json.loads((project.layout.sessions / summary.session / "worlds.json").read_text())
    assert left["shop"]["state"]["orders"]["A1"]["status"] == "cancelled"


async def test_a_call_that_is_broken_off_in_its_middle_reaches_no_world(project: Project) -> None:
    async with session(with_shop(project), "case", "world") as run:
        _, writer = await begun(run)
        writer.transport.abort()
        found = run.proxy.registry.find(run.info.session)
        await until(lambda: found._open == 0)
        world = await run.control.world(run.info.session, "shop")
        assert (world.diff, world.calls) == ([], 0)
        assert (await asked(run, "query_order", order_id="A1"))[0] == 200
        assert [error.code for error in (await run.close()).errors] == ["request_cut"]


async def test_a_reset_in_the_middle_of_a_call_lets_it_be_the_first(project: Project) -> None:
    async with session(with_shop(project), "case", "world") as run:
        assert (await asked(run, "cancel_order", "bob", order_id="A2"))[0] == 200
        reader, writer = await begun(run)
        assert (await run.control.reset_world(run.info.session, "shop")).writes == 1
        writer.write(upload(run)[1])
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()
        world = await run.control.world(run.info.session, "shop")
        assert [(write.call, write.tool) for write in world.log] == [(1, "cancel_order")]
        assert [step["path"] for step in world.diff] == ["/orders/A1/status", "/orders/A1/tags/by"]


THROWING = '''
from asyncio import CancelledError

from pydantic import BaseModel

from proctor.world import BusinessError, World, tool


class Unsayable(Exception):
    def __str__(self):
        raise ValueError("no text")


class State(BaseModel):
    calls: list[str] = []


class Throwing(World[State]):
    @tool
    def throw(self, what: str) -> str:
        """Throw, half way."""
        self.state.calls.append(what)
        if what == "nothing":
            return "fine"
        raise {
            "cancelled": CancelledError(), "exit": SystemExit(3), "unsayable": Unsayable(), "plain": KeyError("gone"),
            "surrogate": ValueError("\\ud800"), "unwritable": BusinessError("no", "\\udfff"),
        }[what]
'''


async def test_whatever_a_world_throws_is_the_platform_s_error_with_its_trace_and_the_session_goes_on(
    project: Project,
) -> None:
    with_shop(project)
    project.script("throwing.py", THROWING)
    project.configure(TOML + '[services.throwing]\nworld = "throwing:Throwing"\n')
    thrown = ["plain", "cancelled", "exit", "unsayable", "surrogate", "unwritable"]
    async with session(project, "case", "world") as run:
        for what in thrown:
            async with run.http.post(run.url("throwing", "/tools/throw"), json={"what": what}) as answer:
                assert (answer.status, (await answer.json())["error"]) == (500, "world_failed"), what
        async with run.http.post(run.url("throwing", "/tools/throw"), json={"what": "nothing"}) as answer:
            assert (answer.status, await answer.json()) == (200, "fine")
        assert (await run.control.world(run.info.session, "throwing")).state == {"calls": ["nothing"]}
        summary = await run.close()
    assert {error.code for error in summary.errors} == {"world_failed"}
    *failed, fine = project.trace(summary.session)
    assert fine.status == 200
    for what, row in zip(thrown, failed, strict=True):
        assert row.error is not None
        assert 'throwing.py", line' in row.error["traceback"], what
