"""The stand-in model: OpenAI's wire form, and planning from the message history."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from aiohttp import ClientSession
from openai import AsyncOpenAI

from examples.order_desk.tools import TOOLS
from examples.order_desk.wishes import new_address, read_wishes

KEY = {"Authorization": "Bearer anything"}
SYSTEM = {"role": "system", "content": "You are talking to customer C-2001."}
ASK = {"role": "user", "content": "Please refund order US2001."}


def answered(number: int, tool: str, arguments: dict[str, Any], content: str) -> list[dict[str, Any]]:
    """A tool call and its result, as an agent puts them into the history."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": content},
    ]


TOKEN = answered(1, "get_token", {"customer_id": "C-2001"}, '{"token": "t"}')
ORDER = answered(2, "query_order", {"order_id": "US2001"}, '{"order_id": "US2001", "refund": null}')
QUOTE = answered(3, "calc_refund", {"order_id": "US2001"}, '{"order_id": "US2001", "amount": "12.34"}')


async def post(url: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    """One request with the key unless other headers are given; checks that the answer names itself."""
    sent = KEY if headers is None else headers
    async with (
        ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", data=body, headers=sent) as answer,
    ):
        assert answer.headers["x-proctor-stand-in"] == "order-desk-rules"
        return answer.status, await answer.json()


async def plan(url: str, *messages: dict[str, Any], **extra: Any) -> dict[str, Any]:
    request = {"model": "gpt-4.1-mini", "messages": [SYSTEM, *messages], "tools": TOOLS, **extra}
    status, body = await post(url, json.dumps(request))
    assert status == 200, body
    message: dict[str, Any] = body["choices"][0]["message"]
    return message


def called(message: dict[str, Any]) -> tuple[str, Any]:
    [call] = message["tool_calls"]
    return call["function"]["name"], json.loads(call["function"]["arguments"])


async def test_answer_says_what_it_is_and_has_fresh_ids(model: str) -> None:
    request = json.dumps({"model": "gpt-4.1-mini", "messages": [SYSTEM, ASK], "tools": TOOLS})
    (_, one), (_, two) = await post(model, request), await post(model, request)
    for body in (one, two):
        assert (body["object"], body["model"], body["usage"]) == ("chat.completion", "stand-in-rules-1", None)
        assert abs(body["created"] - time.time()) < 60
        assert body["choices"][0]["finish_reason"] == "tool_calls"
        assert re.fullmatch(r"chatcmpl-\w+", body["id"])
        assert re.fullmatch(r"call_\w+", body["choices"][0]["message"]["tool_calls"][0]["id"])
    assert one["id"] != two["id"]


async def test_models_are_listed_by_the_sdk(model: str) -> None:
    async with AsyncOpenAI(base_url=f"{model}/v1", api_key="any") as client:
        assert [m.id async for m in client.models.list()] == ["stand-in-rules-1"]


async def test_steps_follow_from_the_answers_in_the_history(model: str) -> None:
    order = {"order_id": "US2001"}
    assert called(await plan(model, ASK)) == ("get_token", {"customer_id": "C-2001"})
    assert called(await plan(model, ASK, *TOKEN)) == ("query_order", order)
    assert called(await plan(model, ASK, *TOKEN, *ORDER)) == ("calc_refund", order)
    message = await plan(model, ASK, *TOKEN, *ORDER, *QUOTE)
    assert called(message) == ("create_refund", {**order, "amount": "12.34"})


async def test_an_order_that_was_refunded_is_not_refunded_again(model: str) -> None:
    refund = {"refund_id": "RF-00AA", "amount": "84.90"}
    content = json.dumps({"order_id": "US2001", "status": "delivered", "currency": "USD", "refund": refund})
    message = await plan(model, ASK, *TOKEN, *answered(2, "query_order", {"order_id": "US2001"}, content))
    assert "84.90 USD was refunded" in message["content"]
    assert "RF-00AA" in message["content"]


REFUSED = {"error": "order_not_found", "message": "No such order."}


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (json.dumps({"status": 404, "body": REFUSED}), "No such order. (order_not_found)"),
        (json.dumps(REFUSED), "No such order. (order_not_found)"),
        ("<html>bad gateway</html>", "could not be understood (status 200)"),
        ("", "could not be understood (status 200)"),
        ('{"status": 503, "body": "busy"}', "could not be understood (status 503)"),
    ],
)
async def test_a_failed_step_ends_the_turn_and_is_reported(model: str, content: str, fact: str) -> None:
    failed = answered(2, "query_order", {"order_id": "US2001"}, content)
    message = await plan(model, ASK, *TOKEN, *failed)
    assert "tool_calls" not in message
    assert message["content"].startswith("I'm sorry, I could not look up the order")
    assert fact in message["content"]


async def test_what_is_missing_is_asked_for(model: str) -> None:
    assert "order number" in (await plan(model, {"role": "user", "content": "I want a refund"}))["content"]
    assert "订单号" in (await plan(model, {"role": "user", "content": "我要退款"}))["content"]
    ask = {"role": "user", "content": "Please change the address of US2004."}
    assert "new delivery address" in (await plan(model, ask))["content"]
    nobody = [{"role": "user", "content": "Refund US2001"}]
    _, body = await post(model, json.dumps({"model": "m", "messages": nobody, "tools": TOOLS}))
    assert "customer number" in body["choices"][0]["message"]["content"]


async def test_only_offered_tools_are_called(model: str) -> None:
    without = [tool for tool in TOOLS if tool["function"]["name"] != "create_refund"]
    message = await plan(model, ASK, *TOKEN, *ORDER, *QUOTE, tools=without)
    assert "create_refund is not available" in message["content"]
    message = await plan(model, ASK, tool_choice="none")
    assert "get_token is not available" in message["content"]


async def test_look_ups_of_several_orders_are_asked_for_at_once_unless_forbidden(model: str) -> None:
    ask = {"role": "user", "content": [{"type": "text", "text": "Where are my orders US2001 and US2002?"}]}
    wanted = [(tool, order) for order in ("US2001", "US2002") for tool in ("query_order", "query_logistics")]
    calls = (await plan(model, ask, *TOKEN))["tool_calls"]
    assert [(c["function"]["name"], json.loads(c["function"]["arguments"])["order_id"]) for c in calls] == wanted
    assert len({call["id"] for call in calls}) == 4
    one = await plan(model, ask, *TOKEN, *ORDER, parallel_tool_calls=False)
    assert called(one) == ("query_logistics", {"order_id": "US2001"})


async def test_calls_that_need_an_answer_wait_for_it(model: str) -> None:
    ask = {"role": "user", "content": "Please refund the orders US2001 and US2002."}
    looked_up = (await plan(model, ask, *TOKEN))["tool_calls"]
    assert [call["function"]["name"] for call in looked_up] == ["query_order", "query_order"]
    other = answered(4, "query_order", {"order_id": "US2002"}, '{"order_id": "US2002", "refund": null}')
    assert called(await plan(model, ask, *TOKEN, *ORDER, *other)) == ("calc_refund", {"order_id": "US2001"})


@pytest.mark.parametrize(
    ("request_text", "wishes"),
    [
        ("我要退款", ("refund",)),
        ("能退多少钱？", ("amount",)),
        ("I want my money back", ("refund",)),
        ("How much would the refund be?", ("amount",)),
        ("帮我把地址改一下，再看看物流", ("address", "logistics")),
        ("Where is my parcel?", ("logistics",)),
        ("The lamp arrived broken, can I return it?", ("refund",)),
        ("订单 CN1002 是什么状态", ("order",)),
        ("谢谢", ()),
    ],
)
def test_wishes(request_text: str, wishes: tuple[str, ...]) -> None:
    assert read_wishes(request_text) == wishes


@pytest.mark.parametrize(
    ("request_text", "address"),
    [
        ("地址改成北京市朝阳区建国路 1 号，谢谢", "北京市朝阳区建国路 1 号"),
        ("Change the address to 5 Oak St. Apt 2, Salem, OR 9730, please.", "5 Oak St. Apt 2, Salem, OR 9730"),
        ("Wrong address! Please send it to 9 Elm Road, Troy, NY 12180", "9 Elm Road, Troy, NY 12180"),
        ("Please change the address.", None),
    ],
)
def test_new_address(request_text: str, address: str | None) -> None:
    assert new_address(request_text) == address


def body_with(*messages: Any) -> bytes:
    return json.dumps({"model": "m", "messages": messages}).encode()


BAD_CALL = {"role": "assistant", "tool_calls": [{"id": 1, "function": {"name": "x", "arguments": "{}"}}]}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", None),
        (b"[]", None),
        (b'{"messages": []}', "model"),
        (b'{"model": "m"}', "messages"),
        (b'{"model": "m", "messages": []}', "messages"),
        (body_with({"role": "robot"}), "messages[0].role"),
        (body_with({"role": "user", "content": 1}), "messages[0].content"),
        (body_with({"role": "tool", "tool_call_id": "a", "content": ""}), "messages[0].tool_call_id"),
        (body_with(TOKEN[0]), "messages[0]"),
        (body_with(TOKEN[0], ASK), "messages[1]"),
        (body_with(BAD_CALL), "messages[0].tool_calls[0]"),
        (body_with({"role": "assistant", "tool_calls": {}}), "messages[0].tool_calls"),
        (b'{"model": "m", "messages": [{"role": "user"}], "tools": [{}]}', "tools[0].function.name"),
        (b'{"model": "m", "messages": [{"role": "user"}], "stream": "yes"}', "stream"),
    ],
)
async def test_malformed_requests_get_openais_error_shape(model: str, body: bytes, param: str | None) -> None:
    status, answer = await post(model, body)
    assert status == 400
    assert set(answer["error"]) == {"message", "type", "param", "code"}
    assert (answer["error"]["type"], answer["error"]["param"]) == ("invalid_request_error", param)


async def test_no_key_and_unknown_path(model: str) -> None:
    for headers in ({}, {"Authorization": "Bearer"}, {"Authorization": "Basic abc"}):
        status, answer = await post(model, body_with(ASK), headers)
        assert (status, answer["error"]["code"]) == (401, "missing_api_key")
    async with ClientSession() as session, session.get(f"{model}/v1/unknown") as missing:
        assert missing.status == 404
        assert (await missing.json())["error"]["type"] == "invalid_request_error"


async def test_stream_is_read_by_the_sdk(model: str) -> None:
    async with AsyncOpenAI(base_url=f"{model}/v1", api_key="any") as client:
        stream = await client.chat.completions.create(
            model="gpt-4.1-mini", messages=[{"role": "user", "content": "谢谢你"}], stream=True
        )
        chunks = [chunk async for chunk in stream]
    assert {(chunk.id, chunk.model, chunk.object) for chunk in chunks} == {
        (chunks[0].id, "stand-in-rules-1", "chat.completion.chunk")
    }
    assert len([c for c in chunks if c.choices[0].delta.content]) > 1
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert "".join(c.choices[0].delta.content or "" for c in chunks).startswith("好的。")
