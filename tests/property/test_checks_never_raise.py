"""Whatever a trajectory holds, each check answers, and its answer can be written as JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from proctor.checks.index import CHECKS, ON_CALLS_AND_STATE
from proctor.checks.repeats import error_figures
from proctor.tool_calls import calls_of
from proctor.trajectory import Trajectory
from tests.property.counts import examples
from tests.property.trajectories import trajectories

MATCHERS: list[Any] = [
    {"regex": "W\\d+", "anywhere": True},
    {"date": "2026-12-01T10:00:00Z"},
    {"number": 10, "within": 0.5},
    {"one_of": ["W1", {"subset": {"a": {"ignore": True}}}]},
    [{"a": None}, 1e308],
]
DECLARED: dict[str, list[dict[str, Any]]] = {
    "final_state": [
        {"assertions": [{"path": "$..a", "value": matcher}, {"path": "$[?@.a > 1 || @.status == 'x']", "absent": True}]}
        for matcher in MATCHERS
    ]
    + [{"assertions": [{"path": "$[?@.tool == 'refund'].arguments.*", "value": MATCHERS[0], "over": "writes"}]}],
    "expected_writes": [{}, {"expected": ["refund", {"name": "cancel_order", "arguments": {"order_id": "W1"}}]}],
    "tool_called": [{"tool": "refund", "arguments": {"order_id": matcher}} for matcher in MATCHERS]
    + [{"tool": "g*", "succeeded": True, "at_most": 1}],
    "tool_not_called": [{"tool": "refund", "arguments": {"order_id": matcher}} for matcher in MATCHERS],
    "tools_in_order": [{"tools": ["get_order", "refund"]}, {"tools": []}],
    "calls_match": [
        {"expected": [{"name": "refund", "arguments": {"a": matcher}}, "refund", "get_order"], "mode": mode}
        for matcher in MATCHERS
        for mode in ("strict", "in_order", "any_order", "superset", "subset")
    ],
    "preconditions": [{"requires": {"refund": ["get_order"], "cancel*": ["refund", "nothing"]}}],
    "branch_taken": [{"branches": {"one": ["refund", "get_order"], "two": ["cancel_order"]}, "wanted": "one"}],
    "state_held": [
        {"points": [{"path": "$.a", "value": matcher, "turn": 1}, {"path": "$..status", "step": 3}]}
        for matcher in MATCHERS
    ],
    "recall": [{"fact": "W1", "instead": ["10", "2026-12-01"]}, {"fact": "10", "must_be_used": False}],
    "intent_known": [{"intents": ["W1", "10"]}],
    "skill_routed": [{"skill": "W1"}],
    "loops": [{}, {"most": 1}],
    "retries": [{}, {"most": 0}],
}


def test_each_check_of_this_half_is_tried() -> None:
    assert DECLARED.keys() == {check.__name__ for check in ON_CALLS_AND_STATE}


@pytest.mark.parametrize("name", DECLARED)
@given(trajectory=trajectories())
@examples(60, 3000)
def test_no_trajectory_makes_a_check_raise(name: str, trajectory: Trajectory) -> None:
    for parameters in DECLARED[name]:
        result = CHECKS[name](trajectory, **parameters)
        assert result.check == name
        assert result.message
        assert bool(result.needs) == (result.outcome == "not_assessable")
        assert result.model_dump_json()


@given(trajectory=trajectories())
@examples(200, 5000)
def test_calls_and_results_are_joined_one_to_one(trajectory: Trajectory) -> None:
    calls = calls_of(trajectory)
    assert [call.index for call in calls] == list(range(sum(len(step.tool_calls) for step in trajectory.steps)))
    answered = [call.result_step for call in calls if call.result_step is not None]
    assert len(answered) == len(set(answered))
    assert all(trajectory.steps[step].role == "tool" for step in answered)
    figures = error_figures(trajectory)
    assert figures.errors <= sum(call.failed is True for call in calls)
