"""A service that is killed at any moment: nothing that it accepted is lost, made twice, or asked more than it must."""

from __future__ import annotations

import asyncio
import json
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientError

from proctor import tokens
from proctor.judge.inquiry import Terms
from proctor.judge.record import Record, replay
from proctor.judge_wire import BatchAnswer, BatchTerms, VerdictCame
from proctor.trajectory import Trajectory
from tests.integration.judge.judging_process import (
    AT_ONCE,
    MODEL,
    TERMS,
    Judging,
    Moment,
    Provider,
    When,
    body_of,
    judging,
    stored,
)
from tests.integration.judge.services import OBEDIENT, run
from tests.property.counts import count
from tests.support import Project
from tools.stand_in_judge_server import serving_judge

VERDICTS = 200
TRIALS = 4
"""Of each case."""
CASES = VERDICTS // (TRIALS + 1)
QUESTIONS = CASES * TRIALS * 3 + CASES * 2
"""Of the batch: three criteria on a run, and two on a case."""
KILLS = count(3, 30)
WHENS: tuple[When, ...] = ("asked", "all on their way", "answered")
REFERENCE = {"actions": [{"name": "get_order"}, {"name": "create_refund"}]}

Lost = Counter[tuple[str, str]]
"""Verdict and key of calls that were entered as out, and not as answered, when the service was killed."""

pytestmark = pytest.mark.timeout(count(120, 1800))


def runs() -> list[Trajectory]:
    """Trials of cases: with the verdicts on these, a batch of 200."""
    return [
        run(f"run-{case}-{trial}", case=f"case-{case}", trial=trial, llm="live", expected=REFERENCE)
        for case in range(CASES)
        for trial in range(TRIALS)
    ]


def moments(rng: random.Random) -> list[Moment]:
    """Different ones, in order: kills, one stop with its grace, and a kill in the last verdict."""
    drawn = sorted(rng.sample(range(2, QUESTIONS - 2 * AT_ONCE), KILLS - 1))
    graceful = rng.randrange(len(drawn))
    found = [_moment(number, each, graceful=number == graceful) for number, each in enumerate(drawn)]
    return [*found, Moment(QUESTIONS, "asked")]


def _moment(number: int, questions: int, *, graceful: bool) -> Moment:
    if graceful:
        return Moment(questions, "asked", signal.SIGTERM)
    when = WHENS[number % len(WHENS)]
    late = questions > QUESTIONS // 2  # fewer calls may be left then than may be out at once
    return Moment(questions, "asked" if late and when == "all on their way" else when)


def lost_in(project: Project) -> Lost:
    return Lost(stored(project, "SELECT verdict, key FROM calls WHERE state = 'started'"))


async def ended(judge: Judging, batch: str) -> BatchAnswer:
    """The batch, once all of it is there."""
    async for _ in judge.client.batch_results(batch):
        pass
    return await judge.client.batch_state(batch)


def assert_each_once(project: Project) -> None:
    """Every verdict, its record, and what goes with it."""
    made = dict(stored(project, "SELECT id, verdict FROM verdicts"))
    assert len(made) == VERDICTS
    assert stored(project, "SELECT COUNT(DISTINCT subject) FROM verdicts") == [(VERDICTS,)]
    records = {identity: json.loads(record) for identity, record in stored(project, "SELECT id, record FROM records")}
    assert {identity: each["verdict"] for identity, each in records.items()} == {
        identity: json.loads(verdict) for identity, verdict in made.items()
    }
    assert stored(project, "SELECT * FROM calls") == []
    told = stored(project, "SELECT verdict, criterion, kind, message FROM findings")
    assert len(set(told)) == len(told)


async def assert_made_again(project: Project, model: str) -> None:
    """From their records, without a model."""
    rows = stored(project, "SELECT record FROM records JOIN verdicts USING (id) WHERE kind = 'trial' ORDER BY id")
    for (record,) in rows[::20]:
        read = Record.model_validate_json(record)
        terms = Terms(bytes.fromhex(read.salt), lambda text: tokens.count(text, model), read.room)
        assert (await replay(read, terms)).differences == ()


def assert_asked_as_often_as_it_must(provider: Provider, lost: list[Lost], told: BatchAnswer) -> None:
    """Once, and once more for each kill in which a question was on its way."""
    out = [Counter({key: number for (_, key), number in each.items()}) for each in lost]
    on_their_way = sum(out, Counter[str]())
    assert len(provider.asked) == QUESTIONS
    assert all(set(life.values()) == {1} for life in provider.lives if life), "one life asked the same twice"
    for key, times in provider.asked.items():
        assert times <= 1 + on_their_way[key], key
    assert (told.repeats, told.asked) == (on_their_way.total(), QUESTIONS + on_their_way.total())
    never_came = sum((calls - life).total() for calls, life in zip(out, provider.lives, strict=False))
    assert provider.asked.total() - QUESTIONS == told.repeats - never_came


async def stopped_at(moment: Moment, project: Project, provider: Provider, url: str, before: Lost) -> Lost:
    """One life of the service, to that moment. Gives the calls that were on their way at its end."""
    provider.await_another(moment)
    async with judging(project, MODEL, at=url) as judge:
        provider.met(judge.process)
        assert judge.ready["lost_calls"] == before.total()
        finished = await judge.ended()
    lost = lost_in(project)
    if moment.stop == signal.SIGTERM:
        assert (finished.status, lost.total()) == (0, 0), finished
    else:
        assert finished.status == -signal.SIGKILL, finished
    if moment.when == "all on their way":
        assert lost.total() == AT_ONCE, moment
        assert {key for _, key in lost} <= provider.lives[-1].keys()
    return lost


@pytest.mark.parametrize("seed", [1])
async def test_a_batch_outlives_kills_at_any_moment(project: Project, seed: int) -> None:
    """Right after its acceptance, in its calls, in its last verdict; and a stop with grace repeats nothing."""
    provider, terms = Provider(), TERMS.model_copy(update={"rubric": "acmse"})
    async with serving_judge(provider) as served:
        provider.await_another()
        async with judging(project, MODEL, at=served.url) as judge:
            batch = await judge.submit(runs(), terms)
            await judge.kill()
        lost = [lost_in(project)]
        for moment in moments(random.Random(seed)):
            lost.append(await stopped_at(moment, project, provider, served.url, lost[-1]))
        provider.await_another()
        async with judging(project, MODEL, at=served.url) as judge:
            told = await ended(judge, batch)
            assert told.states == {"done": VERDICTS}
            assert_asked_as_often_as_it_must(provider, lost, told)
            provider.await_another()
            again = [each async for each in judge.client.batch(terms, runs()) if isinstance(each, VerdictCame)]
            assert (len(again), all(each.known for each in again)) == (VERDICTS, True)
            assert not provider.lives[-1], "what was known was asked again"
    assert_each_once(project)
    await assert_made_again(project, MODEL)


@pytest.mark.parametrize("share", [0.5, 1.0])
async def test_a_batch_that_is_not_accepted_when_the_kill_comes_is_there_whole_or_not_at_all(
    project: Project, share: float
) -> None:
    """While its body is sent, and when all of it is sent and nothing is answered yet."""
    body, sent = body_of(runs(), BatchTerms()), asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        yield body[: int(share * len(body))]
        sent.set()
        if share < 1:
            await asyncio.Event().wait()

    async with judging(project, OBEDIENT) as judge:
        sending = asyncio.create_task(_send(judge, pieces()))
        await sent.wait()
        await judge.client.ready()
        await judge.kill()
        assert not await sending
    ((there,),) = stored(project, "SELECT COUNT(*) FROM verdicts")
    assert there in ({0} if share < 1 else {0, CASES * TRIALS})
    async with judging(project, OBEDIENT) as judge:
        assert judge.ready["goes_on"] == there
        made = [each async for each in judge.client.batch(BatchTerms(), runs()) if isinstance(each, VerdictCame)]
    assert {each.answer.state for each in made} == {"done"}
    assert stored(project, "SELECT COUNT(*) FROM records") == [(len(made),)] == [(CASES * TRIALS,)]


async def _send(judge: Judging, body: AsyncIterator[bytes]) -> bool:
    """Whether it was accepted."""
    try:
        async with judge.client.http.post(f"{judge.client.url}/v1/batches?wait=0", data=body) as got:
            return got.status == 202
    except ClientError:
        return False
