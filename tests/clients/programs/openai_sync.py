"""The openai SDK: `openai_sync.py chat|responses [--stream]`."""

from __future__ import annotations

import json
import sys
from typing import Any

from desk import MAX_ROUNDS, SYSTEM, TURNS, Desk, schemas
from openai import OpenAI

MODEL = "gpt-4.1-mini"
STREAM = "--stream" in sys.argv


def chat_turn(client: OpenAI, desk: Desk, messages: list[Any]) -> str:
    tools: Any = [{"type": "function", "function": {**schema, "strict": True}} for schema in schemas()]
    for _ in range(MAX_ROUNDS):
        if STREAM:
            with client.chat.completions.stream(model=MODEL, messages=messages, tools=tools) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(model=MODEL, messages=messages, tools=tools).choices[0].message
        if not message.tool_calls:
            messages.append({"role": "assistant", "content": message.content})
            return message.content or ""
        asked = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in message.tool_calls
        ]
        messages.append({"role": "assistant", "tool_calls": asked})
        told = desk.call_all([(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in asked])
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": text}
            for call, text in zip(asked, told, strict=True)
        ]
    raise RuntimeError("no end")


def responses_turn(client: OpenAI, desk: Desk, items: list[Any]) -> str:
    tools: Any = [{"type": "function", "strict": True, **schema} for schema in schemas()]
    for _ in range(MAX_ROUNDS):
        if STREAM:
            with client.responses.stream(model=MODEL, instructions=SYSTEM, input=items, tools=tools) as stream:
                response: Any = stream.get_final_response()
        else:
            response = client.responses.create(model=MODEL, instructions=SYSTEM, input=items, tools=tools)
        calls = [item for item in response.output if item.type == "function_call"]
        items += [item.to_dict(exclude_unset=True) for item in response.output]
        for item in items:
            item.pop("parsed_arguments", None)
        if not calls:
            return response.output_text
        told = desk.call_all([(call.name, json.loads(call.arguments)) for call in calls])
        items += [
            {"type": "function_call_output", "call_id": call.call_id, "output": text}
            for call, text in zip(calls, told, strict=True)
        ]
    raise RuntimeError("no end")


def main() -> None:
    desk = Desk()
    chat = sys.argv[1] == "chat"
    history: list[Any] = [{"role": "system", "content": SYSTEM}] if chat else []
    with OpenAI() as client:
        for turn in TURNS:
            history.append({"role": "user", "content": turn})
            print((chat_turn if chat else responses_turn)(client, desk, history))
    desk.report()


main()
