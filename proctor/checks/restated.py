"""Detail that a call repeats from what its tools said: beside the point, and no other request."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from proctor.matching.arguments import Mismatch
from proctor.matching.values import DEEPEST, same
from proctor.tool_calls import Call

MOST_OBJECTS = 20_000
"""Objects of earlier results that are looked at for one field."""


class Restated:
    """Tells whether a field that nobody asked for only repeats what an earlier result says of the same thing."""

    def __init__(self, calls: tuple[Call, ...]) -> None:
        self._calls = calls

    def __call__(self, call: Call, mismatch: Mismatch) -> bool:
        """A field inside an argument (never an argument itself), which an earlier result gives with the same value.

        That result must agree with the object in another field too, and contradict it in none.
        """
        if mismatch.how != "extra":
            return False
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in mismatch.at.split("/")[1:]]
        around = _at(call.arguments, path) if path else None
        if not isinstance(around, dict) or last not in around:
            return False
        return any(
            last in known and _agrees(around, known, last) for known in islice(self._objects_before(call), MOST_OBJECTS)
        )

    def _objects_before(self, call: Call) -> Iterator[dict[str, Any]]:
        for earlier in self._calls:
            if earlier.result_step is not None and earlier.result_step < call.step and earlier.failed is False:
                yield from _objects(earlier.result, 0)


def _agrees(around: dict[str, Any], known: dict[str, Any], field: str) -> bool:
    shared = around.keys() & known.keys()
    return len(shared) > 1 and field in shared and all(same(around[key], known[key]) for key in shared)


def _objects(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from _objects(each, depth + 1)


def _at(value: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
