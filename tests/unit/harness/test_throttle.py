"""How many trials run at once, and that a cap which shrinks holds for those that wait."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.harness.throttle import Pace, Throttle


def caps(pace: Pace, *errors: bool) -> list[int]:
    found = []
    for error in errors:
        pace = pace.after(error, pace.cap)
        found.append(pace.cap)
    return found


@pytest.mark.req(233)
def test_three_platform_errors_in_a_row_halve_the_cap_and_the_count_begins_anew() -> None:
    assert caps(Pace(8), *[True] * 6) == [8, 8, 4, 4, 4, 2]
    assert caps(Pace(8), True, True, False, True, True, True) == [8, 8, 8, 8, 8, 4]
    assert caps(Pace(3), *[True] * 9) == [3, 3, 1, 1, 1, 1, 1, 1, 1]


def test_errors_of_trials_that_began_under_a_higher_cap_do_not_halve_the_new_one() -> None:
    pace = Pace(32)
    for _ in range(32):
        pace = pace.after(True, 32)
    assert pace == Pace(16)
    assert pace.after(True, 16).after(False, 32) == Pace(16), "one that went well ends the row, whenever it began"


@given(st.integers(1, 64), st.lists(st.booleans()))
def test_the_cap_never_grows_and_never_falls_below_one(cap: int, errors: list[bool]) -> None:
    found = [cap, *caps(Pace(cap), *errors)]
    assert found == sorted(found, reverse=True)
    assert found[-1] >= 1


@pytest.mark.parametrize("cap", [0, -1])
def test_a_cap_that_lets_nothing_run_is_refused(cap: int) -> None:
    with pytest.raises(ValueError, match="no trial"):
        Throttle(cap)


class Trials:
    """Trials that run until they are told to end."""

    def __init__(self, throttle: Throttle, count: int) -> None:
        self.throttle = throttle
        self.running: list[int] = []
        self.ends = [asyncio.Event() for _ in range(count)]
        self.fails: set[int] = set()
        self.tasks = [asyncio.create_task(self.run(at)) for at in range(count)]

    async def run(self, at: int) -> None:
        async with self.throttle.turn() as begun_under:
            self.running.append(at)
            try:
                await self.ends[at].wait()
            finally:
                self.running.remove(at)
            self.throttle.ended(at in self.fails, begun_under)

    async def end(self, *places: int, platform_error: bool = False) -> None:
        for at in places:
            if platform_error:
                self.fails.add(at)
            self.ends[at].set()
        await settle()


async def settle() -> None:
    """Let every task go on as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_as_many_run_as_the_cap_allows_and_the_others_follow_in_order() -> None:
    trials = Trials(Throttle(2), 5)
    await settle()
    assert trials.running == [0, 1]
    await trials.end(1)
    assert trials.running == [0, 2]
    await trials.end(0, 2)
    assert trials.running == [3, 4]
    await trials.end(3, 4)
    assert all(task.done() for task in trials.tasks)


@pytest.mark.req(233)
async def test_a_cap_that_shrinks_holds_for_those_who_wait_already() -> None:
    throttle = Throttle(4)
    trials = Trials(throttle, 10)
    await settle()
    await trials.end(0, 1, 2, platform_error=True)
    assert throttle.cap == 2
    assert trials.running == [3, 4, 5], "two of the places that the failed ones left were given away before"
    await trials.end(3)
    assert trials.running == [4, 5], "no trial begins before there is room under the new cap"
    await trials.end(4)
    assert trials.running == [5, 6]
    await trials.end(*range(5, 10))
    await settle()
    assert all(task.done() for task in trials.tasks)


async def test_a_trial_that_throws_leaves_its_place() -> None:
    throttle = Throttle(1)
    with pytest.raises(ZeroDivisionError):
        async with throttle.turn():
            raise ZeroDivisionError
    async with throttle.turn() as begun_under:
        assert begun_under == 1


async def test_one_that_stops_waiting_leaves_its_place_in_the_row_to_the_next() -> None:
    trials = Trials(Throttle(1), 3)
    await settle()
    trials.tasks[1].cancel()
    await settle()
    await trials.end(0)
    assert trials.running == [2]
    await trials.end(2)


async def test_one_that_is_cancelled_as_its_turn_comes_gives_the_turn_on() -> None:
    trials = Trials(Throttle(1), 3)
    await settle()
    trials.tasks[0].cancel()
    await asyncio.sleep(0)  # trial 0 leaves, and trial 1 is given its place without having run yet
    trials.tasks[1].cancel()
    await settle()
    assert trials.running == [2]
    await trials.end(2)
    assert trials.tasks[1].cancelled()


@given(st.data())
def test_whatever_is_cancelled_no_place_is_lost_and_the_cap_holds(data: st.DataObject) -> None:
    async def run() -> None:
        trials = Trials(Throttle(data.draw(st.integers(1, 4))), 8)
        for at in data.draw(st.permutations(range(8))):
            if data.draw(st.booleans()):
                trials.tasks[at].cancel()
            else:
                trials.ends[at].set()
            for _ in range(data.draw(st.integers(0, 3))):
                await asyncio.sleep(0)
            assert len(trials.running) <= trials.throttle.cap
        await asyncio.wait(trials.tasks, timeout=10)
        assert all(task.done() for task in trials.tasks)
        async with trials.throttle.turn():
            pass

    asyncio.run(run())
