"""D3: the second call of a conversation, with the same last user message, got the first one's tool call again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web
from openai import AsyncOpenAI

from tests.integration.cases.support import Asked, recording, replayed, replaying, told
from tests.support import Project, Running

QUESTION = {"role": "user", "content": "Where is order A1?"}


def call(identity: str, arguments: str = '{"order": "A1"}') -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": "query_order", "arguments": arguments}}


def result(identity: str, content: str = '{"status": "shipped"}') -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content}


def asking(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def chat(*messages: dict[str, Any], **more: Any) -> Asked:
    return Asked("/chat/completions", told({"model": "m", "messages": [QUESTION, *messages], **more}))


def responses(*items: dict[str, Any]) -> Asked:
    return Asked("/responses", told({"model": "m", "input": [QUESTION, *items]}))


def anthropic(*messages: dict[str, Any]) -> Asked:
    return Asked("/v1/messages", told({"model": "m", "max_tokens": 9, "messages": [QUESTION, *messages]}))


REPEATED = {"role": "user", "content": QUESTION["content"]}
FUNCTION = {"type": "function_call", "call_id": "c1", "name": "query_order", "arguments": "{}"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "query_order", "input": {"order": "A1"}}
CONVERSATIONS: dict[str, tuple[str, list[Asked]]] = {
    "chat": ("openai", [chat(), chat(asking(call("c1")), result("c1"))]),
    "streamed chat": ("openai", [chat(stream=True), chat(asking(call("c1")), result("c1"), stream=True)]),
    "the same tool three times with the same result": (
        "openai",
        [
            chat(*(m for n in range(turn) for m in (asking(call(f"c{n}")), result(f"c{n}", "pending"))))
            for turn in range(4)
        ],
    ),
    "two calls at once, then one more": (
        "openai",
        [
            chat(),
            chat(asking(call("c1"), call("c2", '{"order": "B2"}')), result("c1"), result("c2", "lost")),
            chat(
                asking(call("c1"), call("c2", '{"order": "B2"}')),
                result("c1"),
                result("c2", "lost"),
                asking(call("c3", '{"order": "C3"}')),
                result("c3"),
            ),
        ],
    ),
    "the user repeats the question": (
        "openai",
        [chat(), chat({"role": "assistant", "content": "Which one?"}, REPEATED)],
    ),
    "the tool said otherwise": (
        "openai",
        [chat(), *(chat(asking(call("c1")), result("c1", said)) for said in ("shipped", "lost", ""))],
    ),
    "responses": (
        "openai",
        [responses(), responses(FUNCTION, {"type": "function_call_output", "call_id": "c1", "output": "shipped"})],
    ),
    "anthropic": (
        "anthropic",
        [
            anthropic(),
            anthropic(
                {"role": "assistant", "content": [USE]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "shipped"}]},
            ),
        ],
    ),
}


@pytest.mark.req(173)
@pytest.mark.parametrize("kind", CONVERSATIONS)
async def test_each_turn_gets_its_own_answer_in_any_order(project: Project, kind: str) -> None:
    preset, turns = CONVERSATIONS[kind]
    rules = f'preset = "{preset}"\n'
    got = await replayed(project, turns, [*turns, *reversed(turns)], rules, "llm")
    order = list(range(len(turns)))
    assert (got.numbers, got.status) == ([*order, *reversed(order)], 0)


@pytest.mark.parametrize("kind", CONVERSATIONS)
async def test_a_later_turn_is_never_answered_by_the_recording_of_the_first(project: Project, kind: str) -> None:
    preset, (first, *later) = CONVERSATIONS[kind]
    got = await replayed(project, [first], later, f'preset = "{preset}"\n', "llm")
    assert (got.numbers, got.status) == ([None] * len(later), 3)


async def test_an_agent_that_loops_until_there_is_no_tool_call_ends_as_it_did(project: Project) -> None:
    async def model(request: web.Request) -> web.StreamResponse:
        known = any(message["role"] == "tool" for message in (await request.json())["messages"])
        message = {"role": "assistant", "content": "Shipped."} if known else asking(call("c1"))
        choice = {"index": 0, "message": message, "finish_reason": "stop" if known else "tool_calls"}
        return web.json_response(
            {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        )

    async with recording(project, model, 'preset = "openai"\n', "llm") as run:
        assert await conversation(run) == ["tool", "Shipped."]
    async with replaying(project) as run:
        assert await conversation(run) == ["tool", "Shipped."]


async def conversation(run: Running) -> list[str]:
    """What an agent went through with the openai SDK; it gives up after five calls."""
    went: list[str] = []
    messages: list[Any] = [dict(QUESTION)]
    async with AsyncOpenAI(base_url=run.url("llm"), api_key="sk-of-the-tests-0123456789", max_retries=0) as client:
        while len(went) < 5:
            said = (await client.chat.completions.create(model="m", messages=messages)).choices[0].message
            if not said.tool_calls:
                return [*went, said.content or ""]
            went.append("tool")
            messages += [said.model_dump(exclude_none=True), result(said.tool_calls[0].id, json.dumps({"at": "B"}))]
    return went
