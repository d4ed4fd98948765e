"""Messages of LLM APIs as steps: OpenAI chat messages, OpenAI response items, Anthropic blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from proctor.trajectories.steps import called, said, text_of
from proctor.trajectory import Step

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "model": "assistant"}
_ITEMS = frozenset({"function_call", "function_call_output", "reasoning"})
_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})


def steps_of(messages: Any) -> list[Step]:
    """Every message as one step or more; what is no message is left out. Never raises."""
    if isinstance(messages, str):
        return [said("user", messages)]
    if not isinstance(messages, list):
        return []
    return [step for message in messages if isinstance(message, dict) for step in _steps(message)]


def word(value: Any) -> str:
    """A text that names something; empty for anything else."""
    return value if isinstance(value, str) else ""


def is_items(messages: Any) -> bool:
    """Whether a list holds response items, of which one answer of the model may be several."""
    found = messages if isinstance(messages, list) else []
    return any(isinstance(each, dict) and word(each.get("type")) in _ITEMS for each in found)


def text_of_content(content: Any) -> str | None:
    """The text of a message's content: text itself, or of its parts; other parts stand as `[image]` and the like."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        return text_of(content)
    texts = [_part_text(part) for part in content]
    return "\n".join(text for text in texts if text is not None) if any(text is not None for text in texts) else None


def _steps(message: dict[str, Any]) -> Iterator[Step]:
    kind, role = word(message.get("type")), word(message.get("role"))
    if kind == "function_call":
        yield said("assistant", None, tool_calls=(_called(message, "arguments", "call_id"),))
    elif kind == "function_call_output":
        yield said("tool", text_of_content(message.get("output")), tool_call_id=_id(message.get("call_id")))
    elif kind == "reasoning":
        yield said("assistant", None, thought=text_of_content(message.get("summary")) or "")
    elif role in {"tool", "function"}:
        facts = {"tool_call_id": _id(message.get("tool_call_id")), "name": _id(message.get("name"))}
        yield said("tool", text_of_content(message.get("content")), **facts)
    elif role in _ROLES:
        yield from _spoken(_ROLES[role], message)


def _spoken(role: str, message: dict[str, Any]) -> Iterator[Step]:
    """A message of system, user or assistant; in Anthropic's, blocks call tools and answer calls."""
    blocks = message.get("content")
    listed = blocks if isinstance(blocks, list) else []
    for block in _of_type(listed, "tool_result"):
        yield said(
            "tool",
            text_of_content(block.get("content")),
            tool_call_id=_id(block.get("tool_use_id")),
            is_error=bool(block["is_error"]) if "is_error" in block else None,
        )
    kept = [part for part in listed if not (isinstance(part, dict) and word(part.get("type")) in _ACTIONS)]
    text = text_of_content(kept if isinstance(blocks, list) else blocks)
    calls = [_called(block, "input", "id") for block in _of_type(listed, "tool_use")]
    asked = message.get("tool_calls")
    calls += [_chat_call(call) for call in asked if isinstance(call, dict)] if isinstance(asked, list) else []
    thoughts = [block.get("thinking") for block in _of_type(listed, "thinking")]
    thoughts += [message.get("reasoning_content"), message.get("reasoning")]
    thought = "\n".join(each for each in thoughts if isinstance(each, str)) or None
    if text is not None or calls or thought or not listed:
        yield said(role, text, tool_calls=tuple(calls), thought=thought, name=_id(message.get("name")))


_ACTIONS = frozenset({"tool_result", "tool_use", "thinking", "redacted_thinking"})


def _of_type(blocks: Iterable[Any], kind: str) -> Iterator[dict[str, Any]]:
    yield from (block for block in blocks if isinstance(block, dict) and block.get("type") == kind)


def _chat_call(call: dict[str, Any]) -> Any:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    return called(inner.get("name"), call.get("id"), inner.get("arguments"))


def _called(block: dict[str, Any], arguments: str, call_id: str) -> Any:
    return called(block.get("name"), block.get(call_id) or block.get("id"), block.get(arguments))


def _part_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    if word(part.get("type")) in _TEXT_PARTS or (part.get("type") is None and "text" in part):
        text = part.get("text", part.get("refusal"))
        return text if isinstance(text, str) else None
    return f"[{str(part.get('type', 'part')).removeprefix('input_').removesuffix('_url')}]"


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
