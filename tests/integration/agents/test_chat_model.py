"""A live model that is asked for the next message of a chat, through the real litellm, against a server of our own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from proctor.model import chat_model_of
from proctor.model_call import ModelFailure
from proctor.model_chat import ChatCall, ChatReply, WantedCall
from tools.stand_in_judge_server import Answer, Served, in_turn, serving_judge

TOOL = {
    "type": "function",
    "function": {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}},
}
CALL = ChatCall(
    ({"role": "system", "content": "Help."}, {"role": "user", "content": "你好"}),
    (TOOL,),
    {"temperature": 0.0, "top_p": 0.5, "seed": 7},
    timeout=20,
)


async def at_once(seconds: float) -> None:
    """Waits for nothing."""


def wanting(*calls: tuple[str, str], text: str | None = None) -> Answer:
    """A message with calls of tools, as (name, text of the arguments)."""
    functions = [{"name": name, "arguments": arguments} for name, arguments in calls]
    wanted = [{"id": f"call_{at}", "type": "function", "function": each} for at, each in enumerate(functions)]
    message = {"role": "assistant", "content": text, "tool_calls": wanted}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return Answer(raw=json.dumps(body), headers={"Content-Type": "application/json"})


async def asked(answers: Sequence[Answer], call: ChatCall = CALL, name: str = "openai/own") -> tuple[ChatReply, Served]:
    async with serving_judge(in_turn(answers)) as server:
        model = chat_model_of(name, base_url=server.url, api_key="sk-any", wait=at_once)
        return await model.ask(call), server


async def test_messages_tools_and_sampling_go_as_they_are_and_nothing_else() -> None:
    reply, server = await asked([Answer("Hello.")])
    sampling: Mapping[str, Any] = CALL.sampling
    expected = {"model": "own", "messages": list(CALL.messages), "tools": [TOOL], **sampling}
    assert server.asked[0].body == expected
    assert server.asked[0].headers["Authorization"] == "Bearer sk-any"
    assert (reply.text, reply.calls) == ("Hello.", ())
    assert reply.as_message() == {"role": "assistant", "content": "Hello."}


async def test_calls_come_with_their_arguments_as_text_whatever_that_is() -> None:
    reply, _ = await asked([wanting(("look", '{"a": 1}'), ("look", "{no json"), text="One moment.")])
    assert reply.calls == (WantedCall("call_0", "look", '{"a": 1}'), WantedCall("call_1", "look", "{no json"))
    message = reply.as_message()
    assert (message["content"], len(message["tool_calls"])) == ("One moment.", 2)
    assert message["tool_calls"][1]["function"] == {"name": "look", "arguments": "{no json"}


async def test_an_empty_text_is_an_answer_and_a_refusal_is_read_as_the_text_it_is() -> None:
    assert (await asked([Answer(None)]))[0].text == ""
    assert (await asked([Answer(None, refusal="I will not.")]))[0].text == "I will not."


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (Answer("half", finish="length"), "cut_off"),
        (Answer("", finish="content_filter"), "refusal"),
        (Answer(status=401, error={"message": "Incorrect API key"}), "credentials"),
        (Answer(status=400, error={"message": "Unsupported parameter: 'temperature'"}), "bad_request"),
    ],
)
async def test_a_failure_has_its_cause_and_no_setting_is_dropped_to_avoid_it(answer: Answer, cause: str) -> None:
    async with serving_judge(in_turn([answer])) as server:
        with pytest.raises(ModelFailure) as caught:
            await chat_model_of("openai/own", base_url=server.url, api_key="sk-any", wait=at_once).ask(CALL)
    assert (caught.value.cause, len(server.asked)) == (cause, 1)


async def test_a_setting_that_litellm_knows_the_model_not_to_take_fails_by_its_name() -> None:
    with pytest.raises(ModelFailure) as caught:
        await asked([Answer("Hello.")], replace(CALL, sampling={"temperature": 0.3}), name="openai/o3")
    assert (caught.value.cause, "temperature" in caught.value.message) == ("bad_request", True)


async def test_trouble_that_passes_is_tried_again() -> None:
    reply, server = await asked([Answer(status=500, error={"message": "boom"}), Answer("Hello.")])
    assert ([attempt.ended for attempt in reply.attempts], len(server.asked)) == (["unreachable", "ok"], 2)
    assert server.asked[0].body == server.asked[1].body
