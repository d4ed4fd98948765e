"""The events of OpenAI's responses API put together. Each item is told three times: begun, in pieces, and whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_ITEMS = frozenset({"response.output_item.added", "response.output_item.done"})


def response_body(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The response as its last event tells it; its items from their own events where that one leaves them out."""
    body: dict[str, Any] = {}
    items: dict[int, dict[str, Any]] = {}
    for event in events:
        kind, told, item = str(event.get("type")), event.get("response"), event.get("item")
        if isinstance(told, dict):
            body = {**body, **told}
        index = event.get("output_index")
        place = index if isinstance(index, int) else len(items)
        if kind in _ITEMS and isinstance(item, dict):
            items[place] = {**item}
        elif place in items and isinstance(event.get("delta"), str):
            _add(items[place], kind, event)
    return {**body, "output": body.get("output") or [items[place] for place in sorted(items)]}


def _add(item: dict[str, Any], kind: str, event: dict[str, Any]) -> None:
    """A piece of an item that may never be told whole."""
    if kind == "response.function_call_arguments.delta":
        item["arguments"] = str(item.get("arguments") or "") + event["delta"]
    elif kind == "response.output_text.delta":
        item["content"] = [{"type": "output_text", "text": _text(item.get("content")) + event["delta"]}]


def _text(content: Any) -> str:
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))
