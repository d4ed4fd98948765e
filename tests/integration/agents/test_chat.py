"""An agent that is a model, a prompt and tools: what the model is told, what the tools are sent, and how it fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from proctor.agents import chat as chat_module
from proctor.agents import chat_tools
from proctor.agents.chat import Chat, ChatConversation
from proctor.agents.chat_tools import ToolService
from proctor.agents.contract import AgentFailed, Asked, Settings
from tests.integration.agents.test_chat_model import wanting
from tests.support import serving
from tools.stand_in_judge_server import Answer, Served, in_turn, serving_judge

SECONDS = 20.0
SETTINGS = Settings(model="openai/own", temperature=0)


def asked(turn: int = 0, user: str = "hello", **more: Any) -> Asked:
    return Asked(case="c", trial=0, session="s", turn=turn, user=user, **more)


def tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "description": "A tool.", "parameters": parameters}}


@dataclass(frozen=True)
class Given:
    """An answer of a tool, or of the list of tools."""

    text: str
    status: int = 200


@dataclass
class Service:
    """A server with tools, which keeps what it was sent: tool, arguments, Authorization."""

    tools: Any
    answers: Mapping[str, Given] = field(default_factory=dict)
    got: list[tuple[str, Any, str]] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """What it answers: `break` closes the connection, `wait` answers when all is over."""
        if request.method == "GET":
            given = self.tools if isinstance(self.tools, Given) else Given(json.dumps(self.tools))
            return web.Response(text=given.text, status=given.status)
        name = request.path.rpartition("/")[2]
        self.got.append((name, json.loads(await request.read()), request.headers.get("Authorization", "")))
        if name == "break" and request.transport:
            request.transport.abort()
        if name == "wait":
            await self.over.wait()
        given = self.answers.get(name, Given('{"fine": true}'))
        return web.Response(text=given.text, status=given.status)


@asynccontextmanager
async def chat(
    service: Service, answers: Sequence[Answer], keys: Mapping[str, str] | None = None, prompt: str = "Help."
) -> AsyncIterator[tuple[ChatConversation, Served]]:
    """A chat whose model answers in turn, with the tools of one service."""
    async with serving_judge(in_turn(answers)) as model, serving(service.answer) as url:
        services = (ToolService("desk", url, "POST /tools/{tool}", keys or {}),)
        async with ChatConversation(Chat(prompt, SETTINGS, model.url, "sk-any", services)) as agent:
            yield agent, model


async def test_the_model_sees_the_prompt_the_tools_and_all_that_was_said_before() -> None:
    service = Service([tool("look"), tool("act")])
    answers = [wanting(("look", '{"id": "猫"}'), ("act", "")), Answer("Found it."), Answer("Goodbye.")]
    prompt = "For {account} ({audience}), also {user_id}; not {other}."
    async with chat(service, answers, prompt=prompt) as (agent, model):
        who: dict[str, Any] = {"account": "{user_id}", "audience": "buyer", "user_id": "u-1"}
        first = await agent.ask(asked(0, "Look!", **who), SECONDS)
        second = await agent.ask(asked(1, "Bye.", **who), SECONDS)
    assert (first.reply, second.reply) == ("Found it.", "Goodbye.")
    assert service.got == [("look", {"id": "猫"}, ""), ("act", {}, "")]
    assert all(each.body["tools"] == service.tools for each in model.asked)
    messages = model.asked[-1].body["messages"]
    assert messages[0] == {"role": "system", "content": "For {user_id} (buyer), also u-1; not {other}."}
    assert [each["role"] for each in messages] == [
        *("system", "user", "assistant", "tool", "tool"),
        *("assistant", "user"),
    ]
    assert messages[3] == {"role": "tool", "tool_call_id": "call_0", "content": '{"fine": true}'}
    assert (messages[5]["content"], messages[6]["content"]) == ("Found it.", "Bye.")


TOLD = [
    ("look", "{no json", "arguments_not_json"),
    ("look", "[1]", "arguments_not_object"),
    ("lok", "{}", "There is no tool lok."),
    ("break", "{}", "no_answer"),
    ("page", "{}", "<html>"),
    ("refuse", "{}", '{"status": 409, "body": {"error": "已发货"}}'),
    ("odd", "{}", '{"status": 500, "body": "no json"}'),
]


@pytest.mark.parametrize(("name", "arguments", "told"), TOLD)
async def test_whatever_goes_wrong_with_a_call_is_told_to_the_model(name: str, arguments: str, told: str) -> None:
    pages = {
        "page": Given("<html>"),
        "refuse": Given('{"error": "已发货"}', 409),
        "odd": Given("no json", 500),
    }
    service = Service([tool("look"), tool("break"), *map(tool, pages)], pages)
    async with chat(service, [wanting((name, arguments)), Answer("Sorry.")]) as (agent, model):
        assert (await agent.ask(asked(), SECONDS)).reply == "Sorry."
    assert told in model.asked[1].body["messages"][-1]["content"]
    assert len(service.got) == (1 if arguments == "{}" and name != "lok" else 0)


async def test_a_tool_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_tools, "TOOL_SECONDS", 0.3)
    service = Service([tool("wait")])
    async with chat(service, [wanting(("wait", "{}")), Answer("Sorry.")]) as (agent, model):
        assert (await agent.ask(asked(), SECONDS)).reply == "Sorry."
        service.over.set()
    assert "no_answer" in model.asked[1].body["messages"][-1]["content"]


async def test_a_token_that_a_tool_hands_out_goes_with_what_follows_until_there_is_another() -> None:
    tokens = {
        "login": Given('{"token": "t-1"}'),
        "renew": Given('{"access_token": "t-2"}'),
        "refused": Given('{"token": "t-3"}', 403),
    }
    names = ("look", "login", "look", "renew", "refused", "look")
    service = Service([tool(name) for name in dict.fromkeys(names)], tokens)
    async with chat(service, [wanting(*((name, "{}") for name in names)), Answer("Done.")]) as (agent, _):
        await agent.ask(asked(), SECONDS)
    assert [credential for *_, credential in service.got] == [
        *("", "", "Bearer t-1", "Bearer t-1", "Bearer t-2", "Bearer t-2"),
    ]


@pytest.mark.parametrize(
    ("keys", "who", "sent"),
    [
        ({"alice": "k-a", "buyer": "k-b"}, {"account": "alice", "audience": "buyer"}, "Bearer k-a"),
        ({"alice": "k-a", "buyer": "k-b"}, {"account": "carol", "audience": "buyer"}, "Bearer k-b"),
        ({"alice": "k-a", "buyer": "k-b"}, {}, ""),
        ({"alice": "k-a"}, {"account": "carol"}, "Bearer k-a"),
    ],
)
async def test_a_service_with_identities_is_sent_the_key_of_the_account_s_and_no_token(
    keys: dict[str, str], who: dict[str, Any], sent: str
) -> None:
    service = Service([tool("login"), tool("look")], {"login": Given('{"token": "t-1"}')})
    answers = [wanting(("login", "{}"), ("look", "{}")), Answer("Done.")]
    async with chat(service, answers, keys) as (agent, _):
        await agent.ask(asked(**who), SECONDS)
    assert [credential for *_, credential in service.got] == [sent, sent]


@pytest.mark.parametrize(
    ("tools", "told"),
    [
        (Given("", 404), "desk gives no list of its tools: GET /tools answered 404"),
        (Given("<html>"), "not as OpenAI's API takes tools"),
        ([{"name": "look"}], "not as OpenAI's API takes tools"),
        ([tool("look"), tool("look")], "both desk and desk have a tool look"),
    ],
)
async def test_a_service_without_a_sound_list_of_tools_fails_before_the_model_is_asked(tools: Any, told: str) -> None:
    async with chat(Service(tools), [Answer("Hello.")]) as (agent, model):
        with pytest.raises(AgentFailed) as caught:
            await agent.ask(asked(), SECONDS)
    assert (caught.value.kind, told in caught.value.message, model.asked) == ("agent_unstartable", True, [])


@pytest.mark.parametrize(
    ("answer", "kind", "told"),
    [
        (Answer(status=401, error={"message": "Incorrect API key"}), "model_failed", "credentials: openai/own: 401"),
        (Answer("half", finish="length"), "model_failed", "cut_off: "),
        (wanting(("look", "{}")), "agent_ended", "3 model calls in one turn"),
        (Answer(hang=True), "agent_timeout", "no answer within 0.5 s"),
    ],
)
async def test_how_it_fails_has_a_name(monkeypatch: pytest.MonkeyPatch, answer: Answer, kind: str, told: str) -> None:
    monkeypatch.setattr(chat_module, "MOST_CALLS", 3)
    async with chat(Service([tool("look")]), [answer]) as (agent, _):
        with pytest.raises(AgentFailed) as caught:
            await agent.ask(asked(), 0.5 if kind == "agent_timeout" else SECONDS)
    assert (caught.value.kind, told in caught.value.message) == (kind, True), caught.value.message
