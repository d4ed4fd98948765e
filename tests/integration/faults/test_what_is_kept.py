"""A faulted exchange reaches no real service and no tape; trace and summary have it; same seed, same bytes."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientError

from proctor.errors import UsageError
from proctor.fault_plan import KINDS, FaultPlanSpec
from proctor.trajectories.from_session import seen_in
from proctor.wire import Mode
from tests.integration.faults.support import ORDER, desk, plan, question, recorded, replaying
from tests.support import Project, Running, session

LIVE_MODELS: dict[str, Mode] = {"anthropic": "live", "openai": "live"}
SPOILT = ("empty", "malformed", "wrong_type", "truncated")
INSTEAD = [kind for kind in KINDS if kind != "slow"]
SECRET = "only-in-the-faulted-call"


async def call(run: Running, tool: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
    """Status and body of a call, as much as comes; status 0 where no answer comes."""
    status, came = 0, b""
    with suppress(ClientError, OSError):
        async with run.http.post(
            run.url("orders", f"/tools/{tool}"), json=body or {"order": "A-1"}, headers=headers
        ) as got:
            status = got.status
            async for piece in got.content.iter_any():
                came += piece
    return status, came


def text(kind: str, tool: str = "refund") -> str:
    """A plan for the first call of a tool, which wastes no time."""
    return f"{tool}={kind}{'@0.05' if kind == 'timeout' else ''}"


@pytest.mark.parametrize("kind", INSTEAD)
async def test_a_fault_answers_in_the_service_s_stead_and_leaves_nothing_on_the_tape(
    project: Project, kind: str
) -> None:
    async with (
        desk(project) as real,
        session(project, "t", faults=plan(text(kind)), modes=LIVE_MODELS, allow_unused=True) as run,
    ):
        await call(run, "query_order")
        await call(run, "refund", {"order": "A-1", "note": SECRET})
        assert await call(run, "refund") == (200, b'{"refunded": true, "id": 7}')
        summary = await run.close()
    assert summary.sealed
    assert real.asked == ["/tools/query_order", "/tools/refund"]
    assert SECRET not in real.heard
    tape = (project.root / "cassettes" / "t.yaml").read_text(encoding="utf-8")
    assert SECRET not in tape
    assert [each.tool for each in project.tape("t").interactions] == ["query_order", "refund"]
    assert project.tape("t").stamp["faults"] == [text(kind)]
    rows = project.trace(run.info.session)
    assert [(row.source, row.fault, row.tool) for row in rows] == [
        ("record", None, "query_order"), ("fault", kind, "refund"), ("record", None, "refund"),
    ]  # fmt: skip
    assert rows[1].arguments == {"order": "A-1", "note": SECRET}
    assert (rows[1].status is None) == (kind in ("timeout", "reset"))
    assert rows[1].cut == (kind == "truncated")


@pytest.mark.parametrize("kind", INSTEAD)
async def test_a_replayed_write_is_not_used_up_and_changes_nothing(project: Project, kind: str) -> None:
    await recorded(project)
    async with replaying(project, text(kind), modes=LIVE_MODELS) as run:
        await call(run, "refund")
        await call(run, "query_order")
        assert await call(run, "refund") == (200, b'{"refunded": true, "id": 7}')
        summary = await run.close()
    assert (summary.misses, summary.other_states, summary.errors, summary.faulted) == ((), (), (), 1)


@pytest.mark.parametrize("kind", SPOILT)
async def test_the_same_seed_gives_the_same_bytes_and_another_one_others(project: Project, kind: str) -> None:
    await recorded(project)
    seen = []
    for seed in (1, 1, 2, 3, 4, 5):
        async with replaying(project, plan(text(kind, "query_order"), seed=seed), modes=LIVE_MODELS) as run:
            seen.append(await call(run, "query_order"))
    assert seen[0] == seen[1]
    assert seen[0] != (200, json.dumps(ORDER).encode())
    assert (len(set(seen)) > 1) == (kind in ("malformed", "truncated"))


async def test_a_tape_that_was_recorded_under_faults_replays_under_them_with_the_same_bytes(project: Project) -> None:
    faults = plan("query_order=malformed, query_order:2=truncated", seed=3)
    async with desk(project), session(project, "t", faults=faults, modes=LIVE_MODELS, allow_unused=True) as run:
        while_recording = [await call(run, "query_order") for _ in range(3)]
        assert (await run.close()).sealed
    async with replaying(project, faults, modes=LIVE_MODELS) as run:
        assert [await call(run, "query_order") for _ in range(3)] == while_recording
    async with session(project, "t", "replay", modes=LIVE_MODELS, allow_unused=True) as run:
        await call(run, "query_order")
        notes = (await run.close()).notes
    assert any("--faults 'query_order=malformed, query_order:2=truncated'" in note for note in notes)


@pytest.mark.parametrize("mode", ["record", "new_episodes"])
async def test_a_slow_answer_is_refused_where_a_tape_is_written(project: Project, mode: Any) -> None:
    await recorded(project)
    with pytest.raises(UsageError, match="no faulted exchange is kept on a tape"):
        async with replaying(project, "refund=slow", mode):
            pass


async def test_a_live_service_answers_late_under_slow_and_its_row_says_so(project: Project) -> None:
    slow = plan("refund=slow@0.05")
    async with desk(project) as real, session(project, "t", "live", faults=slow, allow_unused=True) as run:
        assert await call(run, "refund") == (200, b'{"refunded": true, "id": 7}')
        summary = await run.close()
    (row,) = project.trace(run.info.session)
    assert (row.source, row.fault, real.asked) == ("live", "slow", ["/tools/refund"])
    assert row.seconds >= row.fault_seconds >= 0.05
    assert (summary.live, summary.faulted, len(summary.faults)) == (1, 0, 1)


async def test_a_live_service_that_is_down_is_slow_too_and_its_row_says_so(project: Project) -> None:
    await recorded(project)  # the desk is gone by now
    async with session(project, "t", "live", faults=plan("refund=slow@0.05"), allow_unused=True) as run:
        await call(run, "refund")
        await run.close()
    (row,) = project.trace(run.info.session)
    assert (row.source, row.fault, row.error is not None) == ("refused", "slow", True)


async def test_faults_that_did_not_fire_are_told_and_fail_nothing(project: Project) -> None:
    await recorded(project)
    (project.root / "agent.py").write_text(AGENT, encoding="utf-8")
    faults = "query_order:2=reset, refund=503*3, refund=429, nobody=empty"
    command = (
        "replay",
        "--cassette",
        "t",
        "--allow-unused",
        "--faults",
        faults,
        "--json",
        "--",
        sys.executable,
        "agent.py",
    )
    done = await project.proctor(*command)
    assert done.status == 0, done.stderr
    assert "faults      refund call 1: error (#1)" in done.stderr
    told = re.findall(r"NOT FIRED   fault (.*)", done.stderr)
    assert told == [
        "query_order:2=reset: there was 1 such call",
        "refund=503*3: fired 1 of 3 times, there was 1 such call",
        "refund=429: there was 1 such call; another fault had the call",
        "nobody=empty: there were no such calls",
    ]
    unfired = [each["planned"] for each in done.summary["faults_unfired"]]
    assert unfired == ["query_order:2=reset", "refund=503*3", "refund=429", "nobody=empty"]
    assert [each["planned"] for each in done.summary["faults"]] == ["refund=503*3"]


AGENT = """\
import os, urllib.error, urllib.request
for tool in ("query_order", "refund"):
    url = os.environ["ORDERS_URL"] + "/tools/" + tool
    request = urllib.request.Request(url, data=b'{"order": "A-1"}', headers={"Content-Type": "application/json"})
    try:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).read()
    except urllib.error.HTTPError as error:
        print(error.code)
"""


@pytest.mark.req(103)
async def test_a_plan_by_position_goes_by_the_tape_and_without_one_is_refused(project: Project) -> None:
    await recorded(project)
    async with replaying(project, "refund:mid=503", modes=LIVE_MODELS) as run:
        assert (await call(run, "refund"))[0] == 503
    with pytest.raises(UsageError, match="positions are thirds of the tool calls"):
        async with session(project, "other", "live", faults=plan("refund:mid=503")):
            pass
    with pytest.raises(UsageError, match="none of the 2 tool calls of the tape is one of these and late"):
        async with replaying(project, "refund:late=503", modes=LIVE_MODELS):
            pass


@pytest.mark.req(106)
async def test_a_request_may_ask_for_its_fault_where_the_plan_lets_it(project: Project) -> None:
    faults = plan("header")
    async with (
        desk(project) as real,
        session(project, "t", faults=faults, modes=LIVE_MODELS, allow_unused=True) as run,
    ):
        assert (await call(run, "refund", None, **{"X-Proctor-Fault": "rate_limited"}))[0] == 429
        assert (await call(run, "refund"))[0] == 200
        assert (await call(run, "refund", None, **{"x-proctor-fault": "expired_token"}))[0] == 401
        assert await call(run, "refund", None, **{"x-proctor-fault": "timeout@0.05"}) == (0, b"")
        assert (await call(run, "refund", None, **{"x-proctor-fault": "ratelimited"}))[0] == 400
        summary = await run.close()
    assert [fired.planned for fired in summary.faults] == [
        "x-proctor-fault: rate_limited", "x-proctor-fault: expired_token", "x-proctor-fault: timeout@0.05",
    ]  # fmt: skip
    assert [error.code for error in summary.errors] == ["fault_text"]
    assert 'did you mean "rate_limited"?' in summary.errors[0].message
    assert (real.asked, "x-proctor-fault" in real.heard.lower()) == (["/tools/refund"], False)


async def test_a_planned_fault_whose_call_had_one_by_header_did_not_fire(project: Project) -> None:
    await recorded(project)
    async with replaying(project, "refund=503, header", modes=LIVE_MODELS) as run:
        assert (await call(run, "refund", None, **{"x-proctor-fault": "rate_limited"}))[0] == 429
        assert (await call(run, "refund"))[0] == 200
        summary = await run.close()
    assert [fired.planned for fired in summary.faults] == ["x-proctor-fault: rate_limited"]
    assert [(each.planned, each.fired, each.calls) for each in summary.faults_unfired] == [("refund=503", 0, 2)]


@pytest.mark.parametrize("faults", [None, plan("query_order=503")])
async def test_a_request_that_asks_where_none_may_is_refused_and_fails_the_run(
    project: Project, faults: FaultPlanSpec | None
) -> None:
    async with desk(project) as real, session(project, "t", "live", faults=faults, allow_unused=True) as run:
        status, body = await call(run, "refund", None, **{"x-proctor-fault": "timeout"})
        summary = await run.close()
    assert (status, real.asked) == (400, [])
    assert json.loads(body)["error"] == "fault_header_refused"
    assert [error.code for error in summary.errors] == ["fault_header_refused"]


async def test_what_fired_is_counted_for_prometheus(project: Project) -> None:
    await recorded(project)
    async with replaying(project, "refund=503*2", modes=LIVE_MODELS) as run:
        await call(run, "refund")
        await call(run, "refund")
        headers = {"x-proctor-token": run.proxy.token}
        async with run.http.get(f"{run.proxy.url}/_proctor/metrics", headers=headers) as got:
            metrics = await got.text()
    assert 'proctor_faults_total{kind="error"} 2' in metrics
    assert 'proctor_faults_total{kind="timeout"} 0' in metrics
    assert 'proctor_exchanges_total{service="orders",source="fault"} 2' in metrics


@pytest.mark.parametrize("kind", INSTEAD)
async def test_a_faulted_write_is_a_failed_call_of_the_trajectory_whatever_its_status(
    project: Project, kind: str
) -> None:
    await recorded(project)
    async with replaying(project, text(kind), modes=LIVE_MODELS) as run:
        await call(run, "refund")
        await run.close()
    (tool,) = seen_in(project.trace(run.info.session)).tools
    assert (tool.name, tool.effect, tool.fault, tool.is_error) == ("refund", "write", kind, True)


async def test_two_sessions_have_their_own_faults(project: Project) -> None:
    await recorded(project)
    async with (
        replaying(project, "refund=503", modes=LIVE_MODELS) as one,
        replaying(project, "refund:2=503", modes=LIVE_MODELS) as two,
    ):
        assert [(await call(run, "refund"))[0] for run in (one, two)] == [503, 200]


async def test_a_fault_for_a_service_that_is_not_there_is_refused(project: Project) -> None:
    await recorded(project)
    made = FaultPlanSpec.model_validate({"fault": [{"service": "order", "kind": "reset"}]})
    with pytest.raises(UsageError) as refused:
        async with replaying(project, made):
            pass
    assert refused.value.fix == 'did you mean "orders"?'


async def test_a_fault_of_the_model_is_told_with_the_trace_s_name_for_it(project: Project) -> None:
    await recorded(project, False)
    async with replaying(project, "openai=rate_limited", modes={"anthropic": "live"}) as run:
        async with run.http.post(run.url("openai", "/chat/completions"), json=question(False)) as got:
            assert got.status == 429
        summary = await run.close()
    assert [(fired.service, fired.name) for fired in summary.faults] == [("openai", "POST /chat/completions")]


@pytest.mark.parametrize("kind", ["503", "malformed"])
async def test_a_head_request_gets_no_body_and_its_connection_goes_on(project: Project, kind: str) -> None:
    await recorded(project)
    async with replaying(project, f"/ping={kind}", modes=LIVE_MODELS) as run, raw(run) as send:
        path = urlsplit(run.url("orders")).path
        head = await send(f"HEAD {path}/ping HTTP/1.1\r\nHost: x\r\n\r\n")
        next_ = await send(f"GET {path}/ping HTTP/1.1\r\nHost: x\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503" if kind == "503" else b"HTTP/1.1 200")
    assert next_.startswith(b"HTTP/1.1 422")  # the next call met no fault, and is not on the tape


@asynccontextmanager
async def raw(run: Running) -> AsyncIterator[Callable[[str], Awaitable[bytes]]]:
    """One connection to the proxy: what is sent, and the head that comes back with nothing read after it."""
    address = urlsplit(run.proxy.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)

    async def send(text: str) -> bytes:
        writer.write(text.encode())
        return await reader.readuntil(b"\r\n\r\n")

    try:
        yield send
    finally:
        writer.close()


@pytest.mark.parametrize("mode", ["record", "replay"])
async def test_a_secret_of_a_faulted_call_is_in_no_trace(project: Project, mode: Mode) -> None:
    await recorded(project)
    body = {"order": "A-1", "password": "hunter2-correct-horse"}
    faults = plan("refund=503")
    async with (
        desk(project),
        session(project, "t", mode, faults=faults, modes=LIVE_MODELS, allow_unused=True) as run,
    ):
        await call(run, "refund", body, Authorization="Bearer tok-8c1f02e9ab77")
        await call(run, "query_order")
        await run.close()
    folder = project.layout.sessions / run.info.session
    told = "".join(path.read_text(encoding="utf-8") for path in folder.iterdir())
    assert "refund" in told
    assert "hunter2-correct-horse" not in told
    assert "tok-8c1f02e9ab77" not in told


async def test_explaining_by_the_command_line_goes_by_the_tape(project: Project) -> None:
    await recorded(project)
    done = await project.proctor("faults", "explain", "refund:mid=timeout@2", "--cassette", "t", "--json")
    (fault,) = done.summary["faults"]
    assert (done.status, fault["calls"], fault["on_tape"]) == (0, [1, 1], [1])
    refused = await project.proctor("faults", "explain", "refund:mid=timeout@2", "--json")
    assert (refused.status, refused.summary["error"]["code"]) == (2, "fault_position_unknown")
