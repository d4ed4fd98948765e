"""A tool call past its limit is answered a standard error, whatever kept it; the trace and the summary say so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from proctor.cassette import Cassette, save_cassette
from proctor.errors import EXIT_FAILED, EXIT_FINE
from proctor.interaction import Interaction, Request, Response
from proctor.pieces import Pieces
from proctor.proxy.session import Session
from proctor.summary import ending
from proctor.trace import SessionSummary, TraceRow
from proctor.wire import Guard
from tests.integration.faults.support import desk, plan, question
from tests.integration.worlds.support import asked, with_shop
from tests.support import Project, Running, serving, session

SOON = Guard(tool_seconds=0.05)
HOUR = 3600
CONFIG = """\
[services.orders]
url = "{url}"
env = ["ORDERS_URL"]
tools = "POST /tools/{{tool}}"
reads = ["query_*"]
{more}
"""


class Slow:
    """A service that never ends an answer before the test does; `begins` says that it sends the first half."""

    def __init__(self, *, begins: bool) -> None:
        self.begins = begins
        self.over = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Any request."""
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "8"})
        if self.begins:
            await response.prepare(request)
            await response.write(b"half")
        await self.over.wait()
        return response


@asynccontextmanager
async def slow(project: Project, more: str = "", *, begins: bool = False) -> AsyncIterator[None]:
    """The project's only service, which is slow."""
    made = Slow(begins=begins)
    async with serving(made.answer) as url:
        project.configure(CONFIG.format(url=url, more=more))
        try:
            yield
        finally:
            made.over.set()


async def query(run: Running) -> tuple[int, Any]:
    """Status and JSON of the answer to a call."""
    async with run.http.post(run.url("orders", "/tools/query_order"), json={"order": "A-1"}) as got:
        return got.status, json.loads(await got.read())


def held(run: Running) -> Session:
    return run.proxy.registry.find(run.info.session)


def assert_told(summary: SessionSummary, row: TraceRow, seconds: float = 0.05) -> None:
    """Summary and trace say that a call took too long, and nothing else went wrong."""
    assert [(each.code, each.count) for each in summary.guarded] == [("tool_timeout", 1)]
    assert f"within {seconds:g} s" in summary.guarded[0].message
    assert (summary.errors, summary.misses, summary.exchanges) == ((), (), 1)
    assert (row.error or {})["code"] == "tool_timeout"


@pytest.mark.req(224)
@pytest.mark.parametrize("kind", ["slow", "timeout"])
async def test_a_fault_that_holds_a_call_too_long_is_cut_has_fired_and_reaches_no_world(
    project: Project, kind: str
) -> None:
    faults = plan(f"query_order={kind}@{HOUR}")
    async with session(with_shop(project), "case", "world", faults=faults, guard=SOON) as run:
        session_ = held(run)
        status, body = await asked(run, "query_order", order_id="A1")
        assert (status, body["error"]) == (504, "tool_timeout")
        assert session_.worlds["shop"].calls == 0
        waited = session_.fault_seconds
        assert 0 < waited < HOUR
        assert session_.fault_seconds == waited
        summary = await run.close(0)
    (row,) = project.trace(summary.session)
    assert (row.source, row.status, row.fault, row.tool) == ("fault", 504, kind, "query_order")
    assert 0.05 <= row.fault_seconds <= row.seconds
    assert_told(summary, row)
    assert [fired.kind for fired in summary.faults] == [kind]
    assert summary.faults_unfired == ()
    assert ending(summary, 0).status == EXIT_FINE


@pytest.mark.req(224)
async def test_an_agent_may_recover_by_calling_again(project: Project) -> None:
    faults = plan(f"cancel_order=timeout@{HOUR}")
    async with session(with_shop(project), "case", "world", faults=faults, guard=SOON) as run:
        assert (await asked(run, "cancel_order", "alice", order_id="A1"))[0] == 504
        assert (await asked(run, "cancel_order", "alice", order_id="A1"))[0] == 200
        summary = await run.close(0)
    assert (summary.faulted, summary.worlds, summary.exchanges) == (1, 1, 2)


async def test_a_fault_within_the_limit_and_a_model_are_left_alone(project: Project) -> None:
    faults = plan("query_order=slow@0.01")
    async with session(with_shop(project), "case", "world", faults=faults, guard=Guard(tool_seconds=HOUR)) as run:
        assert (await asked(run, "query_order", order_id="A1"))[0] == 200
        summary = await run.close(0)
    assert (summary.guarded, project.trace(summary.session)[0].source) == ((), "world")


async def test_a_model_s_answer_has_no_such_limit(project: Project) -> None:
    faults = plan("openai=slow@0.1")
    async with desk(project), session(project, "t", "live", faults=faults, guard=SOON, allow_unused=True) as run:
        async with run.http.post(run.url("openai", "/chat/completions"), json=question(False)) as got:
            assert got.status == 200
        summary = await run.close(0)
    assert ([fired.kind for fired in summary.faults], summary.guarded) == (["slow"], ())


@pytest.mark.req(224)
async def test_a_live_service_that_gives_no_answer_in_time_fails_the_call_and_not_the_session(
    project: Project,
) -> None:
    async with slow(project), session(project, "t", "live", guard=SOON) as run:
        status, body = await query(run)
        assert (status, body["error"]) == (504, "tool_timeout")
        summary = await run.close(0)
    (row,) = project.trace(summary.session)
    assert (row.source, row.status, row.arguments) == ("refused", 504, {"order": "A-1"})
    assert_told(summary, row)
    assert ending(summary, 0).status == EXIT_FINE


async def test_a_recording_in_which_a_call_took_too_long_is_never_sealed(project: Project) -> None:
    async with slow(project), session(project, "t", guard=SOON) as run:
        assert (await query(run))[0] == 504
        summary = await run.close(0)
    assert (summary.sealed, project.layout.cassette("t").exists()) == ("", False)
    assert any("the limit of a tool call" in reason for reason in summary.aside_reasons)
    assert ending(summary, 0).status == EXIT_FAILED


@pytest.mark.parametrize("mode", ["live", "record"])
async def test_the_service_s_own_time_out_counts_where_it_is_smaller(project: Project, mode: Any) -> None:
    async with slow(project, "timeout = 0.05"), session(project, "t", mode, guard=Guard(tool_seconds=HOUR)) as run:
        assert (await query(run))[1]["error"] == "upstream_timeout"
        summary = await run.close(0)
    assert ([each.code for each in summary.errors], summary.guarded) == (["upstream_timeout"], ())


@pytest.mark.req(224)
@pytest.mark.parametrize("mode", ["live", "record"])
async def test_an_answer_that_has_begun_is_broken_off_and_its_row_says_so(project: Project, mode: Any) -> None:
    async with slow(project, begins=True), session(project, "t", mode, guard=SOON) as run:
        async with run.http.post(run.url("orders", "/tools/query_order"), json={}) as got:
            assert got.status == 200
            with pytest.raises(aiohttp.ClientError):
                await got.read()
        summary = await run.close(0)
    (row,) = project.trace(summary.session)
    assert (row.cut, row.result) == (True, "half")
    assert_told(summary, row)
    assert summary.sealed == ""


async def test_an_answer_of_which_nothing_went_on_yet_is_replaced_by_the_error(project: Project) -> None:
    made = slow(project, 'rewrite = ["/next"]', begins=True)
    async with made, session(project, "t", "live", guard=SOON) as run:
        status, body = await query(run)
        assert (status, body["error"]) == (504, "tool_timeout")
        summary = await run.close(0)
    (row,) = project.trace(summary.session)
    assert (row.source, row.cut) == ("refused", False)
    assert_told(summary, row)


@pytest.mark.req(224)
async def test_a_tape_at_its_recorded_pace_is_cut_too(project: Project) -> None:
    taped(project, Response(200, "OK", (("Content-Type", "application/json"), ("Content-Length", "2")), b"{}"))
    async with session(project, "t", "replay", timing=True, guard=SOON) as run:
        status, body = await query(run)
        assert (status, body["error"]) == (504, "tool_timeout")
        summary = await run.close(0)
    (row,) = project.trace(summary.session)
    assert (row.source, row.status, row.matched) == ("refused", 504, 0)
    assert_told(summary, row)
    assert summary.unused == ()
    assert ending(summary, 0).status == EXIT_FINE


async def test_a_taped_stream_that_has_begun_is_broken_off(project: Project) -> None:
    events = (("Content-Type", "text/event-stream"),)
    taped(project, Response(200, "OK", events, b"data: 1\n\ndata: 2\n\n", pieces=Pieces((9, 9), (0, HOUR * 1000))))
    async with session(project, "t", "replay", timing=True, guard=SOON) as run:
        async with run.http.post(run.url("orders", "/tools/query_order"), json={"order": "A-1"}) as got:
            assert got.status == 200
            with pytest.raises(aiohttp.ClientError):
                await got.read()
        summary = await run.close(0)
    (row,) = project.trace(summary.session)
    assert (row.source, row.cut, row.result, row.status) == ("replay", True, "data: 1\n\n", 200)
    assert_told(summary, row)


async def test_without_recorded_pace_a_slow_recording_answers_at_once(project: Project) -> None:
    taped(project, Response(200, "OK", (("Content-Type", "application/json"), ("Content-Length", "2")), b"{}"))
    async with session(project, "t", "replay", guard=SOON) as run:
        assert await query(run) == (200, {})
        assert (await run.close(0)).guarded == ()


@pytest.mark.parametrize("times", [1, 2])
async def test_a_new_episode_that_takes_too_long_is_not_appended(project: Project, times: int) -> None:
    async with slow(project):
        taped(project, Response(200, "OK", (("Content-Type", "application/json"),), b"{}"), order="other")
        before = project.layout.cassette("t").read_bytes()
        async with session(project, "t", "new_episodes", guard=SOON, allow_unused=True) as run:
            for _ in range(times):
                assert (await query(run))[1]["error"] == "tool_timeout"
            summary = await run.close(0)
    assert project.layout.cassette("t").read_bytes() == before
    assert [each.count for each in summary.guarded] == [times]


def taped(project: Project, answer: Response, order: str = "A-1") -> None:
    """A tape "t" of one call that took an hour."""
    if not (project.root / "proctor.toml").exists():
        project.configure(CONFIG.format(url="http://orders.test", more=""))
    body = json.dumps({"order": order}).encode()
    asked_ = Request("orders", "POST", "/tools/query_order", (("Content-Type", "application/json"),), body)
    url = "http://orders.test/tools/query_order"
    made = Interaction(0, asked_, answer, url, "read", "declared", tool="query_order", seconds=HOUR)
    tape = Cassette("t", (made,), {"services": {"orders": "http://orders.test"}})
    save_cassette(project.layout.cassette("t"), tape)
