"""At which call a guard stops an agent."""

from __future__ import annotations

import pytest

from proctor.proxy.guarding import Called, Watch
from proctor.wire import Guard

A, B = Called("a", "orders a"), Called("b", "orders b")


def codes(guard: Guard, *calls: Called | None) -> list[str]:
    """The code of each refusal; empty for a call that goes on."""
    watch = Watch(guard)
    return [stop.code if (stop := watch.next(call)) else "" for call in calls]


@pytest.mark.req(225)
def test_the_forty_first_call_is_the_first_that_is_refused_and_so_is_each_after_it() -> None:
    found = codes(Guard(steps=40), *[None, A] * 21)
    assert found == [""] * 40 + ["step_limit"] * 2


@pytest.mark.req(195, 226)
def test_the_fourth_equal_call_stops_an_agent_wherever_the_others_stood() -> None:
    assert codes(Guard(on_loop="stop"), A, B, A, None, B, A, A, None) == [""] * 6 + ["loop_stopped"] * 2


@pytest.mark.req(226)
@pytest.mark.parametrize("after", [A, B])
def test_a_hint_is_given_once_and_the_next_loop_of_any_call_stops(after: Called) -> None:
    found = codes(Guard(on_loop="hint"), A, B, A, B, A, B, A, None, after)
    assert found == [""] * 6 + ["loop_hint", "", "loop_stopped"]


def test_a_call_that_was_hinted_counts_as_a_step() -> None:
    found = codes(Guard(on_loop="hint", steps=5), A, A, A, A, None, None)
    assert found == [""] * 3 + ["loop_hint", "", "step_limit"]


def test_what_calls_no_tool_never_loops() -> None:
    assert codes(Guard(on_loop="stop"), *[None] * 9) == [""] * 9


@pytest.mark.req(226)
def test_what_the_user_says_anew_lets_calls_be_made_again() -> None:
    watch = Watch(Guard(on_loop="stop", steps=6))
    for _ in range(2):
        assert [watch.next(A) for _ in range(3)] == [None] * 3
        watch.turn()
    stop = watch.next(A)
    assert (stop.code if stop else "") == "step_limit", "steps count on"
