"""Which deadline is the nearest, and what time in faults does to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cases.parts import Limits
from proctor.harness.limits import Deadlines

SECONDS = st.floats(0, 1000, allow_nan=False)


@pytest.mark.req(155)
def test_the_defaults_are_those_of_the_table() -> None:
    limits = Limits()
    assert (limits.tool, limits.response, limits.session, limits.task, limits.steps) == (20, 30, 300, 600, 40)


def test_the_nearest_deadline_is_told_with_its_name() -> None:
    assert Deadlines(Limits(), began=0, faulted=0).nearest(0) == (30, "limit_response")
    assert Deadlines(Limits(), began=290, faulted=0).nearest(0) == (300, "limit_session")
    assert Deadlines(Limits(session=900), began=590, faulted=0).nearest(0) == (600, "limit_task")


def test_time_in_a_fault_moves_the_response_and_the_session_but_not_the_task() -> None:
    assert Deadlines(Limits(), began=0, faulted=0).nearest(25) == (55, "limit_response")
    assert Deadlines(Limits(), began=290, faulted=0).nearest(100) == (400, "limit_session")
    assert Deadlines(Limits(), began=290, faulted=0).nearest(10_000) == (600, "limit_task")


@given(began=SECONDS, before=SECONDS, more=SECONDS)
def test_faults_of_earlier_turns_give_a_turn_no_more_time_to_answer(began: float, before: float, more: float) -> None:
    limits = Limits(session=80_000, task=80_000)
    end, limit = Deadlines(limits, began, faulted=before).nearest(before + more)
    assert limit == "limit_response"
    assert end == pytest.approx(began + 30 + more)
