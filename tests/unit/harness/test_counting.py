"""A run in figures: both denominators, what is temporary, and the exit status."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.harness.counting import counted


def trial(outcome: str, *, admitted: bool = True, again: bool = False, **more: Any) -> dict[str, Any]:
    facts = {"reason": "", "tool_calls": 1, "llm": "live", **more}
    return {"outcome": outcome, "admitted": int(admitted), "again": int(again), **facts}


@pytest.mark.req(87)
def test_temporary_cases_are_kept_apart_and_figures_are_made_of_admitted_ones() -> None:
    found = counted([trial("pass"), trial("fail", admitted=False)])
    assert found.every["fail"] == 1
    assert (found.figures["pass"], found.figures["fail"], found.status) == (1, 0, 0)


def test_where_nothing_is_admitted_yet_all_trials_count() -> None:
    found = counted([trial("pass", admitted=False), trial("fail", admitted=False)])
    assert not found.any_admitted
    assert (found.figures["fail"], found.status) == (1, 1)


@pytest.mark.req(210)
def test_a_trial_that_was_run_once_more_does_not_count() -> None:
    found = counted([trial("fail"), trial("pass", again=True)])
    assert (found.figures["fail"], found.figures["pass"], found.status) == (1, 0, 1)


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (["pass"], 0),
        (["pass", "fail"], 1),
        (["pass", "invalid"], 1),
        (["pass", "not_assessable"], 1),
        (["fail", "off_tape"], 3),
        (["fail", "off_tape", "error"], 4),
        ([], 1),
    ],
)
def test_the_exit_status_is_the_gravest_of_the_outcomes(outcomes: list[str], status: int) -> None:
    assert counted([trial(outcome) for outcome in outcomes]).status == status


def test_what_measured_nothing_is_in_one_denominator_only() -> None:
    found = counted([trial(each) for each in ("pass", "fail", "error", "invalid", "off_tape", "not_assessable")])
    assert (found.measured, sum(found.figures.values())) == (2, 6)


def test_a_run_in_which_nothing_was_asked_of_anyone_is_seen() -> None:
    assert counted([trial("pass", tool_calls=0, llm="none")]).silent
    assert not counted([trial("pass", tool_calls=0, llm="none"), trial("pass")]).silent
    assert not counted([]).silent


def test_a_run_in_which_nothing_was_asked_of_anyone_did_not_pass() -> None:
    assert counted([trial("pass", tool_calls=0, llm="none")]).status == 3


def test_agents_that_failed_before_they_asked_anyone_are_not_silent() -> None:
    found = counted([trial("fail", reason="agent_crashed", tool_calls=0, llm="none")])
    assert (found.silent, found.status) == (False, 1)


def test_a_part_of_a_run_stands_for_no_run() -> None:
    found = counted([trial("pass"), trial("fail", again=True)], planned=3)
    assert (found.missing, found.status) == (2, 2)
    assert counted([trial("pass")], planned=1).status == 0
    assert counted([trial("error")], planned=2).status == 4
