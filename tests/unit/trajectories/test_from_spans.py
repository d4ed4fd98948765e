"""Trajectories from spans: three dialects, structured or as JSON text, histories not doubled, silence not invented."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import TrajectoryError
from proctor.tool_calls import calls_of
from proctor.trajectories.from_spans import from_spans
from proctor.trajectory import Tokens, Trajectory
from tests.property.counts import examples

ASKED = '{"id": "anna"}'
RESULT = '{"paid": true}'


def wrapped(value: Any) -> dict[str, Any]:
    """A value as OTLP JSON wraps it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [wrapped(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": wrapped(each)} for key, each in value.items()]}}
    return {"stringValue": str(value)}


def span(name: str, at: float, facts: dict[str, Any], **more: Any) -> dict[str, Any]:
    attributes = [{"key": key, "value": wrapped(value)} for key, value in facts.items()]
    times = {"startTimeUnixNano": str(int((1000 + at) * 1e9)), "endTimeUnixNano": str(int((1000.5 + at) * 1e9))}
    return {"name": name, "spanId": f"s{at}", "parentSpanId": "p", **times, "attributes": attributes, **more}


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def gen_ai(structured: bool) -> dict[str, Any]:
    """Two model spans, the second with the whole history, and a tool span between."""
    user = {"role": "user", "parts": [{"type": "text", "content": "refund"}]}
    call = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "query", "arguments": ASKED}]}
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "result": RESULT}]}
    said = {"role": "assistant", "parts": [{"type": "text", "content": "paid"}]}
    form = (lambda value: value) if structured else json.dumps
    usage = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5}
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **usage}
    system = {"gen_ai.system_instructions": form([{"type": "text", "content": "be brief"}])}
    first = {**chat, **system, "gen_ai.input.messages": form([user]), "gen_ai.output.messages": form([call])}
    second = {
        **chat,
        **system,
        "gen_ai.input.messages": form([user, call, result]),
        "gen_ai.output.messages": form([said]),
    }
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "query",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": ASKED,
        "gen_ai.tool.call.result": RESULT,
    }
    return export(span("chat m", 0, first), span("execute_tool query", 1, tool), span("chat m", 2, second))


def details() -> dict[str, Any]:
    """The content in an event instead of the span's own attributes."""
    document = gen_ai(structured=False)
    for each in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        moved = [fact for fact in each["attributes"] if "messages" in fact["key"] or "instructions" in fact["key"]]
        each["attributes"] = [fact for fact in each["attributes"] if fact not in moved]
        each["events"] = [{"name": "gen_ai.client.inference.operation.details", "attributes": moved}]
    return document


def old_events() -> dict[str, Any]:
    """One event a message."""
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    tokens = {"gen_ai.usage.prompt_tokens": 10, "gen_ai.usage.completion_tokens": 5}
    calls = [{"id": "c1", "type": "function", "function": {"name": "query", "arguments": ASKED}}]

    def event(name: str, **facts: Any) -> dict[str, Any]:
        return {"name": name, "attributes": [{"key": key, "value": wrapped(value)} for key, value in facts.items()]}

    system, user = event("gen_ai.system.message", content="be brief"), event("gen_ai.user.message", content="refund")
    asked = event("gen_ai.choice", message=json.dumps({"tool_calls": calls}))
    again = event("gen_ai.assistant.message", tool_calls=json.dumps(calls))
    result = event("gen_ai.tool.message", content=RESULT, id="c1")
    said = event("gen_ai.choice", message=json.dumps({"content": "paid"}))
    tool = {"gen_ai.tool.name": "query", "gen_ai.tool.call.id": "c1"}
    return export(
        span("chat", 0, {**chat, **tokens}, events=[system, user, asked]),
        span("execute_tool query", 1, tool),
        span("chat", 2, {**chat, **tokens}, events=[system, user, again, result, said]),
    )


def as_logs() -> dict[str, Any]:
    """The events before, one a message, as log records that name their span."""
    document = old_events()
    records = []
    for each in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for number, event in enumerate(each.pop("events", [])):
            facts = {fact["key"]: fact["value"]["stringValue"] for fact in event["attributes"]}
            body = {
                key: json.loads(value) if key in {"message", "tool_calls"} else value for key, value in facts.items()
            }
            when = {"timeUnixNano": str(1000 + number), "spanId": each["spanId"]}
            records.append({**when, "eventName": event["name"], "body": wrapped(body)})
    return {**document, "resourceLogs": [{"scopeLogs": [{"logRecords": records[::-1]}]}]}


def open_inference() -> dict[str, Any]:
    """Lists flattened by their indexes."""
    head = {
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "be brief",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.contents.0.message_content.text": "refund",
    }

    def call(where: str) -> dict[str, Any]:
        return {
            f"{where}.message.role": "assistant",
            f"{where}.message.tool_calls.0.tool_call.id": "c1",
            f"{where}.message.tool_calls.0.tool_call.function.name": "query",
            f"{where}.message.tool_calls.0.tool_call.function.arguments": ASKED,
        }

    kind = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
    tokens = {"llm.token_count.prompt": 10, "llm.token_count.completion": 5}
    second = {
        "llm.input_messages.3.message.role": "tool",
        "llm.input_messages.3.message.tool_call_id": "c1",
        "llm.input_messages.3.message.content": RESULT,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "paid",
    }
    tool = {"openinference.span.kind": "TOOL", "tool.name": "query", "input.value": ASKED, "output.value": RESULT}
    return export(
        span("llm", 0, {**kind, **tokens, **head, **call("llm.output_messages.0")}),
        span("query", 1, tool),
        span("llm", 2, {**kind, **tokens, **head, **call("llm.input_messages.2"), **second}),
    )


DIALECTS = {
    "structured": gen_ai(structured=True),
    "json text": gen_ai(structured=False),
    "details event": details(),
    "old events": old_events(),
    "old events as logs": as_logs(),
    "openinference": open_inference(),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_tells_the_same_run(dialect: str) -> None:
    (run,) = from_spans(DIALECTS[dialect], "run")
    assert [(step.role, step.text) for step in run.steps] == [
        ("system", "be brief"),
        ("user", "refund"),
        ("assistant", None),
        ("tool", RESULT),
        ("assistant", "paid"),
    ]
    (call,) = calls_of(run)
    assert (call.name, call.arguments, call.result) == ("query", {"id": "anna"}, {"paid": True})
    assert run.steps[3].seconds == pytest.approx(0.5)
    assert run.tokens is not None
    assert (run.tokens.input, run.tokens.output, run.agent.model) == (20, 10, "m")
    assert (run.final_answer, run.notes) == ("paid", ())
    assert run.seconds == pytest.approx(2.5)


def test_spans_one_a_line_and_in_any_order_tell_the_same() -> None:
    spans = DIALECTS["structured"]["resourceSpans"][0]["scopeSpans"][0]["spans"]
    (run,) = from_spans([export(each) for each in reversed(spans)], "run")
    assert run.steps == from_spans(DIALECTS["structured"], "run")[0].steps


MODEL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
SILENT = {**MODEL, "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5}


def spans_in(document: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return found


def test_content_that_was_not_captured_is_said_and_never_an_empty_text() -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query", "gen_ai.tool.call.id": "c1"}
    (run,) = from_spans(export(span("chat m", 0, SILENT), span("query", 1, tool)), "run")
    assert [(step.role, step.text) for step in run.steps] == [("assistant", None), ("tool", None)]
    assert (run.final_answer, run.tokens, run.agent.model) == (None, Tokens(input=10, output=5), "m")
    assert run.notes == ("what was said in 1 of 1 exchanges was not captured",)


def test_the_tokens_of_a_request_without_content_count() -> None:
    document = gen_ai(structured=True)
    spans_in(document).append(span("chat m", 3, SILENT))
    (run,) = from_spans(document, "run")
    assert (run.final_answer, run.tokens) == ("paid", Tokens(input=30, output=15))
    spans_in(document).append(span("chat m", 4, MODEL))
    (run,) = from_spans(document, "run")
    assert run.tokens is None, "what one request cost is not known"


def test_the_tokens_of_a_request_that_may_be_of_several_conversations_are_said_to_be_in_none() -> None:
    document = gen_ai(structured=True)
    other = json.loads(json.dumps(document).replace("refund", "cancel").replace('"c1"', '"c2"'))
    both = [*spans_in(document), *spans_in(other)]
    runs = from_spans(export(*both, span("chat m", 3, SILENT)), "run")
    assert [run.tokens for run in runs] == [Tokens(input=20, output=10)] * 2
    assert "their tokens are in no conversation's sum" in runs[0].notes


def test_a_failed_tool_whose_result_no_model_was_told_is_a_failed_call() -> None:
    first, tool, _ = spans_in(gen_ai(structured=True))
    tool["attributes"] = [fact for fact in tool["attributes"] if "result" not in fact["key"]]
    tool["status"] = {"code": 2, "message": "no such order"}
    for document in (export(first, tool), export(first, tool, span("chat m", 2, SILENT))):
        (run,) = from_spans(document, "run")
        (call,) = calls_of(run)
        assert (call.failed, call.result) == (True, {"error": "no such order"})
        assert run.events == ()


def test_a_tool_that_no_model_asked_for_stays_visible() -> None:
    document = gen_ai(structured=True)
    wipe = {"gen_ai.tool.name": "wipe", "gen_ai.tool.call.id": "c9"}
    spans_in(document).append(span("execute_tool wipe", 1, wipe, status={"code": 2}))
    (run,) = from_spans(document, "run")
    (event,) = run.events
    assert (event.kind, event.by) == ("unattributed_call", "proctor")
    assert (event.data["tool"], event.data["is_error"]) == ("wipe", True)


def test_a_failed_span_is_an_error_and_a_failed_tool_a_failed_call() -> None:
    document = gen_ai(structured=True)
    spans = spans_in(document)
    spans[1]["status"] = {"code": 2}
    root = {**span("invoke_agent", 0, {}), "parentSpanId": "", "status": {"code": "STATUS_CODE_ERROR"}}
    spans.append(root)
    (run,) = from_spans(document, "run")
    assert calls_of(run)[0].failed
    assert run.error == "the span invoke_agent has the status error"
    root["status"]["message"] = "gave up"
    (run,) = from_spans(document, "run")
    assert run.error == "gave up"


@pytest.mark.parametrize("facts", [MODEL, {**MODEL, "gen_ai.input.messages": "[]"}])
def test_a_model_that_failed_last_is_an_error_and_no_missing_content(facts: dict[str, Any]) -> None:
    document = gen_ai(structured=True)
    spans_in(document).append(span("chat m", 3, facts, status={"code": 2, "message": "429"}))
    (run,) = from_spans(document, "run")
    assert (run.error, run.final_answer) == ("the model did not answer the last request: 429", None)
    assert run.notes == ("an exchange with the model failed: 429",)


@pytest.mark.parametrize("document", [{}, [], None, export(span("x", 1, {})), {"resourceSpans": 7}])
def test_an_export_without_models_and_tools_is_an_error(document: Any) -> None:
    with pytest.raises(TrajectoryError, match="none is of a model or a tool") as caught:
        from_spans(document, "run")
    assert (caught.value.code, caught.value.exit_code) == ("no_spans", 2)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["chat", "LLM", "TOOL", "{", "[1]", "tool", "c1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "parts", "type", "content", "id", "stringValue", "arrayValue", "values", "key", "value"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)
_KEYS = st.sampled_from(
    [
        "gen_ai.operation.name",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.system_instructions",
        "gen_ai.tool.name",
        "openinference.span.kind",
        "llm.input_messages.0.message.role",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id",
        "gen_ai.event.content",
    ]
)


@given(
    facts=st.dictionaries(_KEYS, _JSON, max_size=6),
    events=st.lists(st.tuples(st.sampled_from(["gen_ai.choice", "gen_ai.user.message"]), _JSON), max_size=3),
    times=st.tuples(_JSON, _JSON),
)
@examples(ci=200, soak=5000)
def test_no_span_makes_the_builder_raise(facts: dict[str, Any], events: list[Any], times: tuple[Any, Any]) -> None:
    told = {"name": "x", "attributes": facts, "startTimeUnixNano": times[0], "endTimeUnixNano": times[1]}
    told["events"] = [{"name": name, "attributes": value} for name, value in events]
    model = {"name": "chat", "spanId": "m", "attributes": {"gen_ai.operation.name": "chat"}}
    records = [{"spanId": "m", "eventName": name, "body": body, "timeUnixNano": times[0]} for name, body in events]
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}
    runs = from_spans([told, model, logs, *events], "run")
    assert all(isinstance(run, Trajectory) for run in runs)
    assert runs
