"""OTLP JSON: spans with plain attributes, whatever way their values were wrapped. Never raises for what it is given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Span:
    """One span. Times are seconds since 1970; 0 where the source has none."""

    index: int
    name: str
    id: str
    parent: str
    started: float
    seconds: float | None
    failed: bool
    attributes: dict[str, Any]
    events: tuple[tuple[str, dict[str, Any]], ...]
    """Name and attributes of each event, in order."""


def spans_of(document: Any) -> tuple[Span, ...]:
    """Every span of an export (one object, or a list of them), in order of time."""
    found = [span for export in _dicts(document if isinstance(document, list) else [document]) for span in _in(export)]
    spans = [_span(index, each) for index, each in enumerate(found)]
    return tuple(sorted(spans, key=lambda span: (span.started, span.index)))


def structured(value: Any) -> Any:
    """A value that may be JSON in a text."""
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def unflattened(attributes: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    """`PREFIX.0.a.b` and the like as a list of nested objects, in order of their numbers."""
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(f"{prefix}."):
            number, _, rest = key[len(prefix) + 1 :].partition(".")
            if number.isascii() and number.isdigit() and rest:
                found.setdefault(int(number), {})[rest] = value
    return [found[number] for number in sorted(found)]


def _in(export: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Spans below `resourceSpans` and `scopeSpans`, or the object itself where it is one."""
    if "resourceSpans" not in export and "resource_spans" not in export:
        yield from [export] if "name" in export else []
        return
    for resource in _dicts(export.get("resourceSpans", export.get("resource_spans"))):
        for scope in _dicts(resource.get("scopeSpans", resource.get("scope_spans"))):
            yield from _dicts(scope.get("spans"))


def _span(index: int, span: dict[str, Any]) -> Span:
    started, ended = (_nanoseconds(span, name) for name in ("start", "end"))
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    return Span(
        index=index,
        name=str(span.get("name") or ""),
        id=str(span.get("spanId", span.get("span_id")) or ""),
        parent=str(span.get("parentSpanId", span.get("parent_span_id")) or ""),
        started=started,
        seconds=max(0.0, ended - started) if ended and started else None,
        failed=code in {2, "STATUS_CODE_ERROR", "ERROR"},
        attributes=_attributes(span.get("attributes")),
        events=tuple(
            (str(event.get("name") or ""), _attributes(event.get("attributes"))) for event in _dicts(span.get("events"))
        ),
    )


def _nanoseconds(span: dict[str, Any], which: str) -> float:
    value = span.get(f"{which}TimeUnixNano", span.get(f"{which}_time_unix_nano", 0))
    try:
        return int(value) / 1e9
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _attributes(listed: Any) -> dict[str, Any]:
    if isinstance(listed, dict):  # already plain, as some exporters write it
        return {str(key): value for key, value in listed.items()}
    return {str(each.get("key")): _value(each.get("value")) for each in _dicts(listed)}


def _value(wrapped: Any) -> Any:
    """What an OTLP AnyValue holds."""
    if not isinstance(wrapped, dict) or len(wrapped) != 1:
        return wrapped
    kind, value = next(iter(wrapped.items()))
    if kind == "intValue":
        return int(value) if isinstance(value, str) and value.lstrip("-").isdigit() else value
    if kind == "arrayValue":
        return [_value(each) for each in _list(value)]
    if kind == "kvlistValue":
        return {str(each.get("key")): _value(each.get("value")) for each in _dicts(_list(value))}
    return value


def _list(value: Any) -> list[Any]:
    values = value.get("values") if isinstance(value, dict) else value
    return values if isinstance(values, list) else []


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
