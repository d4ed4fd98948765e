"""The anthropic SDK: `anthropic_messages.py [--stream]`."""

from __future__ import annotations

import sys
from typing import Any

from anthropic import Anthropic
from desk import MAX_ROUNDS, SYSTEM, TURNS, Desk, schemas

STREAM = "--stream" in sys.argv


def take_turn(client: Anthropic, desk: Desk, messages: list[Any]) -> str:
    tools = [{"name": s["name"], "description": s["description"], "input_schema": s["parameters"]} for s in schemas()]
    asking: Any = {"model": "claude-sonnet-4-5", "max_tokens": 1000, "system": SYSTEM, "tools": tools}
    for _ in range(MAX_ROUNDS):
        if STREAM:
            with client.messages.stream(**asking, messages=messages) as stream:
                message = stream.get_final_message()
        else:
            message = client.messages.create(**asking, messages=messages)
        calls = [block for block in message.content if block.type == "tool_use"]
        text = "".join(block.text for block in message.content if block.type == "text")
        if not calls:
            messages.append({"role": "assistant", "content": text})
            return text
        asked = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.input} for call in calls]
        messages.append({"role": "assistant", "content": asked})
        told = desk.call_all([(call.name, call.input) for call in calls])
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": text}
            for call, text in zip(calls, told, strict=True)
        ]
        messages.append({"role": "user", "content": results})
    raise RuntimeError("no end")


def main() -> None:
    desk = Desk()
    history: list[Any] = []
    with Anthropic() as client:
        for turn in TURNS:
            history.append({"role": "user", "content": turn})
            print(take_turn(client, desk, history))
    desk.report()


main()
