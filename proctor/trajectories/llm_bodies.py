"""A row of a trace as an exchange with a model: OpenAI chat, OpenAI responses and Anthropic, streamed or not."""

from __future__ import annotations

import re
from typing import Any

from proctor.trace import TraceRow
from proctor.trajectories.exchange import LlmExchange
from proctor.trajectories.from_messages import joined_items
from proctor.trajectories.messages import steps_of, text_of_content
from proctor.trajectories.steps import said
from proctor.trajectories.streams import Assembled, assembled
from proctor.trajectory import Step, Tokens, ToolSchema

_LLM_PATH = re.compile(r"/(?:chat/completions|responses|messages)(?=\?|$)")
_INPUT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""Anthropic counts what it wrote to a cache or read from one beside the input; the other APIs count it within."""


def exchange_of(row: TraceRow) -> LlmExchange | None:
    """The exchange that a row tells of; None for a row that is no conversation with a model (tools, embeddings).

    It is known by the form of its answer, else by its path: an answer that is missing or broken has no form.
    """
    request = row.arguments
    history = request.get("messages", request.get("input")) if isinstance(request, dict) else None
    if not isinstance(request, dict) or history is None or not (isinstance(history, list) or "input" in request):
        return None
    stream = assembled(row.result) if isinstance(row.result, str) else None
    answer = stream.body if stream else row.result
    body = answer if isinstance(answer, dict) else {}
    answered = tuple(_answers(body))
    if not answered and not (stream and stream.body) and not _asks_a_model(row.target, request):
        return None
    failed = _failure(row, body) or ("" if answered else _no_answer(row, stream))
    broken = _broken(row, stream) if answered and not failed else ""
    return LlmExchange(
        index=row.index,
        asked=(*_instructions(request), *joined_items(history)),
        answered=() if failed else answered,
        tokens=_tokens(body.get("usage"), whole=not broken),
        tools=_tools(request.get("tools")),
        model=_text(body.get("model") or request.get("model")),
        id=_text(body.get("id")),
        previous=_text(request.get("previous_response_id")),
        started=row.started,
        seconds=row.seconds,
        failed=failed,
        broken=broken,
    )


def _asks_a_model(target: str, request: dict[str, Any]) -> bool:
    """A path that the APIs share with tools (`/messages`) needs a model in its request as well."""
    found = _LLM_PATH.search(target)
    if found is None:
        return False
    if found[0] == "/responses":
        return "input" in request and "model" in request
    return isinstance(request.get("messages"), list) and (found[0] == "/chat/completions" or "model" in request)


def _failure(row: TraceRow, body: dict[str, Any]) -> str:
    if row.error is not None:
        return str(row.error.get("message", "refused"))
    if row.status is None:
        return "no answer"
    if row.status >= 400:
        return f"status {row.status}"
    return _message(body.get("error")) or "the API gave an error" if body.get("status") == "failed" else ""


def _no_answer(row: TraceRow, stream: Assembled | None) -> str:
    broken = _broken(row, stream)
    return f"the answer {broken}" if broken else "the answer is empty or in no known form"


def _broken(row: TraceRow, stream: Assembled | None) -> str:
    if stream is None or stream.whole:
        return "broke off" if row.cut else ""
    why = _message(stream.error)
    return f"broke off: {why}" if why else "broke off"


def _message(error: Any) -> str:
    """What an API's error says."""
    return _text(error.get("message")) if isinstance(error, dict) else _text(error)


def _instructions(request: dict[str, Any]) -> list[Step]:
    """What Anthropic and the responses API take beside the messages."""
    text = text_of_content(request.get("system", request.get("instructions")))
    return [said("system", text)] if text else []


def _answers(body: dict[str, Any]) -> list[Step]:
    if isinstance(body.get("choices"), list):
        messages = [each.get("message") for each in body["choices"][:1] if isinstance(each, dict)]
        return steps_of(messages)
    if isinstance(body.get("output"), list):
        return joined_items(body["output"])
    if body.get("type") == "message":
        return steps_of([{"role": "assistant", "content": body.get("content")}])
    return []


def _tokens(usage: Any, *, whole: bool) -> Tokens | None:
    """The counts of an answer. One that broke off has no count of what it would have cost."""
    if not isinstance(usage, dict):
        return None
    counts = [_count(usage.get(name)) for name in _INPUT_COUNTS]
    inputs = None if counts[0] is None else sum(count or 0 for count in counts)
    chat = _count(usage.get("prompt_tokens"))
    output = _count(usage.get("completion_tokens", usage.get("output_tokens"))) if whole else None
    found = Tokens(input=inputs if chat is None else chat, output=output)
    return None if found == Tokens() else found


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _tools(declared: Any) -> tuple[ToolSchema, ...] | None:
    """The tools that the request offers; None where it does not say."""
    if not isinstance(declared, list):
        return None
    found = []
    for tool in declared:
        inner = tool.get("function", tool) if isinstance(tool, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            schema = inner.get("parameters", inner.get("input_schema"))
            found.append(
                ToolSchema(
                    name=inner["name"],
                    description=_text(inner.get("description")),
                    parameters=schema if isinstance(schema, dict) else None,
                )
            )
    return tuple(found)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
