"""OTLP JSON: spans with plain attributes, whatever way their values were wrapped. Never raises for what it is given."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_FAILED = (2, "STATUS_CODE_ERROR", "ERROR")


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
    message: str
    """Why, where its status says so."""
    attributes: dict[str, Any]
    events: tuple[tuple[str, dict[str, Any]], ...]
    """Name and attributes of each event, in order; log records that name the span are events of it."""


def spans_of(document: Any) -> tuple[Span, ...]:
    """Every span of an export (one object, or a list of them), in order of time."""
    exports = _dicts(document if isinstance(document, list) else [document])
    logs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in (each for export in exports for each in _inside(export, "Logs", "logRecords")):
        logs[_name(record, "spanId")].append(record)
    found = [span for export in exports for span in _in(export)]
    spans = [_span(index, each, logs.get(_name(each, "spanId"), [])) for index, each in enumerate(found)]
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
    if any(_get(export, f"resource{kind}") is not None for kind in ("Spans", "Logs")):
        yield from _inside(export, "Spans", "spans")
    elif "name" in export:
        yield export


def _inside(export: dict[str, Any], kind: str, listed: str) -> Iterator[dict[str, Any]]:
    """What is listed below `resourceKIND` and `scopeKIND`."""
    for resource in _dicts(_get(export, f"resource{kind}")):
        for scope in _dicts(_get(resource, f"scope{kind}")):
            yield from _dicts(_get(scope, listed))


def _span(index: int, span: dict[str, Any], logs: list[dict[str, Any]]) -> Span:
    started, ended = (_nanoseconds(span, f"{which}TimeUnixNano") for which in ("start", "end"))
    status = span.get("status")
    status = status if isinstance(status, dict) else {}
    code = status.get("code")
    events = [(_name(event, "name"), _attributes(event.get("attributes"))) for event in _dicts(span.get("events"))]
    events += map(_logged, sorted(logs, key=lambda record: _nanoseconds(record, "timeUnixNano")))
    return Span(
        index=index,
        name=_name(span, "name"),
        id=_name(span, "spanId"),
        parent=_name(span, "parentSpanId"),
        started=started,
        seconds=max(0.0, ended - started) if ended and started else None,
        failed=code in _FAILED,
        message=_name(status, "message"),
        attributes=_attributes(span.get("attributes")),
        events=tuple(events),
    )


def _logged(record: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A log record as an event; what it says stands in its body or in its attributes."""
    attributes, body = _attributes(record.get("attributes")), structured(_value(record.get("body")))
    name = _name(record, "eventName") or str(attributes.get("event.name") or "")
    return name, {**attributes, **(body if isinstance(body, dict) else {})}


def _get(value: dict[str, Any], key: str) -> Any:
    """A field by its name in OTLP JSON, or as protobuf spells it."""
    return value.get(key, value.get(re.sub("([A-Z])", r"_\1", key).lower()))


def _name(value: dict[str, Any], key: str) -> str:
    return str(_get(value, key) or "")


def _nanoseconds(value: dict[str, Any], key: str) -> float:
    try:
        return int(_get(value, key) or 0) / 1e9
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
