"""The stand-in model's other two wire forms: OpenAI Responses and Anthropic messages, whole and streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import ClientSession
from openai import AsyncOpenAI, BadRequestError

from examples.order_desk.tools import TOOLS

SYSTEM = "You are talking to customer C-2001."
ASK = "Where are my orders US2001 and US2002?"
FUNCTIONS = [tool["function"] for tool in TOOLS]
RESPONSES_TOOLS = [{"type": "function", "strict": True, **function} for function in FUNCTIONS]
ANTHROPIC_TOOLS = [
    {"name": f["name"], "description": f["description"], "input_schema": f["parameters"]} for f in FUNCTIONS
]
FOUR = [(tool, order) for order in ("US2001", "US2002") for tool in ("query_order", "query_logistics")]
TOKEN = '{"token": "t"}'

Json = dict[str, Any]


def responses_of(client: AsyncOpenAI) -> Any:
    """The SDK's resource, whose types know dozens of forms that the stand-in never sends."""
    return client.responses


async def post(url: str, body: Json, headers: dict[str, str]) -> tuple[int, str]:
    async with ClientSession() as session, session.post(url, json=body, headers=headers) as answer:
        assert answer.headers["x-proctor-stand-in"] == "order-desk-rules"
        return answer.status, await answer.text()


async def messages(model: str, said: list[Json], **extra: Any) -> tuple[int, str]:
    body = {"model": "claude", "max_tokens": 100, "system": SYSTEM, "messages": said, "tools": ANTHROPIC_TOOLS, **extra}
    return await post(f"{model}/v1/messages", body, {"x-api-key": "any", "anthropic-version": "2023-06-01"})


def sdk(model: str) -> Any:
    """The real client, untyped: its unions of thirty item types say nothing here."""
    return AsyncOpenAI(base_url=f"{model}/v1", api_key="any", max_retries=0)


def events_of(text: str) -> list[Json]:
    """The data of named events, each of which must carry its own type as name."""
    found = []
    for block in text.strip().split("\n\n"):
        name, data = block.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        found.append(event)
    return found


def token_used() -> list[Json]:
    use = {"type": "tool_use", "id": "toolu_1", "name": "get_token", "input": {"customer_id": "C-2001"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": TOKEN}]}
    return [
        {"role": "user", "content": ASK},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]


def token_called() -> list[Any]:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_token"}
    return [
        {"role": "user", "content": [{"type": "input_text", "text": ASK}]},
        {**call, "arguments": '{"customer_id": "C-2001"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": TOKEN},
    ]


async def test_responses_plans_by_the_same_rules(model: str) -> None:
    async with sdk(model) as client:
        create = responses_of(client).with_raw_response.create
        told = (await create(model="gpt", instructions=SYSTEM, input=ASK, tools=RESPONSES_TOOLS)).parse()
        assert (told.object, told.status, told.model, told.usage) == ("response", "completed", "stand-in-rules-1", None)
        [first] = told.output
        assert first.type == "function_call"
        assert (first.name, json.loads(first.arguments)) == ("get_token", {"customer_id": "C-2001"})
        asked = {"model": "gpt", "instructions": SYSTEM, "input": token_called(), "tools": RESPONSES_TOOLS}
        four = (await responses_of(client).create(**asked)).output
        assert [(c.name, json.loads(c.arguments)["order_id"]) for c in four if c.type == "function_call"] == FOUR
        assert len({c.call_id for c in four if c.type == "function_call"}) == 4
        text = (await responses_of(client).create(**{**asked, "tools": []})).output_text
        assert "query_order is not available" in text


async def test_a_responses_stream_builds_up_what_it_completes_with(model: str) -> None:
    async with sdk(model) as client:
        for tools in (RESPONSES_TOOLS, []):
            stream = await responses_of(client).create(
                model="gpt",
                instructions=SYSTEM,
                input=token_called(),
                tools=tools,
                stream=True,
            )
            events = [event async for event in stream]
            assert [event.sequence_number for event in events] == list(range(len(events)))
            assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
            kinds = ("response.function_call_arguments.delta", "response.output_text.delta")
            streamed: dict[int, str] = {}
            for event in events:
                if event.type in kinds:
                    streamed[event.output_index] = streamed.get(event.output_index, "") + event.delta
            whole = events[-1].response.output
            assert len(whole) == (4 if tools else 1)
            told = [item.arguments if item.type == "function_call" else item.content[0].text for item in whole]
            assert [streamed[index] for index in range(len(whole))] == told


async def test_responses_that_would_need_a_memory_are_refused(model: str) -> None:
    async with sdk(model) as client:
        with pytest.raises(BadRequestError, match="keeps no responses"):
            await responses_of(client).create(model="gpt", input="hi", previous_response_id="resp_1")


async def test_messages_plans_by_the_same_rules(model: str) -> None:
    status, text = await messages(model, [{"role": "user", "content": ASK}])
    told = json.loads(text)
    assert (status, told["type"], told["model"], told["stop_reason"]) == (
        200,
        "message",
        "stand-in-rules-1",
        "tool_use",
    )
    assert [(b["name"], b["input"]) for b in told["content"]] == [("get_token", {"customer_id": "C-2001"})]
    four = json.loads((await messages(model, token_used()))[1])["content"]
    assert [(block["name"], block["input"]["order_id"]) for block in four] == FOUR
    assert len({block["id"] for block in four}) == 4
    single = {"type": "auto", "disable_parallel_tool_use": True}
    assert len(json.loads((await messages(model, token_used(), tool_choice=single))[1])["content"]) == 1


async def test_a_messages_stream_builds_up_the_same_blocks(model: str) -> None:
    for tools, stop in ((ANTHROPIC_TOOLS, "tool_use"), ([], "end_turn")):
        events = events_of((await messages(model, token_used(), tools=tools, stream=True))[1])
        assert (events[0]["type"], events[-1]["type"]) == ("message_start", "message_stop")
        assert events[-2]["delta"]["stop_reason"] == stop
        parts: dict[int, str] = {}
        for event in (event for event in events if event["type"] == "content_block_delta"):
            delta = event["delta"]
            parts[event["index"]] = parts.get(event["index"], "") + delta.get("partial_json", delta.get("text"))
        opened = [event["content_block"] for event in events if event["type"] == "content_block_start"]
        if tools:
            assert [(b["name"], json.loads(parts[i])["order_id"]) for i, b in enumerate(opened)] == FOUR
        else:
            assert "query_order is not available" in parts[0]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"messages": []}, "messages: at least one"),
        ({"max_tokens": None}, "max_tokens"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages[0].role"),
        ({"messages": token_used()[:2]}, "followed by its result. Missing: toolu_1"),
        ({"messages": [token_used()[2]]}, "must answer a tool call"),
        ({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "name": "x"}]}]}, "tool_use.input"),
        ({"tools": [{}]}, "tools[0].name"),
    ],
)
async def test_malformed_messages_get_anthropics_error_shape(model: str, body: Json, words: str) -> None:
    status, text = await messages(model, **{"said": body.pop("messages", [{"role": "user", "content": ASK}]), **body})
    told = json.loads(text)
    assert (status, told["type"], told["error"]["type"]) == (400, "error", "invalid_request_error")
    assert words in told["error"]["message"]


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([], "at least one item"),
        ([{"type": "computer_call"}], "no input of type computer_call"),
        (token_called()[:2], "followed by its result. Missing: call_1"),
        (token_called()[2:], "must answer a tool call"),
        ([{"role": "robot", "content": "x"}], "'input[0].role' must be"),
    ],
)
async def test_malformed_responses_input_gets_openais_error_shape(model: str, items: Any, words: str) -> None:
    status, text = await post(
        f"{model}/v1/responses", {"model": "gpt", "input": items}, {"Authorization": "Bearer any"}
    )
    error = json.loads(text)["error"]
    assert (status, error["type"]) == (400, "invalid_request_error")
    assert words in error["message"]


async def test_each_api_wants_a_key_in_its_own_way(model: str) -> None:
    for path, kind in (("responses", "invalid_request_error"), ("messages", "authentication_error")):
        status, text = await post(f"{model}/v1/{path}", {}, {})
        assert (status, json.loads(text)["error"]["type"]) == (401, kind)
    assert (await post(f"{model}/v1/responses", {}, {"x-api-key": "any"}))[0] == 401
    assert (await post(f"{model}/v1/messages", {}, {"Authorization": "Bearer any"}))[0] == 400
