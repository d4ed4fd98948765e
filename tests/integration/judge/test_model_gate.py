"""A live model's attempts through a gate, against a server of our own on loopback that refuses for the rate."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from proctor.errors import UsageError
from proctor.judge.service.gates import ProviderGate
from proctor.model import model_of, provider_of
from proctor.model_call import Message, Model, ModelCall, ModelFailure
from proctor.model_route import LONGEST_WAIT
from tests.unit.judge.service.clocks import Time, settled
from tools.stand_in_judge_server import Answer, Answering, Asked, Served, in_turn, serving_judge

CALL = ModelCall((Message("user", "JSON, please"),), "safety", {"type": "object"}, 1, 100, timeout=30)
FINE = Answer('{"score": 2}')


@pytest.fixture(autouse=True)
def _no_keys_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "any")


def refused(message: str = "slow down", code: str = "", **headers: str) -> Answer:
    return Answer(
        status=429,
        error={"message": message, "code": code},
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


@dataclass
class Behind:
    """A gate, and models behind it whose own waits take no time but are looked at."""

    gate: ProviderGate
    in_flight_in_waits: list[int]

    def model(self, server: Served) -> Model:
        return model_of("openai/of-our-own", base_url=server.url, gate=self.gate, wait=self._wait)

    async def _wait(self, seconds: float) -> None:
        self.in_flight_in_waits.append(self.gate.state.in_flight)


def behind(time: Time, at_once: int) -> Behind:
    return Behind(time.gates(at_once).of("openai"), [])


async def test_a_refusal_keeps_everybody_away_for_as_long_as_the_provider_asks() -> None:
    time = Time()
    gated = behind(time, 4)
    async with serving_judge(in_turn([refused(Retry_After="9"), FINE])) as server:
        reply = await gated.model(server).ask(CALL)
        assert [attempt.ended for attempt in reply.attempts] == ["rate_limited", "ok"]
        assert time.waits == [9]
        await gated.model(server).ask(CALL)
    assert time.waits == [9]
    state = gated.gate.state
    assert (state.at_once, state.limited, state.in_flight) == (3, 1, 0)


async def test_another_models_call_waits_out_the_pause_that_one_met() -> None:
    time = Time()
    gated = behind(time, 4)
    async with serving_judge(in_turn([refused(Retry_After="3600"), FINE])) as server:
        with pytest.raises(ModelFailure, match="429"):
            await gated.model(server).ask(CALL)
        assert time.waits == []
        await gated.model(server).ask(CALL)
    assert time.waits == [LONGEST_WAIT]


async def test_no_place_is_held_while_an_attempt_waits_to_be_made_again() -> None:
    gated = behind(Time(), 1)
    async with serving_judge(in_turn([Answer(status=500, error={"message": "boom"})])) as server:
        with pytest.raises(ModelFailure):
            await gated.model(server).ask(CALL)
    assert gated.in_flight_in_waits == [0, 0]
    assert (gated.gate.state.limited, gated.gate.state.at_once) == (0, 1)


async def test_an_account_that_is_spent_pauses_nobody_since_no_wait_would_help() -> None:
    gated = behind(Time(), 4)
    spent = refused("You exceeded your current quota", "insufficient_quota", Retry_After="9")
    async with serving_judge(in_turn([spent])) as server:
        with pytest.raises(ModelFailure):
            await gated.model(server).ask(CALL)
    assert (gated.gate.state.limited, gated.gate.state.paused) == (0, 0)


async def test_an_attempt_in_other_words_takes_a_turn_of_its_own() -> None:
    gated = behind(Time(), 1)
    unsupported = Answer(status=400, error={"message": "Unsupported parameter: 'temperature'"})
    async with serving_judge(in_turn([unsupported, FINE])) as server:
        reply = await gated.model(server).ask(CALL)
    assert [attempt.ended for attempt in reply.attempts] == ["bad_request", "ok"]
    assert gated.gate.state.in_flight == 0


def counting(most: list[int]) -> Answering:
    """Notes how many questions are under way at once; each is answered when no further one comes."""
    here = 0

    async def answer(asked: Asked) -> Answer:
        nonlocal here
        here += 1
        most.append(here)
        for _ in range(50):
            await asyncio.sleep(0)
        here -= 1
        return FINE

    return answer


async def test_many_callers_together_are_never_more_than_the_gate_lets_in() -> None:
    gated = behind(Time(), 3)
    most: list[int] = []
    async with serving_judge(counting(most)) as server:
        models = [gated.model(server) for _ in range(4)]
        await asyncio.gather(*(model.ask(CALL) for model in models for _ in range(4)))
    assert (len(most), max(most)) == (16, 3)


async def test_waiting_for_a_turn_is_no_part_of_the_attempts_time(monkeypatch: pytest.MonkeyPatch) -> None:
    gated = behind(Time(), 1)
    loop = asyncio.get_running_loop()
    clock = loop.time
    async with serving_judge(in_turn([FINE])) as server:
        async with gated.gate.turn():
            asking = asyncio.create_task(gated.model(server).ask(CALL))
            await settled()
            monkeypatch.setattr(loop, "time", lambda: clock() + 2 * CALL.timeout)
            await settled()
            assert (asking.done(), gated.gate.state.waiting) == (False, 1)
        assert [attempt.ended for attempt in (await asking).attempts] == ["ok"]


async def test_a_call_that_is_cancelled_on_the_way_gives_its_place_to_the_next() -> None:
    gated = behind(Time(), 1)
    reached = asyncio.Event()

    async def answer(asked: Asked) -> Answer:
        first = not reached.is_set()
        reached.set()
        return Answer(hang=True) if first else FINE

    async with serving_judge(answer) as server:
        hanging = asyncio.create_task(gated.model(server).ask(CALL))
        await reached.wait()
        following = asyncio.create_task(gated.model(server).ask(CALL))
        await settled()
        assert gated.gate.state.waiting == 1
        hanging.cancel()
        assert (await following).text == FINE.text
    assert (gated.gate.state.in_flight, gated.gate.state.waiting) == (0, 0)


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("anthropic/claude-sonnet-4-5", "anthropic"),
        ("gpt-4o", "openai"),
        ("openai/of-our-own", "openai"),
        ("azure/gpt-4o", "azure"),
        ("openrouter/anthropic/claude-sonnet-4.5", "openrouter"),
        ("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock"),
        ("stand-in/obedient", "stand-in"),
        ("stand-in/scripted:replies.json", "stand-in"),
    ],
)
def test_the_provider_is_whose_limits_a_call_counts_towards(name: str, provider: str) -> None:
    assert provider_of(name) == provider


@pytest.mark.parametrize("name", ["", "nobody/model", "stand-in"])
def test_a_name_of_no_model_has_no_provider(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        provider_of(name)
    assert raised.value.code == "unknown_model"
