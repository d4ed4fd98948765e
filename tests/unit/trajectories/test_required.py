"""A trial whose trajectory lacks a required field is invalid, and the field is named."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.trajectories.required import FIELDS, SESSION, TRACE, missing_fields, required_of
from proctor.trajectory import Llm, Step, Tokens, ToolCall, Trajectory, TurnState

WHOLE = Trajectory(
    id="a",
    case="refund",
    category="normal",
    session="s",
    steps=(
        Step(index=0, role="user", text="refund"),
        Step(index=1, role="assistant", tool_calls=(ToolCall(name="pay"),), seconds=1.0, tokens=Tokens(input=1)),
        Step(index=2, role="tool", text="{}", seconds=0.1, status=200),
        Step(index=3, role="assistant", text="done", seconds=1.0, tokens=Tokens(output=1)),
    ),
    states=(TurnState(turn=0),),
    final_answer="done",
    tokens=Tokens(input=1, output=1),
    seconds=2.0,
)

WITHOUT: dict[str, dict[str, Any]] = {
    "case_id": {"case": ""},
    "category": {"category": ""},
    "input": {"steps": WHOLE.steps[1:]},
    "timeline": {"steps": ()},
    "final_answer": {"final_answer": None},
    "token_usage": {"tokens": None},
    "tool_calls": {"steps": WHOLE.steps[:2]},
    "error": {"error": ""},
    "elapsed": {"seconds": None},
    "session": {"session": ""},
    "states": {"states": ()},
    "step_tokens": {"steps": (WHOLE.steps[1].model_copy(update={"tokens": None}),)},
    "step_seconds": {"steps": (WHOLE.steps[2].model_copy(update={"seconds": None}),)},
    "tool_status": {"steps": (WHOLE.steps[2].model_copy(update={"status": None}),)},
}


@pytest.mark.req(17, 141, 142, 154)
def test_a_whole_trajectory_lacks_nothing() -> None:
    assert missing_fields(WHOLE, SESSION) == ()
    assert len(TRACE) == 9


@pytest.mark.req(142)
@pytest.mark.parametrize("field", FIELDS)
def test_each_field_that_is_missing_is_named(field: str) -> None:
    assert field in missing_fields(WHOLE.model_copy(update=WITHOUT[field]), FIELDS)


def test_a_run_that_broke_off_needs_no_answer() -> None:
    broken = WHOLE.model_copy(update={"final_answer": None, "error": "time-out", "steps": WHOLE.steps[:2]})
    assert missing_fields(broken) == ()


@pytest.mark.req(142)
@pytest.mark.parametrize("llm", ["live", "replayed", ""])
def test_a_trial_whose_model_was_seen_must_have_its_tokens(llm: Llm) -> None:
    uncounted = WHOLE.model_copy(update={"tokens": None, "llm": llm})
    assert missing_fields(uncounted, required_of(llm)) == ("token_usage",)


@pytest.mark.req(142)
@pytest.mark.parametrize(("llm", "stand_in"), [("none", False), ("stand-in", False), ("replayed", True)])
def test_a_trial_that_used_no_tokens_that_could_be_seen_needs_all_but_those(llm: Llm, stand_in: bool) -> None:
    uncounted = WHOLE.model_copy(update={"tokens": None})
    required = required_of(llm, stand_in=stand_in)
    assert missing_fields(uncounted, required) == ()
    assert missing_fields(uncounted.model_copy(update={"seconds": None}), required) == ("elapsed",)
    assert len(required) == 8
