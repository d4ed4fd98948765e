"""What an agent told, among the steps of its run: by time where the wire tells, by its own word within that."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.checks.events import intent_known
from proctor.checks.state_held import state_held
from proctor.events import EventRow
from proctor.trajectories.from_session import from_session
from proctor.trajectory import Trajectory, TurnState
from tests.unit.trajectories.llm import Talk
from tests.unit.trajectories.test_from_session import SUMMARY, llm_row, refund, rows_of, tool_row

# The steps of `refund`, each with the second at which it was on the wire:
# 0 system, 1 user (0.0); 2 calls (0.5); 3 tool (1.5), 4 tool (1.3); 5 call (2.5); 6 tool (2.2: before its call's answer
# ended, so with it); 7 says (3.5); 8 user (4.0); 9 says (4.5).
INTENT = {"intent": "refund", "confidence": 0.9}


def event(at: float, kind: str = "note", data: Any = "x", **facts: Any) -> EventRow:
    row = {"index": 0, "session": "s", "source": "agent", "started": at, "kind": kind, "data": data, **facts}
    return EventRow.model_validate(row)


def told(*events: EventRow) -> Trajectory:
    _, rows = refund("chat", "anna", streamed=False)
    (run,) = from_session(SUMMARY, rows_of(*rows), told=events)
    return run


@pytest.mark.parametrize(
    ("at", "kind", "step"),
    [
        (-0.1, "note", None),
        (-0.1, "intent", 1),
        (0.2, "note", 1),
        (0.6, "memory_hit", 2),
        (1.4, "note", 2),
        (1.6, "note", 4),
        (2.6, "note", 6),
        (3.6, "note", 7),
        (3.6, "memory_miss", 8),
        (3.6, "skill_routed", 8),
        (4.2, "skill_routed", 8),
        (9.0, "intent", 9),
    ],
)
def test_an_event_stands_after_the_last_step_that_was_there(at: float, kind: str, step: int | None) -> None:
    run = told(event(at, kind))
    assert [(each.kind, each.step, each.by) for each in run.events] == [(kind, step, "agent")]
    assert run.differences == ()


def test_between_two_turns_the_agent_says_to_which_of_them_it_belongs() -> None:
    run = told(event(3.6, turn=0), event(3.6, turn=1), event(3.6, "intent", INTENT, turn=0))
    assert [each.step for each in run.events] == [7, 8, 7]
    assert run.differences == ()


def test_what_is_told_late_stands_in_the_turn_that_the_agent_names() -> None:
    run = told(event(9.0, "intent", INTENT, turn=0), event(9.0, turn=0), event(9.0, turn=1))
    assert [each.step for each in run.events] == [1, 7, 9]
    assert run.differences == ()


def test_a_turn_that_had_not_begun_is_a_difference_and_the_wire_s_stands() -> None:
    run = told(event(0.6, "state", {"a": 1}, when="after", turn=3), event(0.6, turn=0))
    assert [(each.what, each.step, each.wire, each.log) for each in run.differences] == [
        ("turn of the event state (number 0)", 2, 0, 3)
    ]
    assert run.states == (TurnState(turn=0, after={"a": 1}),)


def test_states_stand_around_their_turns_and_are_the_agent_s_word_and_no_end_state() -> None:
    run = told(
        event(-0.1, "state", {"n": 0}, when="before"),
        event(3.6, "state", {"n": 1}, when="after"),
        event(3.7, "state", {"n": 2}, when="before"),
        event(9.0, "state", {"n": 3}, when="after"),
    )
    assert run.states == (
        TurnState(turn=0, before={"n": 0}, after={"n": 1}),
        TurnState(turn=1, before={"n": 2}, after={"n": 3}),
    )
    assert [each.by for each in run.states] == ["agent", "agent"]
    assert [each.step for each in run.events] == [None, 7, 7, 9]
    assert run.end_state is None
    points = [{"turn": turn, "path": "$.n", "value": n} for turn, n in ((0, 1), (1, 3))]
    assert state_held(run, points).outcome == "pass"


@pytest.mark.req(35)
def test_a_check_reads_an_intent_that_was_told_before_the_model_was_asked() -> None:
    unsure = {"intent": "refund", "confidence": 0.3}
    talk = Talk("chat", "be brief", False)
    talk.user("money")
    talk.says("Do you want a refund?")
    rows = rows_of(llm_row(talk, 1.0, *talk.exchanges[0]))
    (run,) = from_session(SUMMARY, rows, told=(event(0.5, "intent", unsure),))
    assert intent_known(run, ["refund"]).outcome == "pass"


def test_without_a_model_s_traffic_events_stand_among_the_tools_calls() -> None:
    rows = rows_of(tool_row("query", {}, {"a": 1}, 1.0), tool_row("pay", {}, {"b": 1}, 2.0))
    events = [event(at) for at in (0.5, 1.05, 1.5, 2.5)]
    (run,) = from_session(SUMMARY, rows, told=events)
    assert [each.step for each in run.events] == [None, 0, 1, 3]


def test_of_several_conversations_the_longest_has_the_events_and_a_note_says_so() -> None:
    _, anna = refund("chat", "anna", streamed=False)
    talk = Talk("chat", "another agent", False)
    talk.user("hello")
    talk.says("hi")
    rows = rows_of(*anna, llm_row(talk, 0.1, *talk.exchanges[0]))
    first, second = from_session(SUMMARY, rows, told=(event(3.6, turn=7),))
    assert ([each.kind for each in first.events], second.events) == (["note"], ())
    assert "several conversations" in first.notes[-1]
    assert first.differences == ()


def test_proctor_s_own_events_follow_the_agent_s() -> None:
    rows = rows_of(*refund("chat", "anna", streamed=False)[1], tool_row("wipe", {}, {}, 3.7))
    (run,) = from_session(SUMMARY, rows, told=(event(3.6),))
    assert [(each.kind, each.by) for each in run.events] == [("note", "agent"), ("unattributed_call", "proctor")]
