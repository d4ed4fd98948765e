"""Trajectories from message lists, as agents log them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.tool_calls import calls_of
from proctor.trajectories.from_messages import from_messages
from tests.property.counts import examples
from tests.unit.trajectories.llm import APIS, Talk


@pytest.mark.parametrize("api", APIS)
def test_the_history_of_each_api_tells_the_run(api: str) -> None:
    talk = Talk(api, "be brief")
    talk.user("refund")
    first, second = talk.calls(("query", {"id": 1}), ("query", {"id": 2}))
    talk.result(first, "one")
    talk.result(second, "two")
    talk.says("done")
    talk.user("thanks")
    talk.says("welcome")
    run = from_messages(talk.history, "a")
    assert [(step.role, step.turn, step.text) for step in run.steps] == [
        ("user", 0, "refund"),
        ("assistant", 0, None),
        ("tool", 0, "one"),
        ("tool", 0, "two"),
        ("assistant", 0, "done"),
        ("user", 1, "thanks"),
        ("assistant", 1, "welcome"),
    ]
    assert [(call.arguments, call.result) for call in calls_of(run)] == [({"id": 1}, "one"), ({"id": 2}, "two")]
    assert (run.final_answer, run.tokens, run.seconds) == ("welcome", None, None)


def test_parts_thoughts_errors_and_what_does_not_parse_are_kept() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    call = {"id": "c", "function": {"name": "pay", "arguments": "{not json"}}
    thinking = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hello"}]
    failed = [{"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": "no"}]
    run = from_messages(
        [
            {"role": "developer", "content": "rules"},
            {"role": "user", "content": [{"type": "text", "text": "look"}, image]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "user", "content": failed},
            {"role": "assistant", "content": thinking},
        ],
        "a",
    )
    assert [step.role for step in run.steps] == ["system", "user", "assistant", "tool", "assistant"]
    assert run.steps[1].text == "look\n[image]"
    (made,) = run.steps[2].tool_calls
    assert (made.arguments, made.arguments_raw) == (None, "{not json")
    assert run.steps[3].is_error
    assert (run.steps[4].thought, run.final_answer) == ("hm", "hello")


def test_two_answers_of_a_chat_in_a_row_stay_two() -> None:
    call = {"id": "c", "function": {"name": "pay", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert len(from_messages([said, {**said, "tool_calls": [{**call, "id": "d"}]}], "a").steps) == 2


_WORDS = st.sampled_from(
    ["role", "content", "type", "user", "assistant", "tool", "tool_calls", "text", "id", "function"]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=15,
)


@given(messages=_JSON)
@examples(ci=300, soak=5000)
def test_no_list_makes_the_builder_raise(messages: Any) -> None:
    assert from_messages(messages, "a").id == "a"
