"""A trial as one trajectory: its turns as the runner held them, every call that the proxy saw, whoever asked for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from proctor.cases.evaluating import turn_of
from proctor.checks.expected_writes import expected_writes
from proctor.events import EventRow
from proctor.tool_calls import calls_of
from proctor.trace import TraceRow
from proctor.trajectories.from_trial import from_trial
from proctor.trajectories.turns import TurnHeld
from proctor.trajectory import Tokens, Trajectory, TurnState
from tests.unit.trajectories.llm import APIS, Talk
from tests.unit.trajectories.test_from_session import SUMMARY, llm_row, refund, rows_of, tool_row
from tests.unit.trajectories.test_telling import event


def held(*turns: tuple[str, float, str | None], states: Sequence[Any] = ()) -> list[TurnHeld]:
    """Turns by the user's words, their begin and the reply, which comes 0.7 s before the next turn."""
    found = []
    for number, (user, began, reply) in enumerate(turns):
        after = turns[number + 1][1] if number + 1 < len(turns) else began + 9
        before, later = states[number] if states else (None, None)
        found.append(TurnHeld(user, began, None if reply is None else after - 0.7, reply, before, later))
    return found


def built(rows: Sequence[dict[str, Any]], turns: Sequence[TurnHeld], *events: EventRow) -> Trajectory:
    return from_trial(SUMMARY, rows_of(*rows), turns, told=events)


def told(run: Trajectory) -> list[tuple[int, str, str | None]]:
    """Turn, who, and what: a text or the name of a call."""
    return [
        (step.turn, step.role, step.text if step.text is not None else ",".join(call.name for call in step.tool_calls))
        for step in run.steps
    ]


def spoken(system: str, *exchanges: tuple[float, list[Any], str], **facts: Any) -> list[dict[str, Any]]:
    """Exchanges that do not know of one another: each with its whole history, and the words it was answered."""
    rows = []
    for at, history, answer in exchanges:
        talk = Talk("chat", system)
        talk.history = list(history)
        talk.says(answer)
        rows.append(llm_row(talk, at, *talk.exchanges[0], **facts))
    return rows


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


PLAIN = (("refund for anna", -0.1, "no refund for anna"), ("why?", 3.9, "closed"))
BLACK_BOX = [tool_row("query", {"id": 1}, {"a": 1}, 1.0), tool_row("pay", {}, "Error", 4.5, status=500)]


@pytest.mark.req(18, 141)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", APIS)
def test_one_conversation_stands_as_it_was_with_nothing_said_twice(api: str, streamed: bool) -> None:
    _, rows = refund(api, "anna", streamed=streamed)
    run = built(rows, held(*PLAIN))
    assert told(run) == [
        (0, "system", "be brief"),
        (0, "user", "refund for anna"),
        (0, "assistant", "query,query"),
        (0, "tool", '{"id": "other"}'),
        (0, "tool", '{"id": "anna", "paid": true}'),
        (0, "assistant", "pay"),
        (0, "tool", '{"error": "closed"}'),
        (0, "assistant", "no refund for anna"),
        (1, "user", "why?"),
        (1, "assistant", "closed"),
    ]
    assert [(call.arguments, call.failed) for call in calls_of(run)] == [
        ({"id": "anna"}, False),
        ({"id": "other"}, False),
        ({"id": "anna", "amount": 1}, True),
    ]
    assert run.tokens == Tokens(input=40, output=20)
    assert [step.tokens for step in run.steps if step.role == "assistant"] == [Tokens(input=10, output=5)] * 4
    assert (run.final_answer, run.error, run.notes, run.events) == ("closed", None, (), ())


def test_words_that_the_agent_wraps_or_drops_stand_as_the_user_said_them() -> None:
    rows = spoken("x", (0.0, [user("[12:00] Refund, please!\n")], "done"), (5.0, [user("context only")], "I see"))
    run = built(rows, held(("Refund, please!", -0.1, "done"), ("and now?", 4.0, "I see ")))
    assert told(run) == [
        (0, "system", "x"),
        (0, "user", "[12:00] Refund, please!\n"),
        (0, "assistant", "done"),
        (1, "user", "and now?"),
        (1, "user", "context only"),
        (1, "assistant", "I see"),
    ]


def test_a_short_word_inside_another_is_not_the_users() -> None:
    run = built(spoken("x", (0.0, [user("do not know")], "ok")), held(("no", -0.1, "ok")))
    assert [step.text for step in run.steps if step.role == "user"] == ["no", "do not know"]


def test_a_message_that_is_sent_again_or_repeated_counts_by_time_not_by_number() -> None:
    run = built(
        spoken("x", (0.0, [user("hi"), user("hi")], "hello"), (1.0, [user("as a judge: hello")], "good")),
        held(("hi", -0.1, "hello"), ("bye", 5.0, "bye")),
    )
    assert told(run) == [
        (0, "system", "x"),
        (0, "user", "hi"),
        (0, "assistant", "hello"),
        (0, "user", "as a judge: hello"),
        (0, "assistant", "good"),
        (0, "assistant", "hello"),
        (1, "user", "bye"),
        (1, "assistant", "bye"),
    ]


def test_a_reply_in_other_words_than_the_models_ends_its_turn() -> None:
    run = built(refund("chat", "anna", streamed=False)[1], held(PLAIN[0], ("why?", 3.9, "It is closed.")))
    assert told(run)[-2:] == [(1, "assistant", "closed"), (1, "assistant", "It is closed.")]
    assert (run.final_answer, turn_of(run, 1).final_answer) == ("It is closed.", "It is closed.")


def test_a_turn_without_a_reply_has_none_and_the_trial_no_answer() -> None:
    run = built(refund("chat", "anna", streamed=False)[1][:-3], held(PLAIN[0], ("why?", 3.9, None)))
    assert told(run)[-1] == (1, "assistant", "closed")
    assert run.final_answer is None
    silent = built([], held(("hi", 0.0, None)))
    assert (told(silent), silent.final_answer) == ([(0, "user", "hi")], None)


def test_an_empty_reply_is_the_last_word_of_its_turn() -> None:
    run = built(refund("chat", "anna", streamed=False)[1], held(PLAIN[0], ("why?", 3.9, "")))
    assert (run.final_answer, turn_of(run, 1).final_answer) == ("", "")


@pytest.mark.req(117)
def test_without_a_model_the_turns_have_the_calls_of_their_time() -> None:
    run = built(BLACK_BOX, held(("look", 0.5, "found"), ("pay", 4.0, "failed")))
    assert told(run) == [
        (0, "user", "look"),
        (0, "assistant", "query"),
        (0, "tool", '{"a": 1}'),
        (0, "assistant", "found"),
        (1, "user", "pay"),
        (1, "assistant", "pay"),
        (1, "tool", "Error"),
        (1, "assistant", "failed"),
    ]
    assert [(call.name, call.failed) for call in calls_of(turn_of(run, 1))] == [("pay", True)]
    assert (run.tokens, run.events) == (None, ())
    assert run.notes == (
        "no exchange with a model was seen: only the tools' calls are known, and what user and agent said",
    )


def test_a_trial_that_never_began_keeps_what_was_seen() -> None:
    run = built(BLACK_BOX, ())
    assert [step.turn for step in run.steps] == [0] * 4
    assert (run.final_answer, run.states) == (None, ())


def test_calls_before_the_first_turn_after_a_reply_and_after_the_last_are_not_lost() -> None:
    rows = [tool_row(name, {}, {}, at) for name, at in (("early", 0.0), ("late", 3.8), ("last", 99.0))]
    run = built(rows, held(("one", 1.0, "first"), ("two", 4.0, "second")))
    assert [(turn, text) for turn, role, text in told(run) if role == "assistant"] == [
        (0, "early"),
        (0, "first"),
        (0, "late"),
        (1, "second"),
        (1, "last"),
    ]
    assert told(run)[0] == (0, "assistant", "early"), "it was made before the user said anything"


def test_a_result_that_comes_in_the_next_turn_stands_with_its_call() -> None:
    rows = [tool_row("refund", {"id": 1}, {"ok": True}, 1.0, seconds=5.0, effect="write")]
    run = built(rows, held(("refund", 0.5, "under way"), ("done?", 4.0, "yes")))
    assert [each for each in told(run) if each[0] == 0][-2:] == [
        (0, "assistant", "under way"),
        (0, "tool", '{"ok": true}'),
    ]
    assert expected_writes(turn_of(run, 0), [{"name": "refund", "arguments": {"id": 1}}]).outcome == "pass"
    assert expected_writes(turn_of(run, 1), []).outcome == "pass"


def test_an_answer_that_ends_after_its_reply_was_read_stays_in_its_turn() -> None:
    rows = spoken("x", (0.0, [user("a")], "first"), (4.0, [user("a"), assistant("first"), user("b")], "second"))
    run = built(rows, [TurnHeld("a", -0.1, 0.4, "first"), TurnHeld("b", 0.45, 5.0, "second")])
    assert told(run) == [
        (0, "system", "x"),
        (0, "user", "a"),
        (0, "assistant", "first"),
        (1, "user", "b"),
        (1, "assistant", "second"),
    ]


def test_traffic_that_no_model_asked_for_is_a_call_in_its_place_and_an_event() -> None:
    _, rows = refund("chat", "anna", streamed=False)
    run = built([*rows, tool_row("wipe", {"all": True}, {"ok": 1}, 2.6, effect="write")], held(*PLAIN))
    assert told(run)[7:9] == [(0, "assistant", "wipe"), (0, "tool", '{"ok": 1}')]
    assert [(each.kind, each.step) for each in run.events] == [("unattributed_call", 7)]
    assert expected_writes(run, []).outcome == "fail", "a check of writes sees it"
    assert expected_writes(turn_of(run, 1), []).outcome == "pass"


def test_what_no_traffic_explains_on_both_sides_is_said() -> None:
    talk = Talk("chat", "x")
    talk.user("hi")
    (call,) = talk.calls(("refund", {"id": 1}))
    talk.result(call, "ok")
    talk.says("done")
    llm = [llm_row(talk, float(n * 2), *each) for n, each in enumerate(talk.exchanges)]
    run = built([*llm, tool_row("POST /refunds", {"order": 1}, {}, 1.0)], held(("hi", -0.1, "done")))
    assert [call.name for call in calls_of(run)] == ["refund", "POST /refunds"]
    assert run.notes == (
        "calls that a model asked for and no traffic shows (refund) may be the same as calls that no model asked for"
        " (POST /refunds)",
    )


def test_a_call_stands_with_the_arguments_that_were_really_sent() -> None:
    talk = Talk("chat", "x")
    talk.user("hi")
    (call,) = talk.calls(("pay", {"amount": 1, "to": "a"}))
    talk.result(call, "ok")
    talk.says("done")
    llm = [llm_row(talk, float(n * 2), *each) for n, each in enumerate(talk.exchanges)]
    run = built([*llm, tool_row("pay", {"amount": 100, "to": "a"}, "ok", 1.0)], held(("hi", -0.1, "done")))
    assert [call.arguments for call in calls_of(run)] == [{"amount": 100, "to": "a"}]
    assert [(each.step, each.wire, each.log) for each in run.differences] == [(3, 100, 1)]
    assert run.steps[3].role == "tool"


def test_conversations_of_several_agents_are_one_by_time_and_their_repeated_ids_stay_apart() -> None:
    both: list[dict[str, Any]] = []
    for who, start in (("anna", 0.0), ("ben", 0.05)):
        _, traffic = refund("chat", who, streamed=False, start=start)
        both += json.loads(json.dumps(traffic).replace(f"call-{who}", "call"))
    run = built(both, held(("two refunds", -0.1, "no refunds")))
    asked = [(call.name, (call.arguments or {}).get("id")) for call in calls_of(run)]
    assert asked == [
        ("query", "anna"),
        ("query", "other"),
        ("query", "ben"),
        ("query", "other"),
        ("pay", "anna"),
        ("pay", "ben"),
    ]
    assert [(call.result or {}).get("id") for call in calls_of(run)][:4] == ["anna", "other", "ben", "other"]
    assert [call.failed for call in calls_of(run)] == [False] * 4 + [True] * 2
    assert run.tokens == Tokens(input=80, output=40)
    assert run.notes == ("2 conversations with a model, merged by time",)
    assert [step.text for step in run.steps if step.role == "system"] == ["be brief"]


def test_conversations_that_part_have_their_common_calls_once() -> None:
    talk = Talk("chat", "x")
    talk.user("hi")
    (call,) = talk.calls(("pay", {"amount": 1}))
    talk.result(call, "ok")
    other = Talk("chat", "x", history=list(talk.history))
    talk.says("paid")
    other.user("is that right?")
    other.says("it is")
    rows = [*(llm_row(talk, at, *each) for at, each in zip((0.0, 2.0), talk.exchanges, strict=True))]
    rows.append(llm_row(other, 3.0, *other.exchanges[0]))
    run = built([*rows, tool_row("pay", {"amount": 1}, "ok", 1.0)], held(("hi", -0.1, "paid")))
    assert told(run) == [
        (0, "system", "x"),
        (0, "user", "hi"),
        (0, "assistant", "pay"),
        (0, "tool", "ok"),
        (0, "assistant", "paid"),
        (0, "user", "is that right?"),
        (0, "assistant", "it is"),
        (0, "assistant", "paid"),
    ]


def test_an_agent_that_keeps_nothing_tells_its_past_and_that_is_not_said_again() -> None:
    """What was said in turn 0 must not satisfy a check of turn 1, nor a repeated call take the first one's traffic."""
    first = Talk("chat", "x")
    first.user("refund")
    (call,) = first.calls(("pay", {"amount": 1}))
    first.result(call, "ok")
    first.says("I paid.")
    past = [
        *first.history[:1],
        {"role": "assistant", "tool_calls": [{"function": {"name": "pay", "arguments": '{"amount": 1}'}}]},
        {"role": "tool", "content": "ok"},
        assistant("Paid, dear customer!"),
    ]
    rows = [llm_row(first, at, *each) for at, each in zip((0.0, 2.0), first.exchanges, strict=True)]
    rows += spoken("x", (5.0, [*past, user("thanks")], "bye"))
    rows.append(tool_row("pay", {"amount": 1}, "ok", 1.0, effect="write"))
    run = built(rows, held(("refund", -0.1, "Paid, dear customer!"), ("thanks", 4.0, "bye")))
    assert told(run) == [
        (0, "system", "x"),
        (0, "user", "refund"),
        (0, "assistant", "pay"),
        (0, "tool", "ok"),
        (0, "assistant", "I paid."),
        (0, "assistant", "Paid, dear customer!"),
        (1, "user", "thanks"),
        (1, "assistant", "bye"),
    ]
    assert [step.status for step in run.steps if step.role == "tool"] == [200]


def test_an_example_in_a_request_is_no_call_and_is_named() -> None:
    call = {"id": "e1", "function": {"name": "pay", "arguments": "{}"}}
    example = [user("pay!"), {"role": "assistant", "content": None, "tool_calls": [call]}]
    history = [*example, {"role": "tool", "tool_call_id": "e1", "content": "ok"}, assistant("paid"), user("hi")]
    run = built(spoken("x", (0.0, history, "hello")), held(("hi", -0.1, "hello")))
    assert told(run) == [(0, "system", "x"), (0, "user", "hi"), (0, "assistant", "hello")]
    assert run.notes == ("requests tell of calls that nobody saw, which are no steps: pay",)


@pytest.mark.req(154)
def test_the_states_of_the_worlds_stand_and_the_agents_word_only_where_they_are_not_known() -> None:
    events = [event(3.0, "state", {"n": 9}, when="after"), event(4.5, "state", {"n": 8}, when="after")]
    turns = held(*PLAIN, states=[({"n": 0}, {"n": 1}), (None, None)])
    run = built(refund("chat", "anna", streamed=False)[1], turns, *events)
    assert run.states == (
        TurnState(turn=0, before={"n": 0}, after={"n": 1}, by="proctor"),
        TurnState(turn=1, after={"n": 8}),
    )
    assert [(each.data, run.steps[each.step or 0].turn) for each in run.events] == [({"n": 9}, 0), ({"n": 8}, 1)]
    assert (turn_of(run, 0).end_state, turn_of(run, 1).end_state) == ({"n": 1}, {"n": 8})


def test_an_event_stands_in_the_turn_in_which_it_was_told() -> None:
    events = [event(at) for at in (0.7, 3.8, 4.2, 20.0)]
    run = built([], held(("one", 0.5, "first"), ("two", 4.0, "second")), *events)
    assert [(each.step, run.steps[each.step or 0].turn) for each in run.events] == [(0, 0), (1, 0), (2, 1), (3, 1)]
    assert [len(turn_of(run, number).events) for number in (0, 1)] == [2, 2]


def test_tokens_are_absent_as_soon_as_one_conversation_has_none() -> None:
    rows = spoken("x", (0.0, [user("a")], "first")) + spoken("y", (1.0, [user("b")], "second"))
    rows[1]["result"].pop("usage")
    assert built(rows, held(("a", -0.1, "first"))).tokens is None


def test_a_model_that_did_not_answer_last_is_an_error_and_one_that_recovered_a_note() -> None:
    rows = spoken("x", (0.0, [user("a")], "first"), (5.0, [user("b")], "second"))
    lost = {"status": 500, "result": "oops"}
    turns = held(("a", -0.1, "first"), ("b", 4.0, "second"))
    assert built([rows[0], {**rows[1], **lost}], turns).error == "the model did not answer the last request: status 500"
    run = built([{**rows[0], **lost}, rows[1]], turns)
    assert run.error is None
    assert "an exchange with the model failed: status 500" in run.notes


def test_a_row_that_was_refused_is_a_failed_call() -> None:
    row = tool_row("pay", {}, None, 1.0, status=422, source="refused", error={"code": "miss", "message": "no"})
    rows = [TraceRow.model_validate({"index": 0, "session": "s", **row})]
    (call,) = calls_of(from_trial(SUMMARY, rows, held(("pay", 0.0, "sorry"))))
    assert (call.failed, call.result) == (True, {"error": {"code": "miss", "message": "no"}})


@pytest.mark.req(116)
def test_a_step_has_its_number_thought_tool_arguments_result_and_status_and_the_run_its_reply() -> None:
    _, rows = refund("chat", "anna", streamed=False)
    asked = next(row for row in rows if row["service"] == "llm" and row["started"] == 2.0)
    asked["result"]["choices"][0]["message"]["reasoning_content"] = "it is paid, so pay back"
    run = built(rows, held(*PLAIN))
    call = next(each for each in calls_of(run) if each.name == "pay")
    asking, answer = run.steps[call.step], run.steps[call.result_step or 0]
    assert (asking.index, asking.thought) == (5, "it is paid, so pay back")
    assert (call.name, call.arguments, call.result, answer.status) == (
        "pay",
        {"id": "anna", "amount": 1},
        {"error": "closed"},
        409,
    )
    assert run.final_answer == "closed"
