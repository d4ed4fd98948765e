"""One gate for each provider: so many at once, a pause after a refusal, and more again after good answers."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from proctor.errors import UsageError
from proctor.judge.service.gates import ProviderGate, ProviderGates
from proctor.model_call import ModelFailure
from proctor.model_route import FIRST_WAIT, LONGEST_WAIT
from tests.unit.judge.prompts import call, results
from tests.unit.judge.service.clocks import Time, settled


async def one_turn(gate: ProviderGate) -> None:
    async with gate.turn():
        pass


def test_no_gate_lets_nobody_through() -> None:
    with pytest.raises(ValueError, match="at least one call at once, not 0"):
        ProviderGates(0)


async def test_so_many_go_at_once_and_the_others_follow_in_their_order() -> None:
    gate = Time().gates(2).of("openai")
    came: list[int] = []
    ends = [asyncio.Event() for _ in range(5)]

    async def calling(number: int) -> None:
        async with gate.turn():
            came.append(number)
            await ends[number].wait()

    async with asyncio.TaskGroup() as group:
        for number in range(5):
            group.create_task(calling(number))
        await settled()
        assert (came, gate.state.in_flight, gate.state.waiting) == ([0, 1], 2, 3)
        ends[1].set()
        await settled()
        assert (came, gate.state.in_flight, gate.state.waiting) == ([0, 1, 2], 2, 2)
        for end in ends:
            end.set()
    assert came == [0, 1, 2, 3, 4]
    assert (gate.state.in_flight, gate.state.waiting) == (0, 0)


async def test_everybody_who_asks_for_a_provider_shares_its_gate_and_no_others() -> None:
    gates = Time().gates(4)
    gates.of("openai").limited(30)
    assert gates.of("openai") is gates.of("openai")
    assert gates.of("anthropic").state.paused == 0
    assert {name: (each.at_once, each.paused) for name, each in gates.states().items()} == {
        "openai": (2, 30),
        "anthropic": (4, 0),
    }


async def test_a_refusal_pauses_the_provider_for_as_long_as_it_asks_and_halves_the_number() -> None:
    time = Time()
    gate = time.gates(8).of("openai")
    gate.limited(7)
    assert (gate.state.at_once, gate.state.most, gate.state.paused, gate.state.limited) == (4, 8, 7, 1)
    await asyncio.gather(*(one_turn(gate) for _ in range(3)))
    assert time.waits == [7]
    assert gate.state.paused == 0


async def test_a_pause_that_grows_while_somebody_waits_is_waited_to_its_end() -> None:
    time = Time()
    gate = time.gates(1).of("openai")
    gate.limited(3)
    waiting = asyncio.create_task(one_turn(gate))
    await asyncio.sleep(0)
    time.now -= 3
    gate.limited(10)
    await waiting
    assert (time.waits, time.now) == ([3, 10], 1_010)


async def test_refusals_of_calls_that_went_out_together_halve_once_and_the_longest_pause_counts() -> None:
    gate = Time().gates(8).of("openai")
    for after in (5, 9, None, 2):
        gate.limited(after)
    assert (gate.state.at_once, gate.state.paused, gate.state.limited) == (4, 9, 4)


@pytest.mark.parametrize("after", [None, 0])
async def test_where_no_time_is_named_the_pauses_double_up_to_a_bound_and_begin_anew_after_a_good_answer(
    after: float | None,
) -> None:
    time = Time()
    gate = time.gates(8).of("openai")
    for bound in (1, 2, 4, 8, 16, 32, 60, 60):
        gate.limited(after)
        assert FIRST_WAIT * bound / 2 <= gate.state.paused <= FIRST_WAIT * bound <= LONGEST_WAIT
        await one_turn(gate)
    assert gate.state.at_once == 1
    gate.fine()
    gate.limited(after)
    assert gate.state.paused <= FIRST_WAIT


async def test_a_pause_of_hours_is_cut_to_the_longest() -> None:
    gate = Time().gates(2).of("openai")
    gate.limited(3_600)
    assert gate.state.paused == LONGEST_WAIT


async def test_the_number_grows_by_one_after_as_many_good_answers_as_it_is_and_never_over_the_most() -> None:
    time = Time()
    gate = time.gates(4).of("openai")
    gate.limited(1)
    await one_turn(gate)
    seen = []
    for _ in range(12):
        gate.fine()
        seen.append(gate.state.at_once)
    assert seen == [2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4]


async def test_a_good_answer_during_a_pause_changes_nothing() -> None:
    gate = Time().gates(2).of("openai")
    gate.limited(5)
    for _ in range(9):
        gate.fine()
    assert (gate.state.at_once, gate.state.paused) == (1, 5)


async def test_a_place_that_is_won_back_is_taken_at_once() -> None:
    time = Time()
    gate = time.gates(2).of("openai")
    gate.limited(1)
    await one_turn(gate)
    async with AsyncExitStack() as held:
        await held.enter_async_context(gate.turn())
        waiting = asyncio.create_task(one_turn(gate))
        await settled()
        assert not waiting.done()
        gate.fine()
        await settled()
        assert waiting.done()


async def test_an_attempt_that_fails_or_is_cancelled_gives_its_place_back() -> None:
    gate = Time().gates(1).of("openai")
    with pytest.raises(ZeroDivisionError):
        async with gate.turn():
            raise ZeroDivisionError

    async def hanging() -> None:
        async with gate.turn():
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(hanging()) for _ in range(3)]
    await settled()
    assert (gate.state.in_flight, gate.state.waiting) == (1, 2)
    for task in (tasks[1], tasks[0], tasks[2]):
        task.cancel()
    await asyncio.wait(tasks)
    assert (gate.state.in_flight, gate.state.waiting) == (0, 0)
    await one_turn(gate)


async def test_a_stand_in_goes_through_a_gate_of_its_own() -> None:
    gates = Time().gates(3)
    model = gates.model("stand-in/obedient")
    assert (model.name, model.is_stand_in) == ("stand-in/obedient", True)
    async with AsyncExitStack() as held:
        for _ in range(3):
            await held.enter_async_context(gates.of("stand-in").turn())
        asking = asyncio.create_task(model.ask(call(*results("the order was cancelled"))))
        await settled()
        assert gates.states()["stand-in"].waiting == 1
    assert (await asking).model == "stand-in/obedient"


async def test_a_stand_in_that_is_refused_for_its_rate_pauses_them_all(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": [{"fail": "rate_limited"}, {"fail": "refusal"}, "{}"]}', encoding="utf-8")
    time = Time()
    gates = time.gates(4)
    model = gates.model(f"stand-in/scripted:{script}")
    for cause, at_once in (("rate_limited", 2), ("refusal", 2)):
        with pytest.raises(ModelFailure) as raised:
            await model.ask(call())
        assert raised.value.cause == cause
        assert gates.states()["stand-in"].at_once == at_once
    await model.ask(call())
    assert len(time.waits) == 1
    await model.ask(call())
    assert gates.states()["stand-in"].at_once == 3


def test_a_name_of_no_model_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no stand-in"):
        Time().gates(3).model("stand-in/unheard-of")
