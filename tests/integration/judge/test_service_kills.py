"""A service that is killed at any moment: nothing that it accepted is lost, made twice, or asked more than it must."""

from __future__ import annotations

import asyncio
import json
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

import pytest
from aiohttp import ClientError, ClientResponse

from proctor import tokens
from proctor.judge.inquiry import Terms
from proctor.judge.record import Record, replay
from proctor.judge_wire import BatchAnswer, BatchTerms, VerdictCame
from proctor.rubric_file import load_rubric
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
from tests.property.counts import SOAK, count
from tests.support import Project
from tools.stand_in_judge_server import serving_judge

VERDICTS = 200
TRIALS = 4
"""Of each case."""
CASES = VERDICTS // (TRIALS + 1)
WHOLE = load_rubric("acmse")
SHORT = WHOLE.model_copy(
    update={
        "criteria": tuple(
            WHOLE.criterion(name).model_copy(update={"weight": 50}) for name in ("accuracy", "efficiency")
        ),
        "presets": {},
    }
)
RUBRIC = WHOLE if SOAK else SHORT
"""With criteria on runs and on cases; one of each in CI, so that it takes seconds."""
QUESTIONS = sum(CASES * TRIALS if each.scope == "trial" else CASES for each in RUBRIC.criteria)
KILLS = count(3, 30)
WHENS: tuple[When, ...] = ("all on their way", "asked", "answered")
WIDE = ("--runs-at-once", "8")
"""So that as many calls are out as may be."""
REFERENCE = {"actions": [{"name": "get_order"}, {"name": "create_refund"}]}

FEW = 40

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
    """Different ones, in order: kills, the last of them in the last verdict; in a soak one stop with grace, too."""
    drawn = sorted(rng.sample(range(2, QUESTIONS - 2 * AT_ONCE), KILLS - 2))
    graceful = rng.randrange(len(drawn)) if SOAK else None
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
    async with judging(project, MODEL, *WIDE, env=provider.another(url, moment)) as judge:
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


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [1])
async def test_a_batch_outlives_kills_at_any_moment(project: Project, seed: int) -> None:
    """Right after its acceptance, in its calls, in its last verdict."""
    provider, terms = Provider(), TERMS.model_copy(update={"rubric": RUBRIC})
    async with serving_judge(provider) as served:
        async with judging(project, MODEL, *WIDE, env=provider.another(served.url)) as judge:
            batch = await judge.submit(runs(), terms)
            await judge.kill()
        lost = [lost_in(project)]
        for moment in moments(random.Random(seed)):
            lost.append(await stopped_at(moment, project, provider, served.url, lost[-1]))
        async with judging(project, MODEL, *WIDE, env=provider.another(served.url)) as judge:
            told = await ended(judge, batch)
            assert told.states == {"done": VERDICTS}
            assert_asked_as_often_as_it_must(provider, lost, told)
            before = provider.asked.total()
            again = [each async for each in judge.client.batch(terms, runs()) if isinstance(each, VerdictCame)]
            assert (len(again), all(each.known for each in again)) == (VERDICTS, True)
            assert provider.asked.total() == before, "what was known was asked again"
    assert_each_once(project)
    await assert_made_again(project, MODEL)


async def test_a_batch_is_accepted_whole_or_not_at_all_and_a_stop_with_grace_repeats_nothing(project: Project) -> None:
    """Killed while the body is sent, and when all is sent and nothing is answered; then stopped in the middle."""
    some = runs()[:FEW]
    body = body_of(some, BatchTerms())
    assert not await killed_while_sending(project, body[: len(body) // 2], whole=False)
    assert stored(project, "SELECT COUNT(*) FROM verdicts") == [(0,)]
    accepted = await killed_while_sending(project, body, whole=True)
    ((there, left),) = stored(project, "SELECT COUNT(*), COUNT(*) FILTER (WHERE state != 'done') FROM verdicts")
    assert there == FEW if accepted else there in {0, FEW}
    async with judging(project, OBEDIENT) as judge:
        assert judge.ready["goes_on"] == left
        batch = await judge.submit(some, BatchTerms())
        came = await stopped_in(judge, batch)
        assert (await judge.ended()).status == 0
    assert 1 <= came.count("verdict") < FEW
    assert "ended" not in came
    assert stored(project, "SELECT COUNT(*) FROM verdicts WHERE state = 'running'") == [(0,)]
    async with judging(project, OBEDIENT) as judge:
        told = await ended(judge, batch)
    assert (told.states, told.repeats, told.asked) == ({"done": FEW}, 0, 5 * FEW)
    assert stored(project, "SELECT COUNT(*), COUNT(DISTINCT subject) FROM records") == [(FEW, FEW)]


async def stopped_in(judge: Judging, batch: str) -> list[str]:
    """Stop the service with its grace once the first verdict came; gives the events that came in all."""
    came: list[str] = []
    async with judge.client.http.get(f"{judge.client.url}/v1/batches/{batch}/results") as stream:
        async for line in stream.content:
            came.append(json.loads(line)["event"])
            if came.count("verdict") == 1:
                judge.process.send_signal(signal.SIGTERM)
    return came


async def killed_while_sending(project: Project, body: bytes, *, whole: bool) -> bool:
    """Send so much of a body and kill the service. Whether it was quick enough to tell that it accepted."""
    sent = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        yield body
        sent.set()
        if not whole:
            await asyncio.Event().wait()

    async with judging(project, OBEDIENT) as judge:
        post = judge.client.http.post(f"{judge.client.url}/v1/batches?wait=0", data=pieces())
        sending = asyncio.create_task(_is_accepted(post))
        await sent.wait()
        if not whole:
            await judge.client.ready()  # what it was sent before, it has read
        await judge.kill()
        return await sending


async def _is_accepted(post: AbstractAsyncContextManager[ClientResponse]) -> bool:
    try:
        async with post as got:
            return got.status == 202
    except ClientError:
        return False
