"""Trajectory files: JSON lines, one trajectory each. A bad line is named, and the rest is read."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proctor.misfits import first_error
from proctor.trajectory import Trajectory

MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 100
"""Of JSON in a line; deeper data is nothing that an agent's tools answer."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that holds no trajectory. `code` is stable: not_utf8, not_json, too_long, too_deep, not_text,
    repeated_key, newer, not_a_trajectory, repeated_id."""

    line: int
    code: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.code}: {self.message}"


class _Refused(ValueError):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_trajectories(data: bytes) -> Iterator[Trajectory | BadLine]:
    """Every line of a file, in order; empty lines are nothing. Never raises for what the bytes hold."""
    seen: dict[tuple[str, int, str], int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            trajectory = trajectory_of(json_of(line))
        except _Refused as reason:
            yield BadLine(number, reason.code, str(reason))
            continue
        key = (trajectory.id, trajectory.trial, trajectory.session)
        if key in seen:
            yield BadLine(number, "repeated_id", f'"{trajectory.id}" stands in line {seen[key]} already')
            continue
        seen[key] = number
        yield trajectory


def write_trajectories(path: Path, trajectories: Iterable[Trajectory]) -> int:
    """Write a file by one atomic rename; gives how many. Raises OSError, and the old file stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    count = 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            for trajectory in trajectories:
                file.write(line_of(trajectory))
                count += 1
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return count


def line_of(trajectory: Trajectory) -> bytes:
    """One line: what has its default is left out. Lone surrogates, which no file can hold, become "?"."""
    fields = {"v": trajectory.v, **trajectory.model_dump(mode="python", exclude_defaults=True)}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def json_of(line: bytes) -> Any:
    """The value of one line, strictly. Raises ValueError with a `code`."""
    if len(line) > MAX_LINE_BYTES:
        raise _Refused("too_long", f"{len(line)} bytes; a line may have {MAX_LINE_BYTES}")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Refused("not_utf8", f"byte {error.start} is not UTF-8") from None
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except RecursionError:
        raise _Refused("too_deep", f"deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise _Refused("not_json", f"{error.msg} at character {error.pos + 1}") from None
    except _Refused:
        raise
    except ValueError:
        raise _Refused("not_json", "a whole number has more digits than are read") from None
    if _depth(value) > MAX_DEPTH:
        raise _Refused("too_deep", f"deeper than {MAX_DEPTH} levels")
    if "\\ud" in text.lower() and not _is_text(value):
        raise _Refused("not_text", "it holds half of a surrogate pair")
    return value


def trajectory_of(value: Any) -> Trajectory:
    """The trajectory in a JSON value. Raises ValueError with a `code`."""
    if not isinstance(value, dict):
        raise _Refused("not_a_trajectory", "it is no object")
    version = value.get("v")
    if isinstance(version, bool):
        raise _Refused("not_a_trajectory", "v: Input should be 1")
    if isinstance(version, int) and version > 1:
        raise _Refused("newer", f"version {version}: this Proctor knows up to 1; install a newer one")
    try:
        return Trajectory.model_validate(value)
    except ValidationError as error:
        first = first_error(Trajectory, error)
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        said = f"{first.message}; {first.nearest}" if first.nearest else first.message
        raise _Refused("not_a_trajectory", f"{said}{more}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Refused("repeated_key", "an object has a key twice")
    return found


def _float(text: str) -> float:
    found = float(text)
    if math.isinf(found):
        raise _Refused("not_json", "a number is larger than any that can be read")
    return found


def _constant(name: str) -> Any:
    raise _Refused("not_json", f"{name} is no JSON")


def _depth(value: Any) -> int:
    deepest, open_ = 0, [(value, 1)]
    while open_:
        here, depth = open_.pop()
        deepest = max(deepest, depth)
        inner = here.values() if isinstance(here, dict) else here if isinstance(here, list) else ()
        open_.extend((each, depth + 1) for each in inner)
    return deepest


def _is_text(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
