"""The agent end to end: a subprocess against the real API and the stand-in model, and its errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web

from examples.order_desk.agent import CHANNEL, MAX_MODEL_CALLS
from tests.integration.order_desk.support import (
    EXAMPLE,
    Answer,
    Desk,
    Finished,
    Hop,
    agent_variables,
    run_agent,
    spoken,
)
from tests.support import serving_app

LOOK_UP = ["get_token", "query_order"]
EXPECTED = {
    "refund_zh": [*LOOK_UP, "calc_refund", "create_refund", "query_order"],
    "address_zh": [*LOOK_UP, "change_address", "query_logistics"],
    "refund_en": [*LOOK_UP, "calc_refund", "query_order", "calc_refund", "create_refund", "query_order"],
    "logistics_en": [*LOOK_UP, "query_logistics", "query_order", "change_address", "query_logistics"],
}


async def converse(name: str, orders: str, llm: str) -> Finished:
    return await run_agent(agent_variables(orders, llm), "--conversation", name, "--json")


@pytest.mark.parametrize("name", EXPECTED)
async def test_conversation_end_to_end(desk: Desk, model: str, name: str) -> None:
    outcome = (await converse(name, desk.url, model)).json()
    assert set(outcome) == {"conversation", "tool_calls", "replies"}
    assert outcome["conversation"] == name
    calls = outcome["tool_calls"]
    assert [call["name"] for call in calls] == EXPECTED[name]
    assert all(set(call) == {"name", "arguments", "status", "result"} for call in calls)
    assert all(call["arguments"]["channel"] == CHANNEL for call in calls)
    refused = [call["result"]["error"] for call in calls if call["status"] != 200]
    assert refused == (["already_shipped"] if name == "logistics_en" else [])
    check_replies(name, calls, outcome["replies"])


def check_replies(name: str, calls: list[dict[str, Any]], replies: list[str]) -> None:
    """The texts state what the tools answered, in the user's language."""
    refunds = [call["result"] for call in calls if call["name"] == "create_refund"]
    if name == "refund_zh":
        assert "退款已提交：119.00 CNY" in replies[0]
        assert refunds[0]["refund_id"] in replies[0]
        assert refunds[0]["refund_id"] in replies[1]
        assert "119.00" in replies[1]
    elif name == "address_zh":
        assert "收货地址已改为：浙江省杭州市西湖区文三路 478 号华星大厦 1203 室。" in replies[0]
        assert "尚未发货" in replies[1]
    elif name == "refund_en":
        assert "would pay 84.90 USD; none was made yet" in replies[0]
        assert "84.90 USD" in replies[1]
        assert refunds[0]["refund_id"] in replies[2]
    else:
        assert "Portland, OR" in replies[0]
        assert "could not change the delivery address" in replies[1]
        assert "already_shipped" in replies[1]
        assert "gives no delivery date" in replies[2]


async def test_transcript_is_readable(desk: Desk, model: str) -> None:
    variables = agent_variables(desk.url + "/", model)
    finished = await run_agent(variables, "--conversation", "logistics_en")
    lines = finished.out.splitlines()
    assert (finished.code, finished.err) == (0, "")
    assert lines[0].startswith("user: Where is my parcel?")
    assert lines[1] == '  tool: get_token {"customer_id": "C-2002", "channel": "chat"} -> 200'
    assert any(line.startswith("  tool: change_address") and line.endswith("-> 409") for line in lines)
    assert lines[-1].startswith("assistant: The parcel is shipped")


@pytest.mark.parametrize("name", EXPECTED)
async def test_same_answers_give_byte_identical_requests(desk: Desk, model: str, name: str) -> None:
    orders, llm = Hop(desk.url), Hop(model)
    async with serving_app(orders.app()) as orders_url, serving_app(llm.app()) as llm_url:
        recorded = await converse(name, orders_url, llm_url)
    orders_again, llm_again = Hop(answers=orders.answers), Hop(answers=llm.answers)
    async with serving_app(orders_again.app()) as orders_url, serving_app(llm_again.app()) as llm_url:
        replayed = await converse(name, orders_url, llm_url)
    assert replayed.json() == recorded.json()
    assert orders_again.requests == orders.requests
    assert llm_again.requests == llm.requests
    assert len(orders.requests) == len(EXPECTED[name])


async def test_stream_and_whole_answer_make_the_same_move(desk: Desk, model: str) -> None:
    """Every model request of every conversation, asked again as a stream."""
    llm = Hop(model)
    async with serving_app(llm.app()) as llm_url:
        for name in EXPECTED:
            (await converse(name, desk.url, llm_url)).json()
    assert len(llm.requests) > 30
    async with ClientSession() as session:
        for request, answer in zip(llm.requests, llm.answers, strict=True):
            whole = json.loads(answer.body)["choices"][0]
            assert await streamed(session, model, request.json()) == (
                *move(whole["message"]),
                whole["finish_reason"],
            )


def move(message: dict[str, Any]) -> tuple[str, str, str]:
    functions = [call["function"] for call in message.get("tool_calls", [])]
    names = "".join(function.get("name", "") for function in functions)
    return message.get("content") or "", names, "".join(function["arguments"] for function in functions)


async def streamed(session: ClientSession, url: str, body: dict[str, Any]) -> tuple[str, str, str, str]:
    """Text, tool name, arguments and finish reason, put together from the events."""
    headers = {"Authorization": "Bearer any"}
    async with session.post(f"{url}/v1/chat/completions", json={**body, "stream": True}, headers=headers) as answer:
        assert answer.content_type == "text/event-stream"
        assert answer.headers["x-proctor-stand-in"] == "order-desk-rules"
        events = (await answer.text()).split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    choices = [json.loads(event.removeprefix("data: "))["choices"][0] for event in events[:-2]]
    moves = [move(choice["delta"]) for choice in choices]
    text, name, arguments = ("".join(part) for part in zip(*moves, strict=True))
    return text, name, arguments, choices[-1]["finish_reason"]


async def test_requests_carry_model_temperature_tools_and_token(desk: Desk, model: str) -> None:
    orders, llm = Hop(desk.url), Hop(model)
    async with serving_app(orders.app()) as orders_url, serving_app(llm.app()) as llm_url:
        variables = {**agent_variables(orders_url, llm_url), "ORDER_DESK_MODEL": "other-model"}
        await run_agent(variables, "--conversation", "address_zh")
    first = llm.requests[0].json()
    assert (first["model"], first["temperature"], len(first["tools"])) == ("other-model", 0, 10)
    token = json.loads(orders.answers[0].body)["token"]
    sent = [dict(request.headers).get("Authorization") for request in orders.requests]
    assert sent == [None] + [f"Bearer {token}"] * 3
    assert token in llm.requests[1].json()["messages"][-1]["content"]


async def test_several_calls_in_one_message_run_in_order(desk: Desk) -> None:
    calls = [
        ("get_token", '{"customer_id": "C-2002"}'),
        ("query_order", '{"order_id": "US2003"}'),
        ("query_order", '{"order_id": "US2001"}'),
        ("query_order", "{not json"),
    ]
    done = spoken(text="Done.")
    llm = Hop(answers=[spoken(*calls), done, done, done])
    async with serving_app(llm.app()) as llm_url:
        outcome = (await converse("logistics_en", desk.url, llm_url)).json()
    assert [call["status"] for call in outcome["tool_calls"]] == [200, 200, 404, None]
    results = llm.requests[1].json()["messages"][-4:]
    assert [message["tool_call_id"] for message in results] == [f"call_{i}" for i in range(4)]
    refused = json.loads(results[2]["content"])
    assert (refused["status"], refused["body"]["error"]) == (404, "order_not_found")
    assert json.loads(results[3]["content"])["error"] == "arguments_not_object"


async def test_a_tool_answer_that_is_not_json_goes_to_the_model_as_it_is(desk: Desk) -> None:
    call = ("query_order", '{"order_id": "US2003"}')
    done = spoken(text="Done.")
    orders = Hop(answers=[Answer(200, b"<html>", "text/html"), Answer(502, b"", "text/plain")])
    llm = Hop(answers=[spoken(call, call), done, done, done])
    async with serving_app(orders.app()) as orders_url, serving_app(llm.app()) as llm_url:
        outcome = (await converse("logistics_en", orders_url, llm_url)).json()
    results = [(call["status"], call["result"]) for call in outcome["tool_calls"]]
    assert results == [(200, "<html>"), (502, "")]
    contents = [message["content"] for message in llm.requests[1].json()["messages"][-2:]]
    assert contents == ["<html>", '{"status": 502, "body": ""}']


@pytest.mark.parametrize("name", ["ORDERS_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY"])
async def test_a_missing_variable_is_named_with_both_ways_to_set_it(name: str) -> None:
    variables = {**agent_variables("http://127.0.0.1:9", "http://127.0.0.1:9"), name: ""}
    finished = await run_agent(variables, "--conversation", "refund_zh")
    assert (finished.code, finished.out) == (2, "")
    assert f"{name} is not set" in finished.err
    assert "proctor record" in finished.err
    assert f"export {name}=" in finished.err


async def test_an_unknown_conversation_is_a_usage_error() -> None:
    finished = await run_agent({}, "--conversation", "nobody")
    assert finished.code == 2
    assert "refund_zh" in finished.err


def check_failure(finished: Finished, *words: str) -> None:
    assert finished.code == 1
    assert finished.out == ""
    assert "Traceback" not in finished.err
    assert finished.err.count("\n") == 1
    for word in words:
        assert word in finished.err


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(401, b'{"error": {"message": "bad key", "type": "x"}}'), ["model call failed", "bad key"]),
        (Answer(422, b'{"error": {"message": "never recorded"}}'), ["model call failed", "never recorded"]),
        (Answer(200, b"hello", "text/plain"), ["not a chat completion"]),
        (Answer(200, b"{"), ["not a chat completion"]),
        (Answer(200, b""), ["not a chat completion"]),
        (Answer(200, b"[]"), ["not a chat completion"]),
        (Answer(200, b'{"choices": []}'), ["not a chat completion"]),
        (Answer(200, b'{"choices": "none"}'), ["not a chat completion"]),
        (Answer(200, b'{"choices": [{"message": {"tool_calls": [{"id": 1}]}}]}'), ["not a chat completion"]),
    ],
)
async def test_a_bad_model_answer_is_a_readable_error(desk: Desk, answer: Answer, words: list[str]) -> None:
    llm = Hop(answers=[answer])
    async with serving_app(llm.app()) as llm_url:
        check_failure(await converse("refund_zh", desk.url, llm_url), *words)


async def test_no_model_and_no_tools_listening(desk: Desk, model: str) -> None:
    async with serving_app(web.Application()) as closed:
        pass
    check_failure(await converse("refund_zh", desk.url, closed), "the model call failed")
    check_failure(await converse("refund_zh", closed, model), "a tool call failed")
    check_failure(await converse("refund_zh", "no-scheme", model), "a tool call failed")


async def test_a_turn_ends_after_twelve_model_calls(desk: Desk) -> None:
    llm = Hop(answers=[spoken(("query_order", '{"order_id": "CN1001"}'))] * (MAX_MODEL_CALLS + 1))
    async with serving_app(llm.app()) as llm_url:
        check_failure(await converse("refund_zh", desk.url, llm_url), "no final answer after 12 model calls")
    assert len(llm.requests) == MAX_MODEL_CALLS == 12


def test_channel_is_one_line_of_its_own() -> None:
    lines = Path(EXAMPLE / "agent.py").read_text(encoding="utf-8").splitlines()
    assert lines.count('CHANNEL = "chat"') == 1
