"""What checks cost, counted in function calls and not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from proctor.checks.index import CHECKS
from proctor.matching.calls import MOST_REPEATS
from proctor.trajectory import Trajectory
from tests.property.test_checks_never_raise import DECLARED
from tests.runs import call, run_of


def operations(act: Callable[[], object]) -> int:
    """The number of functions called, Python's own included."""
    count = 0

    def counted(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def long_run(turns: int) -> Trajectory:
    lines: list[Any] = []
    for turn in range(turns):
        order = {"order_id": f"W{turn}", "lines": [{"sku": turn, "a": "x"}] * 3}
        name = ("get_order", "cancel_order", "look", "find", "list_all")[turn % 5]
        lines += [f"user: What of W{turn}?", call(name, order, order_id=f"W{turn}"), f"agent: W{turn} is sent. Go on?"]
    states = [{"turn": turn, "after": {"a": turn}} for turn in range(turns)]
    return run_of(*lines, states=states, end_state={"a": [1] * turns})


@pytest.mark.parametrize("name", DECLARED)
def test_four_times_the_steps_cost_little_more_than_four_times_as_much(name: str) -> None:
    def cost(turns: int) -> int:
        run = long_run(turns)
        return operations(lambda: [CHECKS[name](run, **declared) for declared in DECLARED[name]])

    cost(1)  # what is compiled once
    assert cost(200) < 4.8 * cost(50)


def test_the_most_repeats_that_are_assigned_stay_within_a_bound() -> None:
    made = run_of(*(call("refund", n=n) for n in range(MOST_REPEATS)))
    expected = [{"name": "refund", "arguments": {"n": {"number": MOST_REPEATS - 1 - n}}} for n in range(MOST_REPEATS)]
    result = []
    spent = operations(lambda: result.append(CHECKS["calls_match"](made, expected, "any_order")))
    assert result[0].outcome == "pass"
    assert spent < 150 * MOST_REPEATS**2
