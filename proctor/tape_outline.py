"""A tape as text in which only what a diff counts stands: two such texts differ where the tapes really do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from proctor.canonical import with_floats
from proctor.cassette import Cassette
from proctor.interaction import readable
from proctor.tape_diff import COUNTED
from proctor.tape_readings import Rules, tape_readings


def outline(tape: Cassette, rules: Rules) -> Iterator[str]:
    """The lines."""
    for key in COUNTED:
        value = tape.stamp.get(key, {})
        named = value if isinstance(value, dict) else {"": value}
        yield from (f"{key.replace('_', ' ')} {name}".rstrip() + f": {each}" for name, each in named.items())
    for each in tape_readings(tape, rules):
        yield ""
        yield f"{each.service} {each.name}: {each.effect}"
        yield from _side(">", f"{each.asked['method']} {each.asked['path']}", each.asked)
        yield from _side("<", str(each.answer["status"]), each.answer)


def _side(mark: str, first: str, parts: dict[str, Any]) -> Iterator[str]:
    yield f"{mark} {readable(first)}"
    for name, value in parts.items():
        if name in ("method", "path", "status", "body"):
            continue
        named = value if isinstance(value, dict) else {"": value}
        yield from (_line(mark, f"{name} {inner}".rstrip(), each) for inner, each in named.items())
    if "body" in parts:
        body = with_floats(parts["body"])
        text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, indent=2, sort_keys=True)
        yield from (f"{mark}   {readable(line)}" for line in text.splitlines())


def _line(mark: str, name: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{mark} {name}: {readable(text)}"
