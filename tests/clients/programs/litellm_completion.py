"""litellm: `litellm_completion.py MODEL [--stream]`, MODEL with its provider."""

from __future__ import annotations

import json
import sys
from typing import Any

import litellm
from desk import MAX_ROUNDS, SYSTEM, TURNS, Desk, schemas


def take_turn(desk: Desk, messages: list[Any]) -> str:
    tools = [{"type": "function", "function": schema} for schema in schemas()]
    for _ in range(MAX_ROUNDS):
        answer: Any = litellm.completion(
            model=sys.argv[1], messages=messages, tools=tools, stream="--stream" in sys.argv
        )
        if "--stream" in sys.argv:
            answer = litellm.stream_chunk_builder(list(answer))
        message = answer.choices[0].message
        if not message.tool_calls:
            messages.append({"role": "assistant", "content": message.content})
            return message.content
        asked = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        told = desk.call_all([(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in asked])
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": text}
            for call, text in zip(asked, told, strict=True)
        ]
    raise RuntimeError("no end")


def main() -> None:
    desk = Desk()
    history: list[Any] = [{"role": "system", "content": SYSTEM}]
    for turn in TURNS:
        history.append({"role": "user", "content": turn})
        print(take_turn(desk, history))
    desk.report()


main()
