"""Synthetic traffic of an agent with a model and tools, in the form of each of the three APIs, streamed or not."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.trace import SessionSummary, TraceRow

APIS = ("chat", "responses", "chained", "messages")
"""`chained` is the Responses API with `previous_response_id` instead of repeated items."""
TOOLS = ("look_up", "refund")


@dataclass(frozen=True)
class Call:
    """A call that the model asks for, and what the tool answers."""

    name: str
    arguments: dict[str, Any]
    result: Any
    sent: dict[str, Any] | None = None
    """What goes to the tool, where that is not the arguments."""


@dataclass
class Conversation:
    """One agent with its own history. `turns`: a user's text, then the agent's rounds: calls, or its words."""

    api: str
    name: str
    turns: Sequence[tuple[str, Sequence[Sequence[Call] | str]]]
    stream: bool = False
    usage: bool = True
    system: str | None = "Be kind."
    traffic: bool = True
    """False: the tools run inside the agent, and no wire shows them."""
    history: list[dict[str, Any]] = field(default_factory=list)
    fresh: list[dict[str, Any]] = field(default_factory=list)
    ids: Iterator[int] = field(default_factory=itertools.count)
    previous: str = ""

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of the trace, without index and times."""
        for text, rounds in self.turns:
            self._add({"who": "user", "text": text})
            for each in rounds:
                words = each if isinstance(each, str) else None
                calls = [] if isinstance(each, str) else [(f"{self.name}-{next(self.ids)}", call) for call in each]
                yield self._ask(words, calls)
                yield from (self._tool_row(call) for _, call in calls if self.traffic)
                for identity, call in calls:
                    self._add({"who": "tool", "id": identity, "text": json.dumps(call.result, ensure_ascii=False)})

    def _add(self, item: dict[str, Any]) -> None:
        self.history.append(item)
        self.fresh.append(item)

    def _ask(self, words: str | None, calls: list[tuple[str, Call]]) -> dict[str, Any]:
        request = _REQUESTS[self.api](self)
        response_id = f"resp-{self.name}-{next(self.ids)}"
        answer = _ANSWERS[self.api](words, calls, response_id, self.usage)
        self.previous, self.fresh = response_id, []
        self.history.append({"who": "agent", "text": words, "calls": calls})
        result = _STREAMS[self.api](answer) if self.stream else answer
        return row(service="llm", target=_PATHS[self.api], arguments=request, result=result, effect="pure")

    def _tool_row(self, call: Call) -> dict[str, Any]:
        sent = call.arguments if call.sent is None else call.sent
        return row(service="desk", target=f"/{call.name}", tool=call.name, arguments=sent, result=call.result)


def row(**fields: Any) -> dict[str, Any]:
    """A row of a trace that replay answered with 200."""
    return {"session": "s", "source": "replay", "method": "POST", "status": 200, "effect": "read", **fields}


def numbered(rows: Sequence[Mapping[str, Any]]) -> list[TraceRow]:
    """Rows in order, one every second, each taking half of one."""
    return [
        TraceRow.model_validate({"index": place, "started": float(place), "seconds": 0.5, **each})
        for place, each in enumerate(rows)
    ]


def interleaved(conversations: Sequence[Conversation], order: Sequence[int]) -> list[TraceRow]:
    """Rows of several conversations, whose next row comes by `order` (then by turns)."""
    open_ones = [conversation.rows() for conversation in conversations]
    found: list[dict[str, Any]] = []
    for pick in [*order, *(list(range(len(open_ones))) * 100)]:
        each = next(open_ones[pick % len(open_ones)], None)
        found += [each] if each else []
    return numbered(found)


def summary(**fields: Any) -> SessionSummary:
    """A summary of session `s`."""
    known = {
        "session": "s",
        "cassette": "c",
        "set_up": "code",
        "llm": "replayed",
        "modes": {},
        "started_at": "2026-01-01T00:00:00Z",
        "seconds": 9.0,
        "command_status": 0,
    }
    return SessionSummary.model_validate({**known, **fields})


def _tools(api: str) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {}}
    if api == "chat":
        return [{"type": "function", "function": {"name": name, "parameters": schema}} for name in TOOLS]
    key = "input_schema" if api == "messages" else "parameters"
    return [{"type": "function", "name": name, key: schema} for name in TOOLS]


def _chat_request(each: Conversation) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": each.system}] if each.system else []
    for item in each.history:
        if item["who"] == "user":
            messages.append({"role": "user", "content": item["text"]})
        elif item["who"] == "tool":
            messages.append({"role": "tool", "tool_call_id": item["id"], "content": item["text"]})
        else:
            messages.append(_chat_message(item["text"], item["calls"]))
    return {"model": "m", "messages": messages, "tools": _tools("chat"), "stream": each.stream}


def _chat_message(words: str | None, calls: list[tuple[str, Call]]) -> dict[str, Any]:
    told = [
        {"id": identity, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
        for identity, call in calls
    ]
    return {"role": "assistant", "content": words, **({"tool_calls": told} if told else {})}


def _chat_answer(words: str | None, calls: list[tuple[str, Call]], identity: str, usage: bool) -> dict[str, Any]:
    spent = {"usage": {"prompt_tokens": 10, "completion_tokens": 2}} if usage else {}
    finish = "tool_calls" if calls else "stop"
    return {"id": identity, "choices": [{"message": _chat_message(words, calls), "finish_reason": finish}], **spent}


def _chat_stream(answer: dict[str, Any]) -> str:
    message = answer["choices"][0]["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    deltas += [{"content": letter} for letter in message["content"] or ""]
    for place, call in enumerate(message.get("tool_calls", [])):
        function = call["function"]
        deltas.append({"tool_calls": [{"index": place, "id": call["id"], "function": {"name": function["name"]}}]})
        deltas += [{"tool_calls": [{"index": place, "function": {"arguments": a}}]} for a in function["arguments"]]
    chunk = {"id": answer["id"], "object": "chat.completion.chunk"}
    events: list[dict[str, Any]] = [{**chunk, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if "usage" in answer:
        events.append({**chunk, "choices": [], "usage": answer["usage"]})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def _items(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for item in history:
        if item["who"] == "user":
            items.append({"role": "user", "content": [{"type": "input_text", "text": item["text"]}]})
        elif item["who"] == "tool":
            items.append({"type": "function_call_output", "call_id": item["id"], "output": item["text"]})
        else:
            items += _output(item["text"], item["calls"])
    return items


def _output(words: str | None, calls: list[tuple[str, Call]]) -> list[dict[str, Any]]:
    said = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}]
    asked = [
        {"type": "function_call", "call_id": identity, "name": call.name, "arguments": json.dumps(call.arguments)}
        for identity, call in calls
    ]
    return [*(said if words else []), *asked]


def _responses_request(each: Conversation) -> dict[str, Any]:
    chained = each.api == "chained" and each.previous
    request = {"model": "m", "input": _items(each.fresh if chained else each.history), "tools": _tools("responses")}
    system = {"instructions": each.system} if each.system else {}
    return {**request, **system, **({"previous_response_id": each.previous} if chained else {})}


def _responses_answer(words: str | None, calls: list[tuple[str, Call]], identity: str, usage: bool) -> dict[str, Any]:
    spent = {"usage": {"input_tokens": 10, "output_tokens": 2}} if usage else {}
    return {"id": identity, "object": "response", "output": _output(words, calls), **spent}


def _responses_stream(answer: dict[str, Any]) -> str:
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {**answer, "output": []}}]
    for place, item in enumerate(answer["output"]):
        events.append({"type": "response.output_item.added", "output_index": place, "item": {**item, "arguments": ""}})
        events.append({"type": "response.output_item.done", "output_index": place, "item": item})
    events.append({"type": "response.completed", "response": {**answer, "output": []}})
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def _messages_request(each: Conversation) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for item in each.history:
        if item["who"] == "agent":
            messages.append({"role": "assistant", "content": _blocks(item["text"], item["calls"])})
            continue
        block: dict[str, Any] = {"type": "text", "text": item["text"]}
        if item["who"] == "tool":
            block = {"type": "tool_result", "tool_use_id": item["id"], "content": item["text"]}
        if messages and messages[-1]["role"] == "user":
            messages[-1]["content"].append(block)
        else:
            messages.append({"role": "user", "content": [block]})
    system = {"system": each.system} if each.system else {}
    return {"model": "m", "max_tokens": 9, "messages": messages, "tools": _tools("messages"), **system}


def _blocks(words: str | None, calls: list[tuple[str, Call]]) -> list[dict[str, Any]]:
    used = [
        {"type": "tool_use", "id": identity, "name": call.name, "input": call.arguments} for identity, call in calls
    ]
    return [*([{"type": "text", "text": words}] if words else []), *used]


def _messages_answer(words: str | None, calls: list[tuple[str, Call]], identity: str, usage: bool) -> dict[str, Any]:
    spent = {"usage": {"input_tokens": 4, "cache_read_input_tokens": 6, "output_tokens": 2}} if usage else {}
    return {"id": identity, "type": "message", "role": "assistant", "content": _blocks(words, calls), **spent}


def _messages_stream(answer: dict[str, Any]) -> str:
    usage = answer.get("usage", {})
    begun = {key: value for key, value in usage.items() if key != "output_tokens"}
    start = {**answer, "content": [], **({"usage": begun} if usage else {})}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for place, block in enumerate(answer["content"]):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        events.append({"type": "content_block_start", "index": place, "content_block": empty})
        parts = block.get("text") or json.dumps(block["input"])
        kind = "text" if block["type"] == "text" else "partial_json"
        events += [{"type": "content_block_delta", "index": place, "delta": {kind: part}} for part in parts]
        events.append({"type": "content_block_stop", "index": place})
    last = {"usage": {"output_tokens": usage["output_tokens"]}} if usage else {}
    events.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, **last})
    events.append({"type": "message_stop"})
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


_PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "chained": "/v1/responses",
    "messages": "/v1/messages?beta=true",
}
_REQUESTS = {
    "chat": _chat_request,
    "responses": _responses_request,
    "chained": _responses_request,
    "messages": _messages_request,
}
_ANSWERS = {
    "chat": _chat_answer,
    "responses": _responses_answer,
    "chained": _responses_answer,
    "messages": _messages_answer,
}
_STREAMS = {
    "chat": _chat_stream,
    "responses": _responses_stream,
    "chained": _responses_stream,
    "messages": _messages_stream,
}
