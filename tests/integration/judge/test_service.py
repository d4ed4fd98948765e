"""The judge as a service: what is accepted, made once, told, and goes on after a stop."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from proctor.errors import PlatformError, UsageError
from proctor.judge.service.server import start_service
from proctor.judge.service.settings import Limits, Settings
from proctor.judge_client import JudgeClient
from proctor.judge_wire import BatchAccepted, BatchTerms, VerdictRequest
from proctor.rubric_file import shipped
from proctor.trajectories.file import line_of
from proctor.trajectory import Agent, Trajectory
from tests.integration.judge.services import OBEDIENT, at_once, batch, judge_service, run
from tests.unit.judge.refunds import answer
from tools.stand_in_judge_server import Answer, Asked, Served, serving_judge

GOOD = answer()


def scripted(folder: Path, **replies: Any) -> str:
    """A stand-in that says this."""
    path = folder / "judge.json"
    path.write_text(json.dumps({"replies": {"*": [GOOD], **replies}}), encoding="utf-8")
    return f"stand-in/scripted:{path}"


def stored(folder: Path, question: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "judge.db")) as database:
        return database.execute(question).fetchall()


def vendorless(name: str) -> Trajectory:
    """A run that tells no vendor, so that a service's own setting does."""
    return run(name).model_copy(update={"agent": Agent()})


class Held:
    """A provider that answers only once it is let."""

    def __init__(self) -> None:
        self.let = asyncio.Event()
        self.reached = asyncio.Event()
        self.asked = 0

    async def __call__(self, asked: Asked) -> Answer:
        self.asked += 1
        self.reached.set()
        await self.let.wait()
        return Answer(json.dumps(GOOD), usage={"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100})


LIVE = "openai/gpt-4.1-mini"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Points the live model at a server of the test's."""

    def at(served: Served) -> None:
        monkeypatch.setenv("OPENAI_API_BASE", served.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none-is-needed-on-loopback")

    return at


async def test_the_same_request_is_judged_once_however_often_it_is_sent(tmp_path: Path) -> None:
    async with judge_service(tmp_path) as (_, client):
        asked = VerdictRequest(trajectory=run("a"))
        answers = await asyncio.gather(*(client.judge(asked) for _ in range(5)))
        again = await client.verdict(answers[0].id)
    assert {each.model_dump_json() for each in answers} == {again.model_dump_json()}
    assert again.verdict is not None
    assert (again.state, again.asked, again.verdict.total_of_100) == ("done", 5, 100)
    assert stored(tmp_path, "SELECT COUNT(*), COUNT(DISTINCT id) FROM records") == [(1, 1)]


async def test_results_come_in_a_stream_with_an_end_and_what_was_known_is_told(tmp_path: Path) -> None:
    runs = [run(name) for name in "abc"]
    async with judge_service(tmp_path) as (_, client):
        first, verdicts, last = await batch(client, runs[:2])
        assert (sum(first.batch.states.values()), last.batch.state, last.batch.states) == (2, "ended", {"done": 2})
        assert [(came.place, came.known) for came in verdicts.values()] == [(0, False), (1, False)]
        _, more, ended = await batch(client, runs)
        assert {name: came.known for name, came in more.items()} == {"a": True, "b": True, "c": False}
        assert ended.batch.id != first.batch.id
        state = await client.batch_state(ended.batch.id)
        later = [event async for event in client.batch_results(ended.batch.id)]
    assert state == ended.batch
    assert len(later) == 5


async def test_a_case_is_judged_after_its_last_trial_and_judged_again_with_it(tmp_path: Path) -> None:
    steady = answer(5, quotes=[(0, "trials that differ from the others in a fact: 0 of 2")])
    lost = [answer(5), {"fail": "timeout", "said": "60 s"}, answer(5)]
    said = scripted(tmp_path, **{"*": [answer(5)], "stability": [steady], "accuracy": lost})
    trials = [run("a", case="refunds", trial=0, llm="live"), run("b", case="refunds", trial=1, llm="live")]
    async with judge_service(tmp_path, said) as (_, client):
        _, verdicts, _ = await batch(client, trials, rubric="acmse")
        first = verdicts["refunds"].answer.verdict
        assert first is not None
        assert [came.place for came in verdicts.values()] == [0, 1, 2]
        assert (first.total, first.no_total) == (None, "b: Accuracy could not be judged (timeout)")
        _, verdicts, _ = await batch(client, trials, rubric="acmse")
        assert {name: came.known for name, came in verdicts.items()} == {"a": True, "b": False, "refunds": False}
        again = verdicts["refunds"].answer.verdict
    assert again is not None
    assert (again.total_of_100, len(again.trials)) == (100, 2)
    assert verdicts["b"].answer.asked == 1, "only what had failed is asked again"


async def test_past_its_bound_the_queue_takes_nothing_of_a_batch_and_says_when_to_come_back(
    tmp_path: Path, provider: Any
) -> None:
    held, limits = Held(), Limits(waiting=3)
    async with serving_judge(held) as served:
        provider(served)
        own = {"limits": limits, "runs_at_once": 1, "agent_vendor": "anthropic"}
        async with judge_service(tmp_path, LIVE, **own) as (service, client), aiohttp.ClientSession() as http:

            async def sent(names: str) -> tuple[int, str, str]:
                body, headers = (
                    b"".join(line_of(vendorless(name)) for name in names),
                    {"x-proctor-token": service.token},
                )
                async with http.post(f"{service.url}/v1/batches?wait=0", data=body, headers=headers) as response:
                    told = await response.json()
                    return response.status, told.get("code", ""), response.headers.get("Retry-After", "")

            assert (await sent("a"))[0] == 202
            await held.reached.wait()
            assert (await sent("bc"))[0] == 202
            assert await sent("de") == (429, "queue_full", "5")
            assert await sent("bc") == (202, "", ""), "it is in the queue already"
            assert await sent("defg") == (413, "batch_too_large", "")
            assert (await sent("d"))[0] == 202
            ready = await client.ready()
            assert (ready.status, ready.waiting, ready.why) == ("failed", 3, "the queue is full")
    assert stored(tmp_path, "SELECT COUNT(*) FROM verdicts") == [(4,)]


async def test_a_budget_of_a_day_holds_over_a_restart_and_refuses_before_it_spends(
    tmp_path: Path, provider: Any
) -> None:
    held = Held()
    held.let.set()
    async with serving_judge(held) as served:
        provider(served)
        own = {"agent_vendor": "anthropic", "per_day": 0.06, "runs_at_once": 1}
        async with judge_service(tmp_path, LIVE, **own) as (_, client):
            _, _, last = await batch(client, [vendorless(name) for name in "ab"])
            spent = last.batch.cost or 0.0
            assert (last.batch.states, held.asked) == ({"done": 2}, 10)
            assert f"proctor_judge_spent_today_dollars {spent!r}\n" in await client.metrics()
        calls = held.asked
        async with judge_service(tmp_path, LIVE, **{**own, "per_day": spent + 0.0001}) as (_, client):
            _, verdicts, last = await batch(client, [vendorless("c")])
    refused = verdicts["c"].answer
    assert (refused.state, refused.error and refused.error.code, held.asked) == ("refused", "budget_day", calls)
    assert last.batch.states == {"refused": 1}


async def test_a_batch_refused_for_its_budget_goes_on_with_a_larger_one(tmp_path: Path, provider: Any) -> None:
    held = Held()
    held.let.set()
    runs = [vendorless(name) for name in "abcd"]
    async with serving_judge(held) as served:
        provider(served)
        async with judge_service(tmp_path, LIVE, agent_vendor="anthropic", runs_at_once=1) as (_, client):
            _, some, last = await batch(client, runs, max_cost=0.02)
            done = last.batch.states.get("done", 0)
            assert 0 < done < 4, last
            assert {came.answer.error.code for came in some.values() if came.answer.error} == {"budget_batch"}
            assert (last.batch.cost or 0) <= 0.02
            _, _, whole = await batch(client, runs, max_cost=1.0)
    assert (whole.batch.id, whole.batch.states) == (last.batch.id, {"done": 4})
    assert held.asked == 20, "nothing is asked twice"


async def test_what_was_accepted_goes_on_after_a_stop_and_each_call_is_made_once(tmp_path: Path, provider: Any) -> None:
    held = Held()
    async with serving_judge(held) as served:
        provider(served)
        settings = Settings(tmp_path, (LIVE,), "anthropic", runs_at_once=1, grace=0.0)
        service = await start_service(settings)
        async with JudgeClient(service.url, service.token, at_once) as client:
            asked = asyncio.ensure_future(batch(client, [vendorless(name) for name in "ab"]))
            await held.reached.wait()
            while held.asked < service.lanes.at_work * 5:  # noqa: ASYNC110 - the calls of one run
                await asyncio.sleep(0)
            await service.close()
            with pytest.raises(PlatformError, match=r"stopped before the batch was whole|no judge answers"):
                await asked
        on_their_way = held.asked
        held.let.set()
        async with judge_service(tmp_path, LIVE, agent_vendor="anthropic", runs_at_once=1) as (service, client):
            assert (service.goes_on, service.lost_calls) == (2, 0), "stopped calls are known as lost"
            _, _, last = await batch(client, [vendorless(name) for name in "ab"])
    assert (last.batch.states, last.batch.repeats) == ({"done": 2}, on_their_way)
    assert held.asked == 10 + on_their_way


async def test_a_small_batch_need_not_wait_for_a_large_one(tmp_path: Path) -> None:
    async with judge_service(tmp_path) as (_, client):
        large = asyncio.ensure_future(batch(client, [run(f"large-{number}") for number in range(60)]))
        while not stored(tmp_path, "SELECT COUNT(*) FROM verdicts")[0][0]:  # noqa: ASYNC110 - it is no event here
            await asyncio.sleep(0)
        small = [run("small")]
        await batch(client, small)
        assert not large.done()
        await large
    order = [name for (name,) in stored(tmp_path, "SELECT subject FROM records ORDER BY seq")]
    assert order.index("small") < 50


async def test_findings_and_rubrics_are_listed_and_pages_go_on_where_one_ended(tmp_path: Path) -> None:
    said = scripted(tmp_path, safety=[answer(0)])
    wanted = {"expected_writes": {"expected": [{"name": "create_refund", "arguments": {"order_id": "W2"}}]}}
    async with judge_service(tmp_path, said) as (_, client):
        await batch(client, [run("a")], checks=wanted)
        found = (await client.findings()).findings
        rest = (await client.findings(after=found[0].number)).findings
        disagree = (await client.findings(kind="rule_and_model_disagree")).findings
        assert {each.name for each in (await client.rubrics()).rubrics} == set(shipped())
        ready = await client.ready()
    assert rest == found[1:]
    assert [each.trajectory for each in disagree] == ["a"]
    assert "expected_writes failed" in disagree[0].message
    assert (ready.status, ready.models) == ("ready", (said,))


async def test_one_folder_has_one_service_and_the_other_is_told_where_it_is(tmp_path: Path) -> None:
    async with judge_service(tmp_path) as (service, _):
        with pytest.raises(UsageError) as busy:
            await start_service(Settings(tmp_path, (OBEDIENT,)))
    assert (busy.value.code, service.url in busy.value.message) == ("judge_busy", True)
    async with judge_service(tmp_path):
        pass


async def test_what_a_command_left_is_withdrawn_and_what_a_service_accepted_waits_for_it(
    tmp_path: Path, provider: Any
) -> None:
    held = Held()
    async with serving_judge(held) as served:
        provider(served)
        for lasting, name in ((False, "left"), (True, "accepted")):
            service = await start_service(Settings(tmp_path, (LIVE,), "anthropic", lasting=lasting, grace=0.0))
            async with JudgeClient(service.url, service.token, at_once) as client:
                asked = asyncio.ensure_future(client.judge(VerdictRequest(trajectory=vendorless(name))))
                await held.reached.wait()
                await service.close()
                held.reached.clear()
                with pytest.raises(PlatformError):
                    await asked
        held.let.set()
        async with judge_service(tmp_path, LIVE, lasting=False, agent_vendor="anthropic") as (_, client):
            await batch(client, [vendorless("new")])
    states = dict(stored(tmp_path, "SELECT subject, state FROM verdicts"))
    assert states == {"left": "withdrawn", "accepted": "queued", "new": "done"}


async def test_a_command_makes_what_a_service_had_accepted_where_it_asks_for_it_and_a_service_withdraws_what_it_left(
    tmp_path: Path, provider: Any
) -> None:
    held = Held()
    async with serving_judge(held) as served:
        provider(served)
        for lasting, names in ((True, ("accepted", "other")), (False, ("left",))):
            async with (
                judge_service(tmp_path, LIVE, lasting=lasting, agent_vendor="anthropic") as (_, client),
                aclosing(client.batch(BatchTerms(), [vendorless(name) for name in names])) as events,
            ):
                assert isinstance(await anext(events), BatchAccepted)
        async with judge_service(tmp_path, OBEDIENT) as (service, client):
            assert (service.goes_on, (await client.ready()).waiting) == (2, 2)
        held.let.set()
        async with judge_service(tmp_path, LIVE, lasting=False, agent_vendor="anthropic") as (_, client):
            _, verdicts, _ = await batch(client, [vendorless("accepted")])
    assert verdicts["accepted"].answer.state == "done"
    states = dict(stored(tmp_path, "SELECT subject, state FROM verdicts"))
    assert states == {"accepted": "done", "other": "queued", "left": "withdrawn"}
