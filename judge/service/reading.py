"""Requests as they are sent, read strictly: each line is a run or is named as what is wrong with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from proctor.errors import ProctorError, UsageError
from proctor.http_server import formed
from proctor.judge.inquiry import digest
from proctor.judge.service import asked_for
from proctor.judge.service.asked_for import Checked, Wanted
from proctor.judge.service.queue import Batch
from proctor.judge.service.settings import Limits
from proctor.judge_wire import BatchHeader, BatchTerms, RefusedLine, VerdictRequest
from proctor.model_call import Model
from proctor.trajectories.file import json_of, trajectory_of
from proctor.wire import ErrorAnswer

_PARTS = "send what is judged on other terms as a batch of its own"


@dataclass(frozen=True)
class Offered:
    """What this service can judge with, and takes."""

    models: Mapping[str, Model]
    salt: bytes
    agent_vendor: str
    limits: Limits


@dataclass
class _Reading:
    """A batch on its way in."""

    offered: Offered
    checked: Checked
    max_cost: float | None
    wanted: list[Wanted] = field(default_factory=list)
    refused: list[RefusedLine] = field(default_factory=list)
    seen: dict[tuple[str, int], int] = field(default_factory=dict)

    def take(self, number: int, value: Any) -> None:
        """A line with a run. Raises ProctorError or ValueError for one that cannot be judged."""
        if isinstance(value, dict) and "batch" in value and "id" not in value:
            raise UsageError("header_misplaced", "a header stands here, and only the first line can be one", _PARTS)
        trajectory = trajectory_of(value)
        key = (trajectory.id, trajectory.trial)
        if key in self.seen:
            raise UsageError("repeated_id", f'"{trajectory.id}" stands in line {self.seen[key]} already')
        self.seen[key] = number
        self.wanted.append(asked_for.wanted(self.checked, trajectory, self.offered.agent_vendor))


def read_request(body: bytes, offered: Offered) -> Wanted:
    """The one verdict that a body asks for. Raises UsageError or RubricError."""
    try:
        value = _versioned(json_of(body))
        if "trajectory" not in value:
            raise UsageError("bad_request", "it has no trajectory", 'send {"trajectory": {...}}, see docs/service.md')
        trajectory = trajectory_of(value.pop("trajectory"))
    except ValueError as error:
        raise _refusal(error) from None
    asked = formed(VerdictRequest, {**value, "trajectory": trajectory})
    return asked_for.wanted(asked_for.checked(asked, offered.models, offered.salt), trajectory, offered.agent_vendor)


async def read_batch(request: web.Request, offered: Offered) -> Batch:
    """The batch that a body of JSON lines asks for; lines that cannot be judged are in it as refused.

    Raises UsageError for one without any line that can be judged, or with more bytes than a batch may have.
    """
    reading: _Reading | None = None
    async for number, line in _lines(request, offered.limits):
        if not line.strip():
            continue
        try:
            value = json_of(line)
            if reading is None:
                header = isinstance(value, dict) and "batch" in value
                terms = formed(BatchHeader, _versioned(value)).batch if header else BatchTerms()
                reading = _Reading(offered, asked_for.checked(terms, offered.models, offered.salt), terms.max_cost)
                if header:
                    continue
            reading.take(number, value)
        except (ValueError, ProctorError) as error:
            if reading is None:
                raise _refusal(error, "one JSON value a line (curl wants --data-binary: -d joins lines)") from None
            reading.refused.append(_refused_line(number, line, error))
        await asyncio.sleep(0)  # others are answered between two lines
    if reading is None or not reading.wanted:
        raise _nothing(reading)
    wanted = asked_for.with_cases(reading.wanted)
    return Batch(digest(["batch", [each.id for each in wanted]]), wanted, reading.max_cost, reading.refused)


async def _lines(request: web.Request, limits: Limits) -> AsyncIterator[tuple[int, bytes]]:
    """The lines of a body, numbered from 1."""
    if (request.content_length or 0) > limits.batch_bytes:
        raise _too_large(f"{limits.batch_bytes} bytes")
    buffer, read, number = bytearray(), 0, 0
    async for piece in request.content.iter_any():
        read += len(piece)
        if read > limits.batch_bytes:
            raise _too_large(f"{limits.batch_bytes} bytes")
        start, seen = 0, len(buffer)
        buffer += piece
        while (end := buffer.find(b"\n", max(start, seen))) >= 0:
            number += 1
            if number > limits.batch_lines:
                raise _too_large(f"{limits.batch_lines} lines")
            yield number, _line(buffer[start:end], number, limits)
            start = end + 1
        del buffer[:start]
        if len(buffer) > limits.line_bytes:
            _line(buffer, number + 1, limits)
    yield number + 1, bytes(buffer)


def _too_large(most: str) -> UsageError:
    return UsageError("batch_too_large", f"a batch has at most {most}", "send it in parts")


def _line(line: bytearray, number: int, limits: Limits) -> bytes:
    if len(line) > limits.line_bytes:
        told = f"line {number} has more than {limits.line_bytes} bytes"
        raise UsageError("line_too_long", told, "shorten the run, or leave it out")
    return bytes(line)


def _versioned(value: Any) -> dict[str, Any]:
    """A request of a version that is known here. Raises UsageError."""
    if not isinstance(value, dict):
        raise UsageError("bad_request", "the body is no object")
    version = value.get("v", 1)
    if version != 1 or isinstance(version, bool):
        told = f"the request is of version {version!r:.40}; this service knows 1"
        raise UsageError("newer", told, "send version 1, or install a newer service")
    return dict(value)


def _refusal(error: Exception, fix: str = "") -> ProctorError:
    """`fix` is for what is no JSON."""
    if isinstance(error, ProctorError):
        return error
    code = getattr(error, "code", "not_json")
    return UsageError(code, str(error), fix if code == "not_json" else "")


def _refused_line(number: int, line: bytes, error: Exception) -> RefusedLine:
    return RefusedLine(line=number, trajectory=_id_in(line), error=ErrorAnswer.of(_refusal(error)))


def _id_in(line: bytes) -> str:
    """The id that a bad line has, as far as it has one."""
    try:
        value = json_of(line)
    except ValueError:
        return ""
    found = value.get("id") if isinstance(value, dict) else None
    return found[:200] if isinstance(found, str) else ""


def _nothing(reading: _Reading | None) -> UsageError:
    if reading is None or not reading.refused:
        return UsageError("empty_batch", "the batch holds no run", "a header line if you like, then a run on each line")
    first = reading.refused[0]
    more = f" (and {len(reading.refused) - 1} more)" if len(reading.refused) > 1 else ""
    return UsageError(first.error.code, f"line {first.line}: {first.error.message}{more}", first.error.fix)
