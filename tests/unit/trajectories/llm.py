"""A small LLM API in three dialects, streamed and not: what it is asked and what it answers, as bodies on the wire."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

APIS = ("chat", "responses", "anthropic")


@dataclass
class Talk:
    """One agent's conversation with the API, which keeps the history that the agent would."""

    api: str
    system: str
    streamed: bool = False
    prefix: str = "c"
    history: list[Any] = field(default_factory=list)
    exchanges: list[tuple[dict[str, Any], Any]] = field(default_factory=list)
    _count: int = 0

    def user(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def calls(self, *calls: tuple[str, dict[str, Any]]) -> list[str]:
        """The model asks for tools; gives the ids."""
        made = []
        for name, arguments in calls:
            self._count += 1
            made.append((f"{self.prefix}-{self._count}", name, arguments))
        self._exchange(None, made)
        return [call_id for call_id, _, _ in made]

    def says(self, text: str) -> None:
        self._exchange(text, [])

    def result(self, call_id: str, text: str) -> None:
        if self.api == "chat":
            self.history.append({"role": "tool", "tool_call_id": call_id, "content": text})
        elif self.api == "responses":
            self.history.append({"type": "function_call_output", "call_id": call_id, "output": text})
        else:
            block = {"type": "tool_result", "tool_use_id": call_id, "content": [{"type": "text", "text": text}]}
            if self.history and self.history[-1].get("_results"):
                self.history[-1]["content"].append(block)
            else:
                self.history.append({"role": "user", "content": [block], "_results": True})

    def _exchange(self, text: str | None, calls: list[tuple[str, str, dict[str, Any]]]) -> None:
        history = [{key: value for key, value in each.items() if key != "_results"} for each in self.history]
        request, answer, said = getattr(self, f"_{self.api}")(json.loads(json.dumps(history)), text, calls)
        self.exchanges.append((request, stream_of(self.api, answer) if self.streamed else answer))
        self.history.extend(said)

    def _chat(self, history: list[Any], text: str | None, calls: Any) -> tuple[Any, Any, list[Any]]:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in calls
            ]
        request = {"model": "m", "messages": [{"role": "system", "content": self.system}, *history]}
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        return request, {"choices": [{"index": 0, "message": message}], "usage": usage, "model": "m-1"}, [message]

    def _responses(self, history: list[Any], text: str | None, calls: Any) -> tuple[Any, Any, list[Any]]:
        items: list[Any] = [
            {"type": "function_call", "call_id": i, "name": n, "arguments": json.dumps(a)} for i, n, a in calls
        ]
        if text is not None:
            items.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
        request = {"model": "m", "instructions": self.system, "input": history}
        usage = {"input_tokens": 10, "output_tokens": 5}
        return request, {"id": "r", "output": items, "usage": usage, "model": "m-1"}, items

    def _anthropic(self, history: list[Any], text: str | None, calls: Any) -> tuple[Any, Any, list[Any]]:
        blocks: list[Any] = [{"type": "text", "text": text}] if text is not None else []
        blocks += [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls]
        request = {"model": "m", "system": self.system, "messages": history}
        usage = {"input_tokens": 10, "output_tokens": 5}
        answer = {"type": "message", "role": "assistant", "content": blocks, "usage": usage, "model": "m-1"}
        return request, answer, [{"role": "assistant", "content": blocks}]


def stream_of(api: str, answer: dict[str, Any]) -> str:
    """The same answer as an event stream, in many pieces."""
    events = {"chat": _chat_events, "responses": _response_events, "anthropic": _anthropic_events}[api](answer)
    return (
        "".join(f"event: {each.get('type', 'x')}\ndata: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"
    )


def _chat_events(answer: dict[str, Any]) -> list[dict[str, Any]]:
    message = answer["choices"][0]["message"]
    deltas: list[dict[str, Any]] = (
        [{"role": "assistant", "content": ""}] if message["content"] else [{"role": "assistant"}]
    )
    deltas += [{"content": char} for char in message["content"] or ""]
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        deltas.append(
            {
                "tool_calls": [
                    {"index": index, "id": call["id"], "function": {"name": function["name"], "arguments": ""}}
                ]
            }
        )
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": char}}]} for char in function["arguments"]
        ]
    chunks: list[dict[str, Any]] = [{"model": "m-1", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    return [*chunks, {"choices": [], "usage": answer["usage"]}]


def _response_events(answer: dict[str, Any]) -> list[dict[str, Any]]:
    started = {"type": "response.created", "response": {"id": "r", "output": []}}
    return [started, {"type": "response.completed", "response": answer}]


def _anthropic_events(answer: dict[str, Any]) -> list[dict[str, Any]]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**answer, "content": [], "usage": usage}}]
    for index, block in enumerate(answer["content"]):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        kind, text = (
            ("text_delta", block.get("text"))
            if block["type"] == "text"
            else ("input_json_delta", json.dumps(block["input"]))
        )
        field_name = "text" if kind == "text_delta" else "partial_json"
        events += [
            {"type": "content_block_delta", "index": index, "delta": {"type": kind, field_name: char}}
            for char in str(text)
        ]
        events.append({"type": "content_block_stop", "index": index})
    return [*events, {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}}, {"type": "message_stop"}]
