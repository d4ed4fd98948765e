"""What the harness gets of a proxy: sessions in its own event loop, with all that each of them saw."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession, web

from proctor.cli.trial_sessions import trial_sessions
from proctor.config import CONFIG_NAME, load_config
from proctor.errors import CassetteError, UsageError
from proctor.harness.sessions import Sessions, TrialSession
from proctor.wire import Guard, Mode, SessionSpec
from tests.integration.faults.support import plan
from tests.integration.worlds.support import PLACE, with_shop
from tests.support import Project, services, serving

SECRET = "sk-live-4f9aQ72bXc81LmZ0pTyV"


@asynccontextmanager
async def trials(project: Project) -> AsyncIterator[tuple[Sessions, ClientSession]]:
    """A project's proxy for trials, and a client."""
    async with trial_sessions(load_config(project.root / CONFIG_NAME)) as proxy, ClientSession() as http:
        yield proxy, http


def spec(mode: Mode = "world", **more: Any) -> SessionSpec:
    """A session over the only service of the project."""
    return SessionSpec(cassette="suite/case", modes={"shop": mode}, **more)


async def call(http: ClientSession, trial: TrialSession, tool: str, **arguments: Any) -> tuple[int, Any]:
    """Status and JSON of a call of the shop."""
    async with http.post(f"{trial.info.url}/shop/tools/{tool}", json=arguments) as answer:
        return answer.status, await answer.json()


async def test_a_session_gives_its_rows_what_was_told_and_the_worlds_as_they_ended(project: Project) -> None:
    async with trials(with_shop(project)) as (proxy, http):
        trial = await proxy.open(spec())
        before = trial.now()
        start = trial.states()
        await call(http, trial, "place_order", **PLACE)
        async with http.post(f"{trial.info.url}/_events", json={"kind": "note", "data": "done"}) as told:
            assert told.status == 200
        middle = trial.states()
        await call(http, trial, "query_order", order_id="A1")
        seen = await trial.close(0)
    assert [(row.source, row.tool) for row in seen.rows] == [("world", "place_order"), ("world", "query_order")]
    assert before <= seen.rows[0].started
    assert [(event.kind, event.data) for event in seen.told] == [("note", "done")]
    assert (len(start["shop"]["orders"]), len(middle["shop"]["orders"])) == (2, 3)
    assert seen.worlds == middle
    assert (seen.summary.exchanges, seen.summary.command_status) == (2, 0)
    assert project.trace(seen.summary.session) == list(seen.rows)


async def test_no_tape_is_read_where_every_service_is_a_world(project: Project) -> None:
    with_shop(project)
    project.layout.cassettes.joinpath("suite").mkdir(parents=True)
    project.layout.cassette("suite/case").write_text("no tape at all", encoding="utf-8")
    async with trials(project) as (proxy, _):
        await (await proxy.open(spec())).close()
        with pytest.raises(CassetteError):
            await proxy.open(spec("replay"))


async def test_a_session_that_cannot_be_opened_leaves_nothing_behind(project: Project) -> None:
    async with trials(with_shop(project)) as (proxy, _):
        with pytest.raises(UsageError):
            await proxy.open(spec(worlds={"nobody": {}}))
    assert not list(project.layout.sessions.glob("*"))


@pytest.mark.req(225)
async def test_the_guard_s_cut_is_told_while_the_session_runs(project: Project) -> None:
    async with trials(with_shop(project)) as (proxy, http):
        trial = await proxy.open(spec(guard=Guard(steps=1)))
        waiting = asyncio.create_task(trial.cut())
        await call(http, trial, "query_order", order_id="A1")
        assert not waiting.done()
        assert (await call(http, trial, "query_order", order_id="A1"))[0] == 429
        assert await asyncio.wait_for(waiting, 5) == "steps"
        seen = await trial.close()
    assert [each.code for each in seen.summary.guarded] == ["step_limit"]


async def test_time_in_faults_is_told_while_they_hold_and_after(project: Project) -> None:
    async with trials(with_shop(project)) as (proxy, http):
        trial = await proxy.open(spec(faults=plan("query_order=slow@0.05*2")))
        assert trial.fault_seconds() == 0
        await asyncio.gather(*(call(http, trial, "query_order", order_id=order) for order in ("A1", "A2")))
        waited = trial.fault_seconds()
        seen = await trial.close()
    longest = max(fault.seconds for fault in seen.summary.faults)
    assert longest - 0.001 <= waited <= sum(fault.seconds for fault in seen.summary.faults) + 0.001


async def test_a_recording_is_sealed_and_its_rows_hold_no_secret(project: Project) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async with serving(answer) as url:
        project.configure(services(shop=url))
        async with trials(project) as (proxy, http):
            trial = await proxy.open(spec("record"))
            await call(http, trial, "pay", api_key=SECRET)
            seen = await trial.close(0)
    assert project.tape("suite/case").interactions[0].response.status == 200
    assert seen.summary.sealed
    assert [row.source for row in seen.rows] == ["record"]
    assert SECRET not in repr(seen)


async def test_a_secret_in_a_world_is_not_in_its_end_state(project: Project) -> None:
    async with trials(with_shop(project)) as (proxy, http):
        trial = await proxy.open(spec())
        order = {**PLACE, "tags": {"password": SECRET}}
        assert (await call(http, trial, "place_order", **order))[0] == 200
        assert SECRET in repr(trial.states())
        seen = await trial.close()
    assert SECRET not in repr(seen)
    assert len(seen.worlds["shop"]["orders"]) == 3


async def test_nothing_of_an_ended_session_is_kept_but_its_id_and_its_late_calls(project: Project) -> None:
    async with trial_sessions(load_config(with_shop(project).root / CONFIG_NAME)) as proxy, ClientSession() as http:
        trial = await proxy.open(spec())
        address, name = trial.info.url, trial.info.session
        await call(http, trial, "query_order", order_id="A1")
        registry = proxy._proxy.registry  # type: ignore[attr-defined]
        held = weakref.ref(registry.find(name))
        await trial.close()
        assert proxy.late() == {}
        del trial
        async with http.post(f"{address}/shop/tools/query_order", json={}) as late:
            assert late.status == 410
        assert proxy.late() == {name: 1}
        gc.collect()
        assert held() is None
        assert registry.sessions == {}
