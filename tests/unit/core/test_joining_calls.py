"""Which result answers which call, where ids are missing, stale or come before their call."""

from __future__ import annotations

from proctor.tool_calls import calls_of
from proctor.trajectory import Step, ToolCall, Trajectory


def asks(*ids: str) -> Step:
    return Step(index=0, role="assistant", tool_calls=tuple(ToolCall(name="look", id=each) for each in ids))


def answers(text: str | None, identity: str | None = None) -> Step:
    return Step(index=0, role="tool", tool_call_id=identity, text=text)


def says(text: str) -> Step:
    return Step(index=0, role="user", text=text)


def joined(*steps: Step) -> list[str | None]:
    numbered = tuple(step.model_copy(update={"index": index}) for index, step in enumerate(steps))
    return [call.result_text for call in calls_of(Trajectory(id="t", steps=numbered))]


def test_a_repeated_id_is_joined_by_order_and_a_result_before_its_call_answers_nothing() -> None:
    assert joined(asks("a"), answers("1", "a"), answers("again", "a"), asks("a"), answers("2", "a")) == ["1", "2"]
    assert joined(answers("stray", "a"), asks("a"), answers("1", "a")) == ["1"]


def test_a_call_without_an_id_takes_no_result_of_a_later_turn() -> None:
    assert joined(asks(""), says("hello?"), asks(""), answers("of the second")) == [None, "of the second"]
    assert joined(asks("a"), says("hello?"), answers("late", "a")) == ["late"]


def test_a_result_with_an_unknown_id_answers_nothing() -> None:
    assert joined(asks("a"), answers("whose?", "b")) == [None]
    assert joined(asks("a"), answers("whose?")) == [None]


def test_not_a_number_is_no_json_so_the_text_stays() -> None:
    steps = (asks("a"), answers("[NaN]", "a").model_copy(update={"index": 1}))
    (call,) = calls_of(Trajectory(id="t", steps=steps))
    assert call.result == "[NaN]"
