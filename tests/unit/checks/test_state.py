"""Final state, state held, branches and preconditions: the cases that the examples in the docs leave out."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from proctor.checks.branch import branch_taken
from proctor.checks.final_state import StateAssertion, final_state
from proctor.checks.preconditions import preconditions
from proctor.checks.state_held import StatePoint, state_held
from tests.runs import call, refused, run_of

STATE = {"orders": [{"id": "W1", "status": "cancelled"}, {"id": "W2", "status": "sent"}], "n/a": 0}


def state(*assertions: dict[str, Any], end_state: Any = STATE) -> Any:
    return final_state(run_of("user: Go.", "agent: Cancelled!", end_state=end_state), assertions)


@pytest.mark.req(187, 188)
@pytest.mark.parametrize(("status", "outcome"), [("cancelled", "pass"), ("Cancelled", "fail"), ("cancelled ", "fail")])
def test_the_state_decides_to_the_byte_whatever_the_agent_says(status: str, outcome: str) -> None:
    result = state({"path": "$.orders[?@.id == 'W1'].status", "value": status})
    assert result.outcome == outcome
    (evidence,) = result.evidence
    assert (evidence.step, evidence.field, evidence.quote) == (None, "end_state/orders/0/status", '"cancelled"')


def test_every_value_found_must_match_and_one_must_be_found() -> None:
    assert state({"path": "$.orders[*].status", "value": "cancelled"}).outcome == "fail"
    assert state({"path": "$.orders[*].status", "value": {"one_of": ["cancelled", "sent"]}}).outcome == "pass"
    assert state({"path": "$.orders[9]"}).outcome == "fail"
    assert state({"path": "$.orders[9]", "absent": True}).outcome == "pass"
    assert state({"path": "$.orders[0]", "absent": True}).outcome == "fail"
    assert state({"path": "$[?length(@) == 2]"}).outcome == "pass"
    assert state({"path": "$['n/a']", "value": 0}).evidence[0].field == "end_state/n~1a"


def test_a_wrong_assertion_is_told_even_where_another_cannot_be_decided() -> None:
    doubt = {"path": "$.on", "value": {"date": "2026-12-01"}}
    wrong = {"path": "$.status", "value": "x"}
    assert state(doubt, end_state={"on": "01/12/2026"}).outcome == "not_assessable"
    assert state(doubt, wrong, end_state={"on": "01/12/2026", "status": "y"}).outcome == "fail"
    assert state().outcome == "not_assessable"
    assert state({"path": "$..a"}, end_state=[[]] * 3).outcome == "fail"


def test_writes_stand_in_for_a_state_and_refused_or_unanswered_ones_do_not() -> None:
    wanted = [{"path": "$[?@.tool == 'cancel'].arguments.id", "value": "W1", "over": "writes"}]
    assert final_state(run_of(call("cancel", id="W1")), wanted).outcome == "pass"
    assert final_state(run_of(refused("cancel", id="W1")), wanted).outcome == "fail"
    assert final_state(run_of({"call": "cancel", "arguments": {"id": "W1"}}), wanted).outcome == "fail"
    assert final_state(run_of(call("cancel", id="W1")), wanted, reads=["cancel"]).outcome == "fail"


@pytest.mark.parametrize("path", ["orders", "$.", "$[", "$.a[?]", "", "$[?search(@.a, '(a+)+')]"])
def test_a_path_that_is_none_is_refused_when_it_is_declared(path: str) -> None:
    with pytest.raises(ValidationError, match="JSONPath"):
        StateAssertion(path=path)


@pytest.mark.req(99, 171)
def test_the_point_where_a_value_was_lost_is_named() -> None:
    states = [{"turn": n, "before": {"id": 1}, "after": {"id": held}} for n, held in enumerate((1, 1, 2, 2))]
    run = run_of(*["user: Go.", "agent: Yes."] * 4, states=states)
    points = [{"path": "$.id", "value": 1, "turn": turn} for turn in range(4)]
    result = state_held(run, points)
    assert result.message == "held at 2 of 4 points; first lost after turn 2: $.id: wanted 1, got 2"
    assert state_held(run, points[:2]).outcome == "pass"
    assert state_held(run, [{**points[2], "when": "before"}]).outcome == "pass"
    assert state_held(run, [points[0], {**points[0], "turn": 9}]).outcome == "not_assessable"


def test_a_step_has_the_last_state_told_up_to_it_else_that_of_the_turns_before() -> None:
    run = run_of(
        *["user: Go.", "agent: Yes."] * 2,
        states=[{"turn": 0, "after": {"id": 1}}],
        events=[{"kind": "state", "step": 3, "data": {"id": 2}}, {"kind": "state", "step": 1, "data": {"id": 3}}],
    )

    def held(step: int, value: int) -> str:
        return state_held(run, [{"path": "$.id", "value": value, "step": step}]).outcome

    assert (held(3, 2), held(2, 3), held(1, 3)) == ("pass", "pass", "pass")
    assert (held(0, 1), held(4, 2)) == ("not_assessable", "not_assessable")
    without = run.model_copy(update={"events": ()})
    assert state_held(without, [{"path": "$.id", "value": 1, "step": 2}]).outcome == "pass"


@pytest.mark.parametrize("place", [{}, {"turn": 1, "step": 1}, {"turn": -1}])
def test_a_point_is_at_a_turn_or_at_a_step(place: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        StatePoint.model_validate({"path": "$.id", **place})


BRANCHES = {"shipped": ["review_return", "return_order"], "unshipped": ["get_fee", "cancel_order"]}


@pytest.mark.req(100)
@pytest.mark.parametrize(
    ("tools", "outcome", "told"),
    [
        (["review_return", "return_order"], "pass", "took the branch shipped, and no other"),
        (["return_order", "review_return"], "fail", "began the branch shipped, and return_order is missing in it"),
        (["review_return"], "fail", "began the branch shipped, and return_order is missing in it"),
        (["get_fee", "cancel_order"], "fail", "took the branch unshipped instead of shipped"),
        (
            ["review_return", "return_order", "cancel_order"],
            "fail",
            "took the branch unshipped as well as shipped",
        ),
        (["other"], "fail", "took none of the branches shipped, unshipped"),
    ],
)
def test_exactly_the_wanted_branch_is_taken_in_order(tools: list[str], outcome: str, told: str) -> None:
    result = branch_taken(run_of("user: Go.", *(call(tool) for tool in tools)), BRANCHES, "shipped")
    assert (result.outcome, result.message) == (outcome, told)


def test_a_call_of_two_branches_tells_nothing() -> None:
    both = {"one": ["look", "a"], "two": ["look", "b"]}
    assert branch_taken(run_of(call("look"), call("a")), both, "one").outcome == "pass"
    assert branch_taken(run_of(call("look")), both, "one").message == "took none of the branches one, two"


TOKEN = {"query_*": ["get_token"]}


@pytest.mark.req(94)
@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ([call("get_token"), call("query_order")], "pass"),
        ([call("query_order"), call("get_token")], "fail"),
        ([refused("get_token"), call("query_order")], "fail"),
        ([refused("get_token"), call("get_token"), call("query_order")], "pass"),
        ([call("get_token"), call("query_order"), call("query_user")], "pass"),
        ([{"call": "get_token"}, call("query_order")], "not_assessable"),
        ([{"call": "get_token"}, call("get_token"), call("query_order")], "pass"),
        ([call("get_token")], "not_assessable"),
    ],
)
def test_a_tool_is_right_only_after_what_it_needs_has_succeeded(lines: list[dict[str, Any]], outcome: str) -> None:
    assert preconditions(run_of(*lines), TOKEN).outcome == outcome
