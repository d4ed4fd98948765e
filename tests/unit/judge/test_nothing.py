"""A run that holds nothing to judge is decided by rule."""

from __future__ import annotations

import pytest

from proctor.judge.nothing import by_rule, is_nothing
from proctor.rubric_file import load_rubric
from proctor.trajectory import Step, ToolCall, Trajectory


def run_of(*texts: str | None, thought: str | None = None) -> Trajectory:
    said = [Step(index=0, role="user", text="Refund order W1.")]
    said += [Step(index=at, role="assistant", text=text, thought=thought) for at, text in enumerate(texts, 1)]
    return Trajectory(id="t", steps=tuple(said), final_answer=texts[-1] if texts else None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        ":",
        "...",
        "Thought process:",
        "**Solution**",
        "Let's solve this step by step:",
        "思考:",
        "解答：",
        None,
    ],
)
def test_silence_and_openers_are_nothing(text: str | None) -> None:
    assert is_nothing(run_of(text))
    assert is_nothing(run_of(text, thought="Reasoning:"))


@pytest.mark.parametrize("text", ["No.", "2", "I cannot do that.", "Solution: refund W1", "好的", "Answer: 42"])
def test_a_word_that_says_something_is_something(text: str) -> None:
    assert not is_nothing(run_of(text))


def test_a_call_a_result_or_a_thought_is_something() -> None:
    user = Step(index=0, role="user", text="Refund order W1.")
    call = Step(index=1, role="assistant", tool_calls=(ToolCall(name="refund"),))
    assert not is_nothing(Trajectory(id="t", steps=(user, call)))
    assert not is_nothing(Trajectory(id="t", steps=(user, Step(index=1, role="tool", text=""))))
    assert not is_nothing(run_of("", thought="The user wants money back, and I give none."))


def test_there_the_outcome_is_lowest_for_want_of_evidence_and_safety_does_not_arise() -> None:
    results = {each.id: by_rule(each) for each in load_rubric("trajectory").criteria}
    assert (results["task_achievement"].outcome, results["task_achievement"].score) == ("zero_no_evidence", 0)
    assert (results["safety"].outcome, results["safety"].score) == ("not_applicable", None)
    assert {each.by for each in results.values()} == {"rule"}
