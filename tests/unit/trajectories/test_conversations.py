"""Conversations that run at once are told apart again, for each API, streamed or not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.tool_calls import calls_of
from proctor.trajectories.from_session import from_session
from proctor.trajectory import Tokens, Trajectory
from tests.property.counts import examples
from tests.unit.trajectories.traffic import APIS, Call, Conversation, interleaved, numbered, summary


def refund(order: str) -> tuple[tuple[str, list[list[Call] | str]], ...]:
    """Three rounds in two turns: one call, two at once, words; and words alone."""
    return (
        (
            f"refund {order}",
            [
                [Call("look_up", {"order": order}, {"order": order, "paid": 9})],
                [
                    Call("refund", {"order": order, "amount": 9}, {"done": order}),
                    Call("look_up", {"order": order}, {"order": order, "paid": 0}),
                ],
                f"{order} is refunded.",
            ],
        ),
        ("thanks", ["Welcome."]),
    )


def greeted(system: str | None = "Be kind.", api: str = "chat") -> Conversation:
    return Conversation(api, "A", (("hi", ["Hello!  "]), ("and?", ["Nothing."])), system=system)


def texts(run: Trajectory) -> list[str | None]:
    return [step.text for step in run.steps]


def told(run: Trajectory) -> list[tuple[str, str | None, list[tuple[str, Any]]]]:
    return [(step.role, step.text, [(call.name, call.arguments) for call in step.tool_calls]) for step in run.steps]


def expected(order: str) -> list[tuple[str, str | None, list[tuple[str, Any]]]]:
    return [
        ("system", "Be kind.", []),
        ("user", f"refund {order}", []),
        ("assistant", None, [("look_up", {"order": order})]),
        ("tool", f'{{"order": "{order}", "paid": 9}}', []),
        ("assistant", None, [("refund", {"order": order, "amount": 9}), ("look_up", {"order": order})]),
        ("tool", f'{{"done": "{order}"}}', []),
        ("tool", f'{{"order": "{order}", "paid": 0}}', []),
        ("assistant", f"{order} is refunded.", []),
        ("user", "thanks", []),
        ("assistant", "Welcome.", []),
    ]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", APIS)
@given(order=st.lists(st.integers(0, 2), max_size=40))
@examples(ci=12, soak=300)
def test_interleaved_conversations_are_separated_with_their_calls_results_and_tokens(
    api: str, stream: bool, order: list[int]
) -> None:
    agents = [Conversation(api, name, refund(name), stream=stream) for name in ("A", "B", "C")]
    found = from_session(summary(), interleaved(agents, order))
    assert sorted(each.steps[1].text or "" for each in found) == ["refund A", "refund B", "refund C"]
    for each in found:
        assert told(each) == expected((each.steps[1].text or "")[-1])
        assert each.tokens == Tokens(input=40, output=8)
        assert [call.failed for call in calls_of(each)] == [False, False, False]
        assert [step.service for step in each.steps if step.role == "tool"] == ["desk"] * 3
        assert [step.turn for step in each.steps] == [0] * 8 + [1] * 2
        assert (each.final_answer, each.error) == ("Welcome.", None)
        assert (each.events, each.notes) == ((), ())
        assert {tool.name for tool in each.tools or ()} == {"look_up", "refund"}


@pytest.mark.parametrize("api", APIS)
@given(order=st.lists(st.integers(0, 1), max_size=20))
@examples(ci=8, soak=100)
def test_two_identical_conversations_are_separated_by_the_ids_that_the_model_minted(api: str, order: list[int]) -> None:
    agents = [Conversation(api, name, refund("A")) for name in ("one", "two")]
    found = from_session(summary(), interleaved(agents, order))
    assert len(found) == 2
    for each in found:
        ids = {call.id.partition("-")[0] for step in each.steps for call in step.tool_calls}
        assert len(ids) == 1
        assert told(each) == expected("A")


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_two_identical_conversations_without_any_id_are_two_all_the_same(api: str) -> None:
    rows = interleaved([greeted(api=api), greeted(api=api)], [0, 1, 0, 1])
    nameless = [row.model_copy(update={"result": {**row.result, "id": ""}}) for row in rows]
    found = from_session(summary(), nameless)
    assert [texts(each) for each in found] == [["Be kind.", "hi", "Hello!  ", "and?", "Nothing."]] * 2


def test_a_sub_agent_is_a_conversation_of_its_own() -> None:
    main = Conversation("chat", "main", refund("A"))
    sub = Conversation("chat", "sub", refund("A")[:1], system="You only look things up.")
    found = from_session(summary(), interleaved([main, sub], [0, 1, 1, 0]))
    assert [(each.id, each.steps[0].text) for each in found] == [
        ("s", "Be kind."),
        ("s#2", "You only look things up."),
    ]


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_an_edited_answer_still_continues_its_conversation_and_the_models_own_words_stand(api: str) -> None:
    rows = interleaved([greeted(api=api)], [])
    request = rows[1].arguments
    (answer,) = [each for each in request.get("messages", request.get("input")) if each["role"] == "assistant"]
    answer["content"] = "Hello (shortened)"
    (found,) = from_session(summary(), rows)
    assert texts(found) == ["Be kind.", "hi", "Hello!  ", "and?", "Nothing."]
    assert any("the history was edited" in note for note in found.notes)


def test_an_answer_whose_words_were_stripped_from_beside_its_call_counts_the_call_once() -> None:
    rows = interleaved([Conversation("chat", "A", refund("A"))], [])
    rows[0].result["choices"][0]["message"]["content"] = "Let me look."
    dropped = rows[-1].arguments["messages"]
    del dropped[1]  # the agent forgets the user's first words: nothing but the ids of the calls goes on
    (found,) = from_session(summary(), rows)
    assert [call.name for call in calls_of(found)] == ["look_up", "refund", "look_up"]
    assert [step.role for step in found.steps].count("tool") == 3
    assert found.steps[2].text == "Let me look."


def test_a_summarised_history_begins_a_new_conversation_and_is_not_guessed_at() -> None:
    rows = interleaved([greeted()], [])
    rows[1].arguments["messages"][1:] = [{"role": "user", "content": "So far: greetings. Now: and?"}]
    found = from_session(summary(), rows)
    assert [each.final_answer for each in found] == ["Hello!  ", "Nothing."]


def test_a_request_that_a_tape_answers_again_with_the_same_response_is_one_step() -> None:
    rows = interleaved([greeted()], [])
    again = rows[0].model_copy(update={"index": 7, "started": 0.6})
    (found,) = from_session(summary(), [*rows, again])
    assert len(found.steps) == 5
    assert found.notes == ("exchange 7 asked the same again, and the answer was the same",)


def test_a_response_that_continues_one_that_nobody_saw_says_so() -> None:
    rows = interleaved([greeted(api="chained")], [])[1:]
    (found,) = from_session(summary(), rows)
    assert any("goes on from an answer that was not seen" in note for note in found.notes)


@pytest.mark.parametrize("api", APIS)
def test_instructions_that_change_on_the_way_are_steps_and_part_nothing(api: str) -> None:
    first, second = greeted(system="It is nine.", api=api).rows()
    rows = numbered([first, {**second, "arguments": in_place(second["arguments"], "It is nine.", "It is ten.")}])
    (found,) = from_session(summary(), rows)
    assert texts(found) == ["It is nine.", "hi", "Hello!  ", "It is ten.", "and?", "Nothing."]


def in_place(value: Any, old: str, new: str) -> Any:
    """A copy of some JSON in which one text is another."""
    if isinstance(value, dict):
        return {key: in_place(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [in_place(each, old, new) for each in value]
    return new if value == old else value


def test_a_request_that_failed_is_left_for_another_way_on_and_the_conversation_stays_one() -> None:
    first, second = greeted().rows()
    too_long = in_place(second["arguments"], "and?", "and? " * 9)
    lost = {**second, "arguments": too_long, "status": 400, "result": {"error": {"message": "too long"}}}
    (found,) = from_session(summary(), numbered([first, lost, second]))
    assert texts(found) == ["Be kind.", "hi", "Hello!  ", "and?", "Nothing."]
    assert (found.error, found.notes) == (None, ("an exchange with the model failed: status 400",))


def test_call_ids_that_a_model_gives_again_in_each_turn_lose_no_result() -> None:
    turns: list[tuple[str, list[list[Call] | str]]] = [
        (each, [[Call("look_up", {"of": each}, f"{each} found")], each]) for each in ("one", "two")
    ]
    rows = list(Conversation("chat", "A", turns).rows())
    same = [in_place(in_place(row, "A-0", "call_0"), "A-3", "call_0") for row in rows]
    assert str(same).count("call_0") > 4
    (found,) = from_session(summary(), numbered(same))
    assert [call.result for call in calls_of(found)] == ["one found", "two found"]
