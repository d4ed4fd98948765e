"""One call of an LLM, or of a tool, in a form that no longer depends on the API or the tracing that told it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from proctor.interaction import Effect
from proctor.trajectories.from_messages import joined_items
from proctor.trajectories.messages import steps_of, text_of_content
from proctor.trajectories.steps import said
from proctor.trajectories.streams import assembled
from proctor.trajectory import Step, Tokens, ToolSchema


@dataclass(frozen=True)
class LlmExchange:
    """A question to a model and its answer. Times are seconds since the source's begin."""

    index: int
    """In the source, for notes."""
    asked: tuple[Step, ...]
    """What the request holds: the whole history, or only what is new after `previous`."""
    answered: tuple[Step, ...]
    tokens: Tokens | None = None
    tools: tuple[ToolSchema, ...] | None = None
    model: str = ""
    id: str = ""
    previous: str = ""
    """The id of the answer that the request goes on from, where the API keeps the history itself."""
    started: float = 0.0
    seconds: float | None = None
    failed: str = ""
    """Why there is no answer, in words."""
    captured: bool = True
    """False where the source did not keep what was said."""


@dataclass(frozen=True)
class ToolTraffic:
    """A tool's call as it was seen beside the LLM's traffic."""

    index: int
    name: str
    arguments: Any
    result: Any
    call_id: str = ""
    status: int | None = None
    is_error: bool | None = None
    effect: Effect | None = None
    service: str | None = None
    fault: str | None = None
    attempts: int | None = None
    started: float = 0.0
    seconds: float | None = None


@dataclass(frozen=True)
class Seen:
    """All that a source tells of one run."""

    exchanges: tuple[LlmExchange, ...] = ()
    tools: tuple[ToolTraffic, ...] = ()
    notes: tuple[str, ...] = field(default=())


def exchange_of(
    request: Any, answer: Any, *, index: int, started: float = 0.0, seconds: float | None = None, failed: str = ""
) -> LlmExchange | None:
    """The exchange in a request's and an answer's JSON (or event stream); None where it is no known LLM API's."""
    if not isinstance(request, dict):
        return None
    body = assembled(answer) if isinstance(answer, str) else answer
    body = body if isinstance(body, dict) else {}
    history = request.get("messages", request.get("input"))
    if history is None or not (isinstance(history, list) or "input" in request):
        return None
    usage = body.get("usage")
    return LlmExchange(
        index=index,
        asked=(*_instructions(request), *joined_items(history)),
        answered=tuple(_answers(body)),
        tokens=_tokens(usage) if isinstance(usage, dict) else None,
        tools=_tools(request.get("tools")),
        model=_text(body.get("model") or request.get("model")),
        id=_text(body.get("id")),
        previous=_text(request.get("previous_response_id")),
        started=started,
        seconds=seconds,
        failed=failed,
    )


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


def _tokens(usage: dict[str, Any]) -> Tokens | None:
    found = {
        "input": _count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        "output": _count(usage.get("completion_tokens", usage.get("output_tokens"))),
    }
    return Tokens(**found) if any(value is not None for value in found.values()) else None


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
