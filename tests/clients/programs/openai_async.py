"""The openai SDK's async client: `openai_async.py chat|responses [--stream]`."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from desk import MAX_ROUNDS, SYSTEM, TURNS, Desk, schemas
from openai import AsyncOpenAI

MODEL = "gpt-4.1-mini"
STREAM = "--stream" in sys.argv


async def call_all(desk: Desk, calls: list[tuple[str, str]]) -> list[str]:
    return await asyncio.gather(*(asyncio.to_thread(desk.call, name, json.loads(text)) for name, text in calls))


async def chat_turn(client: AsyncOpenAI, desk: Desk, messages: list[Any]) -> str:
    tools: Any = [{"type": "function", "function": schema} for schema in schemas()]
    for _ in range(MAX_ROUNDS):
        calls: dict[int, dict[str, str]] = {}
        content = ""
        if STREAM:
            stream = await client.chat.completions.create(model=MODEL, messages=messages, tools=tools, stream=True)
            async for chunk in stream:
                delta = chunk.choices[0].delta
                content += delta.content or ""
                for part in delta.tool_calls or []:
                    call = calls.setdefault(part.index, {"id": part.id or "", "name": "", "arguments": ""})
                    call["name"] += part.function.name or ""
                    call["arguments"] += part.function.arguments or ""
        else:
            completion = await client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
            content = completion.choices[0].message.content or ""
            for index, each in enumerate(completion.choices[0].message.tool_calls or []):
                calls[index] = {"id": each.id, "name": each.function.name, "arguments": each.function.arguments}
        if not calls:
            messages.append({"role": "assistant", "content": content})
            return content
        asked = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}}
            for c in calls.values()
        ]
        messages.append({"role": "assistant", "tool_calls": asked})
        told = await call_all(desk, [(c["name"], c["arguments"]) for c in calls.values()])
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": text}
            for call, text in zip(asked, told, strict=True)
        ]
    raise RuntimeError("no end")


async def responses_turn(client: AsyncOpenAI, desk: Desk, items: list[Any]) -> str:
    tools: Any = [{"type": "function", "strict": True, **schema} for schema in schemas()]
    for _ in range(MAX_ROUNDS):
        response: Any = await client.responses.create(
            model=MODEL, instructions=SYSTEM, input=items, tools=tools, stream=STREAM
        )
        if STREAM:
            async for event in response:
                if event.type == "response.completed":
                    response = event.response
        calls = [item for item in response.output if item.type == "function_call"]
        items += [item.to_dict() for item in response.output]
        if not calls:
            return response.output_text
        told = await call_all(desk, [(call.name, call.arguments) for call in calls])
        items += [
            {"type": "function_call_output", "call_id": call.call_id, "output": text}
            for call, text in zip(calls, told, strict=True)
        ]
    raise RuntimeError("no end")


async def main() -> None:
    desk = Desk()
    chat = sys.argv[1] == "chat"
    history: list[Any] = [{"role": "system", "content": SYSTEM}] if chat else []
    async with AsyncOpenAI() as client:
        for turn in TURNS:
            history.append({"role": "user", "content": turn})
            print(await (chat_turn if chat else responses_turn)(client, desk, history))
    desk.report()


asyncio.run(main())
