"""A reference is made in the case's worlds, turn by turn, and must meet what the case expects of deeds."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from proctor.cases.case import Case
from proctor.cases.evaluating import evaluate, turn_of
from proctor.cases.proving import prove, reference_run
from proctor.checks.writes import ToolEffects
from proctor.world import CREDENTIAL, BusinessError, World, tool
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession

EFFECTS = ToolEffects(writes=("cancel",), reads=("look", "sign_in"))
SIGN_IN = {"tool": "sign_in"}
LOOK = {"tool": "look"}
CANCEL = {"tool": "cancel", "turn": 1}
CANCELLED = {"path": "$.status", "value": "cancelled"}


class State(BaseModel):
    status: str = "paid"


class Desk(World[State]):
    @tool(effect="read")
    def sign_in(self) -> str:
        """Get a token."""
        return self.new_token()

    @tool(effect="read", token=CREDENTIAL)
    def look(self) -> str:
        """Tell the status."""
        return self.state.status

    @tool(effect="write", token=CREDENTIAL)
    def cancel(self) -> str:
        """Cancel the order, once."""
        if self.state.status == "cancelled":
            raise BusinessError("already_cancelled", "it is cancelled")
        self.state.status = "cancelled"
        return self.state.status


def case(*reference: dict[str, Any], turns: list[Any] | None = None, **said: Any) -> Case:
    asked = turns or [{"user": "What of my order?"}, {"user": "Cancel it."}]
    return Case.model_validate({"id": "c", "title": "t", "turns": asked, "reference": reference, **said})


def worlds() -> dict[str, WorldSession]:
    return {"desk": WorldSession(WorldKind(Desk), 1)}


def failing(made: Case) -> list[tuple[int | None, str]]:
    refused, looked = prove(made, worlds(), EFFECTS)
    assert refused == []
    return [(each.turn, each.result.check) for each in looked]


def test_a_right_reference_meets_state_writes_order_and_the_turns_own_expectations() -> None:
    turns = [
        {
            "user": "What of my order?",
            "expect": {"called": ["look"], "writes": [], "state": [{"path": "$.status", "value": "paid"}]},
        },
        {"user": "Cancel it.", "expect": {"called": ["cancel"], "not_called": ["look"], "state": [CANCELLED]}},
    ]
    expect = {
        "state": [CANCELLED],
        "writes": ["cancel"],
        "in_order": ["look", "cancel"],
        "requires": {"cancel": ["look"]},
    }
    assert failing(case(SIGN_IN, LOOK, CANCEL, turns=turns, expect=expect)) == []


@pytest.mark.parametrize(
    ("expect", "check"),
    [
        ({"state": [{"path": "$.status", "value": "shipped"}]}, "final_state"),
        ({"writes": []}, "expected_writes"),
        ({"called": [{"tool": "look", "at_least": 2}]}, "tool_called"),
        ({"called": [{"tool": "look", "arguments": {"order": "A1"}}]}, "tool_called"),
        ({"not_called": ["cancel"]}, "tool_not_called"),
        ({"in_order": ["cancel", "look"]}, "tools_in_order"),
        ({"calls": {"mode": "strict", "calls": ["look", "cancel"]}}, "calls_match"),
        ({"requires": {"look": ["cancel"]}}, "preconditions"),
        ({"held": [{"path": "$.status", "value": "cancelled", "turn": 0}]}, "state_held"),
    ],
)
def test_a_reference_that_does_not_meet_an_expectation_is_told_by_its_check(expect: Any, check: str) -> None:
    assert failing(case(SIGN_IN, LOOK, CANCEL, expect=expect)) == [(None, check)]


def test_what_a_turn_expects_is_looked_for_in_that_turn_alone() -> None:
    turns = [
        {"user": "hello", "expect": {"called": ["cancel"]}},
        {"user": "Cancel it.", "expect": {"called": ["look"]}},
    ]
    assert failing(case(SIGN_IN, LOOK, CANCEL, turns=turns)) == [(0, "tool_called"), (1, "tool_called")]


def test_of_words_nothing_is_asked_of_a_reference() -> None:
    expect = {
        "state": [CANCELLED],
        "says": ["x"],
        "never_says": ["y"],
        "skill": "z",
        "intents": ["w"],
        "says_finally": ["v"],
    }
    assert failing(case(SIGN_IN, LOOK, CANCEL, expect=expect, recall=[{"fact": "A1"}])) == []


def test_an_answer_that_the_reference_does_not_foresee_is_told_and_one_that_it_does_is_not() -> None:
    refused, _ = prove(case(LOOK), worlds(), EFFECTS)
    assert refused[0].startswith("look answers 401: ")
    assert prove(case({**LOOK, "refused": "token_required"}), worlds(), EFFECTS)[0] == []
    again = {**CANCEL, "refused": "already_cancelled"}
    assert prove(case(SIGN_IN, CANCEL, again), worlds(), EFFECTS)[0] == []
    refused, _ = prove(case(SIGN_IN, again), worlds(), EFFECTS)
    assert refused == ['cancel answers 200: "cancelled"']
    refused, _ = prove(case({"tool": "nosuch"}), worlds(), EFFECTS)
    assert refused[0].startswith("nosuch answers 404: ")


def test_the_right_branch_must_be_the_one_that_the_reference_takes() -> None:
    routes = {"keep": [{"name": "look"}], "cancel": [{"name": "cancel"}]}
    assert failing(case(SIGN_IN, CANCEL, branches=[{"routes": routes, "right": "cancel"}])) == []
    assert failing(case(SIGN_IN, CANCEL, branches=[{"routes": routes, "right": "keep"}])) == [(None, "branch_taken")]


def test_a_turn_is_a_run_of_its_own_with_its_steps_state_and_last_words() -> None:
    run, _ = reference_run(case(SIGN_IN, LOOK, CANCEL), worlds())
    first, second = turn_of(run, 0), turn_of(run, 1)
    assert [step.index for step in second.steps] == [0, 1, 2]
    assert (first.end_state, second.end_state) == ({"status": "paid"}, {"status": "cancelled"})
    assert turn_of(run, 7).steps == ()


def test_every_kind_of_expectation_is_looked_for() -> None:
    """None is read and then forgotten."""
    said: dict[str, Any] = {
        "state": [CANCELLED],
        "writes": ["cancel"],
        "outputs": ["x"],
        "called": ["look"],
        "not_called": ["x"],
        "in_order": ["look"],
        "calls": {"mode": "superset", "calls": ["look"]},
        "requires": {"cancel": ["look"]},
        "held": [{"path": "$.status", "turn": 0}],
        "says": ["x"],
        "says_finally": ["x"],
        "never_says": ["x"],
        "skill": "x",
        "intents": ["x"],
    }
    assert set(said) == set(Case.model_fields["expect"].annotation.model_fields)  # type: ignore[union-attr]
    whole = case(SIGN_IN, LOOK, CANCEL, expect=said)
    run, _ = reference_run(whole, worlds())
    found = len(evaluate(whole, run, EFFECTS))
    for key in set(said) - {"outputs"}:
        less = {name: value for name, value in said.items() if name != key and (key != "writes" or name != "outputs")}
        assert len(evaluate(case(expect=less), run, EFFECTS)) == found - 1, key


@pytest.mark.parametrize(
    "said", [{"expect": {"outputs": ["x"]}}, {"reference": [{"tool": "look", "turn": 2}]}], ids=["outputs", "turn"]
)
def test_outputs_without_writes_and_calls_after_the_last_turn_are_refused(said: Any) -> None:
    with pytest.raises(ValidationError):
        Case.model_validate({"id": "c", "title": "t", "turns": [{"user": "x"}, {"user": "y"}], **said})
