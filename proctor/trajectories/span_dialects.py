"""The dialects in which spans tell of LLM and tool calls: GenAI conventions new and old, and OpenInference."""

from __future__ import annotations

from typing import Any

from proctor.trajectories.exchange import LlmExchange, ToolTraffic
from proctor.trajectories.messages import steps_of, text_of_content, word
from proctor.trajectories.otlp import Span, structured, unflattened
from proctor.trajectories.steps import called, said, text_of
from proctor.trajectory import Step, Tokens

_MODEL_OPERATIONS = frozenset({"chat", "generate_content", "text_completion", "responses"})
_DETAILS = "gen_ai.client.inference.operation.details"
_OLD_ROLES = {"gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.tool.message": "tool"}
_ROLES = {"developer": "system", "model": "assistant", "function": "tool"}


def exchange_in(span: Span) -> LlmExchange | None:
    """The LLM exchange that a span tells of; None for any other span."""
    facts = span.attributes
    kind = facts.get("openinference.span.kind")
    if kind is not None:
        return _open_inference(span) if str(kind).upper() == "LLM" else None
    if str(facts.get("gen_ai.operation.name")) in _MODEL_OPERATIONS or any(
        key.startswith("gen_ai.request.") for key in facts
    ):
        return _gen_ai(span)
    return None


def tool_in(span: Span) -> ToolTraffic | None:
    """The tool call that a span tells of; None for any other span."""
    facts = span.attributes
    if str(facts.get("openinference.span.kind", "")).upper() == "TOOL":
        name, call_id = facts.get("tool.name") or span.name, facts.get("tool_call.id") or facts.get("tool.id")
        arguments, result = facts.get("input.value", facts.get("tool.parameters")), facts.get("output.value")
    elif facts.get("gen_ai.operation.name") == "execute_tool" or "gen_ai.tool.name" in facts:
        name = facts.get("gen_ai.tool.name") or span.name.removeprefix("execute_tool ")
        call_id = facts.get("gen_ai.tool.call.id")
        arguments, result = facts.get("gen_ai.tool.call.arguments"), facts.get("gen_ai.tool.call.result")
    else:
        return None
    return ToolTraffic(
        index=span.index,
        name=str(name),
        call_id=str(call_id or ""),
        arguments=structured(arguments),
        result=structured(result) if result is not None or not span.message else {"error": span.message},
        is_error=True if span.failed else None,
        started=span.started,
        seconds=span.seconds,
    )


def _exchange(span: Span, asked: list[Step], answered: list[Step], tokens: tuple[Any, Any], model: Any) -> LlmExchange:
    why = (span.message or "the span has the status error") if span.failed else ""
    counts = [value if type(value) is int and value >= 0 else None for value in tokens]
    return LlmExchange(
        index=span.index,
        asked=tuple(asked),
        answered=tuple(answered),
        tokens=Tokens(input=counts[0], output=counts[1]) if any(each is not None for each in counts) else None,
        model=str(model or ""),
        id=str(span.attributes.get("gen_ai.response.id") or ""),
        started=span.started,
        seconds=span.seconds,
        failed="" if answered else why,
        broken=f"broke off: {why}" if answered and why else "",
        captured=bool(asked or answered),
    )


def _gen_ai(span: Span) -> LlmExchange:
    facts = dict(span.attributes)
    for name, more in span.events:
        if name == _DETAILS:
            facts.update(more)
    asked = _parts_messages(facts.get("gen_ai.input.messages"))
    answered = _parts_messages(facts.get("gen_ai.output.messages"))
    system = _parts_text(structured(facts.get("gen_ai.system_instructions")))
    if not asked and not answered:
        asked, answered = _old_events(span)
    if system:
        asked = [said("system", system), *asked]
    tokens = (
        facts.get("gen_ai.usage.input_tokens", facts.get("gen_ai.usage.prompt_tokens")),
        facts.get("gen_ai.usage.output_tokens", facts.get("gen_ai.usage.completion_tokens")),
    )
    model = facts.get("gen_ai.response.model") or facts.get("gen_ai.request.model")
    return _exchange(span, asked, answered, tokens, model)


def _parts_messages(value: Any) -> list[Step]:
    """Messages of role and parts."""
    listed = structured(value)
    return (
        [step for message in listed if isinstance(message, dict) for step in _from_parts(message)]
        if isinstance(listed, list)
        else []
    )


def _from_parts(message: dict[str, Any]) -> list[Step]:
    role = _ROLES.get(str(message.get("role")), str(message.get("role")))
    parts = [part for part in message.get("parts") or () if isinstance(part, dict)]
    if role not in {"system", "user", "assistant", "tool"}:
        return []
    results = [part for part in parts if part.get("type") == "tool_call_response"]
    steps = [
        said("tool", text_of(part.get("result", part.get("response"))), tool_call_id=_text(part.get("id")))
        for part in results
    ]
    calls = tuple(
        called(part.get("name"), part.get("id"), part.get("arguments"))
        for part in parts
        if part.get("type") == "tool_call"
    )
    thoughts = [
        part["content"]
        for part in parts
        if word(part.get("type")) in {"reasoning", "thinking"} and _text(part.get("content"))
    ]
    text = _parts_text(parts)
    if text is not None or calls or thoughts or not results:
        steps.append(said(role, text, tool_calls=calls, thought="\n".join(thoughts) or None))
    return steps


def _parts_text(parts: Any) -> str | None:
    if isinstance(parts, str):
        return parts
    texts = [
        part.get("content", part.get("text"))
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict) and part.get("type") == "text"
    ]
    known = [text for text in texts if isinstance(text, str)]
    return "\n".join(known) if known else None


def _old_events(span: Span) -> tuple[list[Step], list[Step]]:
    """One event a message, and `gen_ai.choice` for the answer."""
    asked: list[Step] = []
    answered: list[Step] = []
    for name, facts in span.events:
        body = structured(facts.get("gen_ai.event.content"))
        told = {**facts, **(body if isinstance(body, dict) else {})}
        if name in _OLD_ROLES:
            call_id = _text(told.get("id")) if name.startswith("gen_ai.tool") else None
            asked.append(said(_OLD_ROLES[name], text_of_content(told.get("content")), tool_call_id=call_id))
        elif name in {"gen_ai.assistant.message", "gen_ai.choice"}:
            message = structured(told.get("message", told))
            spoken = message if isinstance(message, dict) else {"content": message}
            calls = structured(spoken.get("tool_calls", told.get("tool_calls")))
            steps = steps_of([{"role": "assistant", "content": spoken.get("content"), "tool_calls": calls}])
            (answered if name == "gen_ai.choice" else asked).extend(steps)
    return asked, answered


def _open_inference(span: Span) -> LlmExchange:
    facts = span.attributes
    asked, answered = (
        [step for flat in unflattened(facts, f"llm.{which}_messages") for step in _flat_message(flat)]
        for which in ("input", "output")
    )
    tokens = facts.get("llm.token_count.prompt"), facts.get("llm.token_count.completion")
    return _exchange(span, asked, answered, tokens, facts.get("llm.model_name"))


def _flat_message(flat: dict[str, Any]) -> list[Step]:
    calls = [
        {
            "id": each.get("tool_call.id"),
            "function": {
                "name": each.get("tool_call.function.name"),
                "arguments": each.get("tool_call.function.arguments"),
            },
        }
        for each in unflattened(flat, "message.tool_calls")
    ]
    parts = [each.get("message_content.text") for each in unflattened(flat, "message.contents")]
    text = flat.get("message.content", "\n".join(part for part in parts if isinstance(part, str)) or None)
    role = str(flat.get("message.role"))
    message = {
        "role": {"model": "assistant", "developer": "system"}.get(role, role),
        "content": text,
        "tool_calls": calls,
        "tool_call_id": flat.get("message.tool_call_id"),
        "name": flat.get("message.name"),
    }
    return steps_of([message])


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
