"""The texts in a tape's file that no interaction holds: its head, fields that only others read, comments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from proctor.errors import CassetteUndecodable
from proctor.scanning.finds import FILE
from proctor.tape_yaml import EXTENSION, RERECORD, comments, read

_OF_THE_SEAL = frozenset({"v", "digest", "sums", "times", "count", "placeholders", "tool_schemas", "judge_salt"})
"""Digests and numbers that Proctor itself writes."""


class Text(NamedTuple):
    """A text beside the interactions, or beside the parts of the one with this index."""

    interaction: int
    place: str
    text: str


def texts_beside(data: bytes) -> list[Text]:
    """Every such text of a tape, JSON where it was data. Raises CassetteUndecodable for what is no tape."""
    document = read(data)
    found = [Text(FILE, f"comment in line {line}", text) for line, text in comments(data)]
    try:
        for index, rest in _rests(document):
            if rest:
                found.append(Text(index, "file", json.dumps(rest, ensure_ascii=False, default=_plain)))
    except (TypeError, ValueError, RecursionError) as error:
        raise CassetteUndecodable(
            "cassette_item", f"holds data that no tape has ({type(error).__name__}: {error})", RERECORD
        ) from None
    return found


def _rests(document: dict[str, Any]) -> Iterator[tuple[int, Any]]:
    head = _without(document, "version", "interactions")
    metadata = head.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get(EXTENSION), dict):
        head["metadata"] = {**metadata, EXTENSION: _without(metadata[EXTENSION], *_OF_THE_SEAL)}
    yield FILE, head
    for index, item in enumerate(document["interactions"]):
        yield index, _item_rest(item)


def _item_rest(item: dict[str, Any]) -> dict[str, Any]:
    """The fields of an item that its interaction does not hold. Where Proctor's own field says it better, vcrpy's
    stays: a person may have edited it."""
    request, response = item["request"], item["response"]
    extra = response.get(EXTENSION, {})
    read_of_request = {"method", "body", *_unless("url", extra, "uri"), *_unless("request_headers", extra, "headers")}
    read_of_response = {"status", "body", EXTENSION, *_unless("response_headers", extra, "headers")}
    rests = {
        "request": _without(request, *read_of_request),
        "response": _without(response, *read_of_response),
        "status": _without(response["status"], "code", *_unless("reason", extra, "message")),
        "body": _without(response["body"], "string"),
        EXTENSION: {key: extra[key] for key in ("tool", "stand_in", "service") if key in extra},
    }
    return {**_without(item, "request", "response"), **{name: rest for name, rest in rests.items() if rest}}


def _unless(better: str, extra: dict[str, Any], field: str) -> tuple[str, ...]:
    return () if better in extra else (field,)


def _without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in names}


def _plain(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
