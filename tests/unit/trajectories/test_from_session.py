"""Trajectories from the wire alone: every API, streamed or not, conversations apart, tools joined to their calls."""

from __future__ import annotations

import itertools
import json
from random import Random
from typing import Any

import pytest

from proctor.tool_calls import calls_of
from proctor.trace import SessionSummary, TraceRow
from proctor.trajectories.from_session import from_session
from proctor.trajectory import Trajectory
from tests.unit.trajectories.llm import APIS, Talk

TARGETS = {"chat": "/chat/completions", "responses": "/responses", "anthropic": "/v1/messages"}
SUMMARY = SessionSummary(
    session="s",
    cassette="refund",
    set_up="code",
    llm="replayed",
    modes={},
    started_at="2026-01-01T00:00:00Z",
    seconds=3.0,
)


def llm_row(talk: Talk, at: float, request: Any, answer: Any, **facts: Any) -> dict[str, Any]:
    row = {"service": "llm", "source": "replay", "method": "POST", "target": TARGETS[talk.api], "status": 200}
    return {**row, "arguments": request, "result": answer, "effect": "pure", "started": at, "seconds": 0.5, **facts}


def tool_row(name: str, arguments: Any, result: Any, at: float, **facts: Any) -> dict[str, Any]:
    row = {
        "service": "orders",
        "source": "replay",
        "method": "POST",
        "target": f"/tools/{name}",
        "tool": name,
        "status": 200,
    }
    return {**row, "arguments": arguments, "result": result, "effect": "read", "started": at, "seconds": 0.1, **facts}


def rows_of(*rows: dict[str, Any]) -> list[TraceRow]:
    ordered = sorted(rows, key=lambda row: float(row["started"]))
    return [TraceRow.model_validate({"index": index, "session": "s", **row}) for index, row in enumerate(ordered)]


def refund(api: str, who: str, *, streamed: bool, start: float = 0.0) -> tuple[Talk, list[dict[str, Any]]]:
    """A conversation of two turns, with parallel calls, and its traffic."""
    talk = Talk(api, "be brief", streamed, prefix=f"call-{who}")
    talk.user(f"refund for {who}")
    first, second = talk.calls(("query", {"id": who}), ("query", {"id": "other"}))
    tools = [
        tool_row("query", {"id": "other"}, {"id": "other"}, start + 1.1, seconds=0.2),
        tool_row("query", {"id": who, "token": "t"}, {"id": who, "paid": True}, start + 1.2, seconds=0.3),
    ]
    talk.result(first, json.dumps({"id": who, "paid": True}))
    talk.result(second, json.dumps({"id": "other"}))
    (third,) = talk.calls(("pay", {"id": who, "amount": 1}))
    tools.append(
        tool_row("pay", {"id": who, "amount": 1}, {"error": "closed"}, start + 2.1, status=409, effect="write")
    )
    talk.result(third, '{"error": "closed"}')
    talk.says(f"no refund for {who}")
    talk.user("why?")
    talk.says("closed")
    times = (0.0, 2.0, 3.0, 4.0)
    llm = [llm_row(talk, start + at, *exchange) for at, exchange in zip(times, talk.exchanges, strict=True)]
    return talk, [*llm, *tools]


def told(run: Trajectory) -> list[tuple[str, str | None, list[str]]]:
    return [(step.role, step.text, [call.name for call in step.tool_calls]) for step in run.steps]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", APIS)
def test_a_conversation_is_told_in_order_with_the_facts_of_its_tools(api: str, streamed: bool) -> None:
    _, rows = refund(api, "anna", streamed=streamed)
    (run,) = from_session(SUMMARY, rows_of(*rows))
    assert told(run) == [
        ("system", "be brief", []),
        ("user", "refund for anna", []),
        ("assistant", None, ["query", "query"]),
        ("tool", '{"id": "anna", "paid": true}', []),
        ("tool", '{"id": "other"}', []),
        ("assistant", None, ["pay"]),
        ("tool", '{"error": "closed"}', []),
        ("assistant", "no refund for anna", []),
        ("user", "why?", []),
        ("assistant", "closed", []),
    ]
    assert [step.turn for step in run.steps] == [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    assert [(step.name, step.status, step.seconds, step.effect) for step in run.steps if step.role == "tool"] == [
        ("query", 200, 0.3, "read"),
        ("query", 200, 0.2, "read"),
        ("pay", 409, 0.1, "write"),
    ]
    assert [(call.name, call.arguments, call.failed) for call in calls_of(run)] == [
        ("query", {"id": "anna"}, False),
        ("query", {"id": "other"}, False),
        ("pay", {"id": "anna", "amount": 1}, True),
    ]
    assert (run.final_answer, run.agent.model, run.notes, run.differences) == ("closed", "m-1", (), ())
    assert run.tokens is not None
    assert (run.tokens.input, run.tokens.output) == (40, 20)
    assert (run.set_up, run.llm, run.case, run.seconds) == ("code", "replayed", "refund", 3.0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("api", APIS)
def test_interleaved_conversations_are_told_apart(api: str, seed: int) -> None:
    rng = Random(seed)
    alone: dict[str, list[tuple[str, str | None, list[str]]]] = {}
    rows: list[dict[str, Any]] = []
    for who in ("anna", "ben", "cleo"):
        talk, traffic = refund(api, who, streamed=rng.random() < 0.5, start=rng.random() * 3)
        assert talk.system == "be brief", "nothing but what they say tells them apart"
        (run,) = from_session(SUMMARY, rows_of(*traffic))
        alone[who] = told(run)
        rows += traffic
    runs = from_session(SUMMARY, rows_of(*rows))
    assert sorted(map(told, runs), key=str) == sorted(alone.values(), key=str)
    assert [run.id for run in runs] == ["s", "s#2", "s#3"]
    for run in runs:
        assert [step.status for step in run.steps if step.role == "tool"] == [200, 200, 409]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_history_that_the_api_keeps_is_put_together_again(streamed: bool) -> None:
    talk = Talk("responses", "be brief", streamed)
    talk.user("one")
    talk.says("first")
    talk.user("two")
    talk.says("second")
    rows = []
    for number, (request, answer) in enumerate(talk.exchanges):
        request["input"] = [{"role": "user", "content": ("one", "two")[number]}]
        told_as = f'"id": "r{number}"'
        whole = answer.replace('"id": "r"', told_as) if streamed else {**answer, "id": f"r{number}"}
        if number:
            request["previous_response_id"] = "r0"
            request.pop("instructions")
        rows.append(llm_row(talk, float(number), request, whole))
    (run,) = from_session(SUMMARY, rows_of(*rows))
    assert [text for _, text, _ in told(run)] == ["be brief", "one", "first", "two", "second"]


def test_tokens_that_the_api_did_not_tell_are_not_counted_as_none() -> None:
    talk = Talk("chat", "x")
    talk.user("hi")
    talk.says("hello")
    talk.user("again")
    talk.says("yes")
    talk.exchanges[1][1].pop("usage")
    (run,) = from_session(SUMMARY, rows_of(*(llm_row(talk, float(n), *each) for n, each in enumerate(talk.exchanges))))
    assert run.tokens is None
    assert [step.tokens is None for step in run.steps if step.role == "assistant"] == [False, True]


def test_a_request_that_failed_and_was_sent_again_is_one_step_with_two_attempts() -> None:
    talk = Talk("chat", "x")
    talk.user("hi")
    talk.says("hello")
    request, answer = talk.exchanges[0]
    failed = llm_row(talk, 0.0, request, {"error": "busy"}, status=429)
    (run,) = from_session(SUMMARY, rows_of(failed, llm_row(talk, 1.0, request, answer)))
    assert [step.attempts for step in run.steps if step.role == "assistant"] == [2]
    assert run.notes == ()
    (lost,) = from_session(SUMMARY, rows_of(failed))
    assert lost.notes == ("an exchange with the model failed: status 429",)
    assert (lost.error, lost.final_answer) == ("the model did not answer the last request: status 429", None)


def test_tools_without_a_model_are_told_alone_and_traffic_of_no_call_is_named() -> None:
    rows = [tool_row("query", {"id": 1}, {"a": 1}, 0.0), tool_row("pay", {}, "Error", 1.0, status=500)]
    (run,) = from_session(SUMMARY, rows_of(*rows))
    assert [(call.name, call.result, call.failed) for call in calls_of(run)] == [
        ("query", {"a": 1}, False),
        ("pay", "Error", True),
    ]
    assert run.notes == ("no exchange with a model was seen: only the tools' calls are known",)
    _, traffic = refund("chat", "anna", streamed=False)
    (other,) = from_session(SUMMARY, rows_of(*traffic, tool_row("stray", {}, {}, 2.5)))
    (event,) = other.events
    assert (event.kind, event.by, event.data["tool"]) == ("unattributed_call", "proctor", "stray")


@pytest.mark.parametrize(("status", "calls"), [(200, 0), (404, 1)])
def test_a_world_that_lists_its_tools_is_asked_for_none_of_them(status: int, calls: int) -> None:
    listed = {"source": "world", "method": "GET", "target": "/tools", "tool": None, "status": status}
    (run,) = from_session(SUMMARY, rows_of(tool_row("query", {}, {}, 1.0), tool_row("", {}, [], 0.0, **listed)))
    assert len(calls_of(run)) == 1 + calls
    assert ("not part of a conversation: orders GET /tools" in run.notes) is (status == 200)


def test_an_edited_history_begins_no_new_conversation_and_is_said() -> None:
    talk = Talk("chat", "x")
    talk.user("hi")
    (call,) = talk.calls(("query", {}))
    talk.result(call, "{}")
    talk.says("done")
    talk.history = [
        {"role": "user", "content": "summary of all that"},
        *talk.history[1:],
        {"role": "user", "content": "go on"},
    ]
    talk.says("more")
    (run,) = from_session(SUMMARY, rows_of(*(llm_row(talk, float(n), *each) for n, each in enumerate(talk.exchanges))))
    assert any("the history was edited or shortened" in note for note in run.notes)
    assert run.final_answer == "more"
    assert [call.name for call in calls_of(run)] == ["query"]
    assert [step.text for step in run.steps if step.role == "user"] == ["hi", "summary of all that", "go on"]


@pytest.mark.req(117)
def test_where_the_agents_log_says_otherwise_the_wire_wins_and_the_difference_is_kept() -> None:
    talk, traffic = refund("chat", "anna", streamed=False)
    log = [{"role": "system", "content": "be brief"}, *json.loads(json.dumps(talk.history))]
    log[1]["content"] = "another question"
    log[2]["tool_calls"][0]["function"]["arguments"] = '{"id": "eve"}'
    (run,) = from_session(SUMMARY, rows_of(*traffic), log=log)
    assert run.steps[1].text == "refund for anna"
    assert [(each.step, each.what) for each in run.differences] == [(1, "text"), (2, "tool calls")]
    assert (run.differences[0].wire, run.differences[0].log) == ("refund for anna", "another question")
    (same,) = from_session(SUMMARY, rows_of(*traffic), log=[{"role": "system", "content": "be brief"}, *talk.history])
    assert same.differences == ()


def test_an_argument_that_changed_between_model_and_tool_is_a_difference() -> None:
    talk = Talk("chat", "x")
    talk.user("hi")
    (call,) = talk.calls(("pay", {"amount": 1}))
    talk.result(call, "ok")
    talk.says("done")
    llm = [llm_row(talk, float(n * 2), *each) for n, each in enumerate(talk.exchanges)]
    (run,) = from_session(SUMMARY, rows_of(*llm, tool_row("pay", {"amount": 100}, "ok", 1.0)))
    (difference,) = run.differences
    assert (difference.what, difference.wire, difference.log) == ("argument amount of pay", 100, 1)


def test_a_refused_tool_call_is_a_failed_one() -> None:
    talk = Talk("chat", "x")
    talk.user("hi")
    (call,) = talk.calls(("pay", {"amount": 1}))
    talk.result(call, "refused")
    talk.says("done")
    llm = [llm_row(talk, float(n * 2), *each) for n, each in enumerate(talk.exchanges)]
    error = {"code": "not_recorded", "message": "nothing on the tape"}
    refused = tool_row("pay", {"amount": 1}, None, 1.0, status=422, error=error, source="refused", effect=None)
    (run,) = from_session(SUMMARY, rows_of(*llm, {k: v for k, v in refused.items() if v is not None}))
    (found,) = calls_of(run)
    assert (found.failed, run.steps[found.result_step or 0].is_error) == (True, True)


@pytest.mark.parametrize("api", APIS)
def test_any_cut_of_a_stream_gives_what_came_and_never_raises(api: str) -> None:
    talk, rows = refund(api, "anna", streamed=True)
    request, stream = talk.exchanges[0]
    for cut in itertools.chain(range(0, len(stream), 37), [len(stream)]):
        (run,) = from_session(SUMMARY, rows_of(llm_row(talk, 0.0, request, stream[:cut], cut=True), *rows[-3:]))
        assert any("broke off" in note for note in run.notes)
