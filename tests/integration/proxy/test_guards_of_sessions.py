"""A session with a guard stops its agent at too many steps and at a loop, and tells why; one without does not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from proctor.errors import EXIT_FAILED, EXIT_FINE
from proctor.summary import ending
from proctor.trace import SessionSummary
from proctor.wire import Guard
from tests.integration.faults.support import desk, plan, question
from tests.support import Project, Running, session


async def call(run: Running, tool: str, body: Any, target: str = "") -> tuple[int, Any, Mapping[str, str]]:
    """Status, JSON and headers of a tool's answer."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with run.http.post(run.url("orders", f"/tools/{tool}{target}"), data=data) as got:
        return got.status, json.loads(await got.read()), got.headers


async def ask(run: Running) -> tuple[int, Any]:
    """Status and JSON of a model's answer."""
    async with run.http.post(run.url("openai", "/chat/completions"), json=question(False)) as got:
        return got.status, json.loads(await got.read())


def codes(summary: SessionSummary) -> dict[str, int]:
    return {each.code: each.count for each in summary.guarded}


@pytest.mark.req(225)
async def test_the_step_after_the_limit_is_refused_traced_and_cuts_the_agent_off(project: Project) -> None:
    async with desk(project) as real, session(project, "t", "live", guard=Guard(steps=3), allow_unused=True) as run:
        held = run.proxy.registry.find(run.info.session)
        for number in range(2):
            assert (await call(run, "query_order", {"order": number}))[0] == 200
        async with run.http.post(f"{run.info.url}/_events", json={"kind": "note", "data": "not a step"}) as told:
            assert told.status == 200
        assert (await ask(run))[0] == 200
        asked = len(real.asked)
        status, body, headers = await call(run, "query_order", {"order": 9})
        assert (status, body["error"], headers["x-should-retry"]) == (429, "step_limit", "false")
        assert await asyncio.wait_for(held.guarding.cut(), 5) == "steps"
        status, body = await ask(run)
        assert (status, body["error"]["code"], body["error"]["type"]) == (429, "step_limit", "proctor_error")
        assert len(real.asked) == asked
        summary = await run.close(None)
    assert codes(summary) == {"step_limit": 2}
    assert (summary.errors, summary.misses, summary.exchanges) == ((), (), 5)
    end = ending(summary, 0, allow_unused=True)
    assert (end.status, "3 calls" in end.reasons[0]) == (EXIT_FAILED, True)
    refused = project.trace(summary.session)[3]
    assert (refused.source, refused.status, refused.tool) == ("refused", 429, "query_order")
    assert (refused.arguments, (refused.error or {})["code"]) == ({"order": 9}, "step_limit")


@pytest.mark.req(225)
async def test_a_call_that_a_fault_answers_is_a_step(project: Project) -> None:
    guard, faults = Guard(steps=1), plan("query_order=503")
    async with desk(project), session(project, "t", "live", guard=guard, faults=faults, allow_unused=True) as run:
        found = [(await call(run, "query_order", {}))[0] for _ in range(2)]
    assert found == [503, 429]


@pytest.mark.req(195, 226)
async def test_the_fourth_call_with_the_same_arguments_is_not_passed_on_and_cuts_the_agent_off(
    project: Project,
) -> None:
    guard = Guard(on_loop="stop")
    async with desk(project) as real, session(project, "t", "live", guard=guard, allow_unused=True) as run:
        held = run.proxy.registry.find(run.info.session)
        for body in (b'{"order":"A-1","n":1}', b'{"n": 1, "order": "A-1"}', b'{"order":"A-1","n":1}'):
            assert (await call(run, "query_order", body))[0] == 200
        for other in ({"order": "A-1", "n": 1.0}, {"order": "A-1", "n": True}, {"order": "A-2", "n": 1}):
            assert (await call(run, "query_order", other))[0] == 200
        assert (await call(run, "refund", {"order": "A-1", "n": 1}))[0] == 200
        assert (await call(run, "query_order", {"order": "A-1", "n": 1}, "?page=2"))[0] == 200
        asked = len(real.asked)
        status, body, _ = await call(run, "query_order", {"order": "A-1", "n": 1})
        assert (status, body["error"]) == (429, "loop_stopped")
        assert await asyncio.wait_for(held.guarding.cut(), 5) == "loop"
        assert (await ask(run))[0] == 429
        assert len(real.asked) == asked
        summary = await run.close(None)
    assert codes(summary) == {"loop_stopped": 2}
    assert "orders query_order was called 4 times" in summary.guarded[0].message
    assert ending(summary, 0, allow_unused=True).status == EXIT_FAILED


@pytest.mark.req(226)
async def test_a_hint_says_what_to_do_once_and_an_agent_that_takes_it_goes_on(project: Project) -> None:
    guard = Guard(on_loop="hint")
    async with desk(project) as real, session(project, "t", "live", guard=guard, allow_unused=True) as run:
        for _ in range(3):
            await call(run, "query_order", {"order": "A-1"})
        status, body, headers = await call(run, "query_order", {"order": "A-1"})
        assert (status, body["error"], headers["x-should-retry"]) == (422, "loop_hint", "false")
        assert "3 times with the same arguments" in body["message"]
        assert "tell the user" in body["message"]
        assert len(real.asked) == 3
        assert (await call(run, "query_order", {"order": "A-2"}))[0] == 200
        summary = await run.close(0)
    assert codes(summary) == {"loop_hint": 1}
    assert ending(summary, 0, allow_unused=True).status == EXIT_FINE


@pytest.mark.req(226)
async def test_after_a_hint_the_loop_of_another_tool_cuts_too(project: Project) -> None:
    guard = Guard(on_loop="hint")
    async with desk(project), session(project, "t", "live", guard=guard, allow_unused=True) as run:
        first = [(await call(run, "query_order", {}))[0] for _ in range(4)]
        second = [(await call(run, "refund", {}))[0] for _ in range(4)]
        why = await asyncio.wait_for(run.proxy.registry.find(run.info.session).guarding.cut(), 5)
    assert (first, second, why) == ([200, 200, 200, 422], [200, 200, 200, 429], "loop")


async def test_the_same_question_to_a_model_is_no_loop_and_neither_is_a_request_that_names_no_tool(
    project: Project,
) -> None:
    guard = Guard(on_loop="stop")
    async with desk(project), session(project, "t", "live", guard=guard, allow_unused=True) as run:
        assert {(await ask(run))[0] for _ in range(5)} == {200}
        for _ in range(5):
            async with run.http.get(run.url("orders", "/orders/A-1")) as got:
                assert got.status == 200


async def test_a_session_without_a_guard_stops_for_nothing(project: Project) -> None:
    async with desk(project) as real, session(project, "t", "live", allow_unused=True) as run:
        held = run.proxy.registry.find(run.info.session)
        assert {(await call(run, "query_order", {}))[0] for _ in range(50)} == {200}
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(held.guarding.cut(), 0)
        summary = await run.close(0)
    assert (len(real.asked), summary.guarded) == (50, ())
    assert ending(summary, 0, allow_unused=True).status == EXIT_FINE


async def test_a_recording_in_which_the_guard_answered_is_put_aside(project: Project) -> None:
    guard = Guard(on_loop="hint")
    async with (
        desk(project),
        session(project, "t", modes={"anthropic": "live", "openai": "live"}, guard=guard, allow_unused=True) as run,
    ):
        for _ in range(4):
            await call(run, "query_order", {})
        summary = await run.close(0)
    assert (summary.sealed, bool(summary.aside)) == ("", True)
    assert any("same arguments" in reason for reason in summary.aside_reasons)
