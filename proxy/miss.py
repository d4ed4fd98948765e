"""Explaining a miss: why, the nearest recording, what differs, and the command that helps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from proctor.diff import request_diff
from proctor.interaction import Request
from proctor.matchkey import Identity
from proctor.proxy.order import Choice
from proctor.proxy.playback import Tape
from proctor.proxy.state_told import other_writes
from proctor.summary import label

_COMPARED = 50
"""At most so many recordings are compared in full: the ones with the same method and path first."""


def explain(tape: Tape, request: Request, identity: Identity, tool: str | None, again: str) -> dict[str, Any]:
    """The error of a request that was never recorded: `code`, `message`, `fix`, and `nearest` with its `diff`.

    Here and below, `again` says how the tape is recorded again.
    """
    name = tool or f"{request.method} {request.target.partition('?')[0]}"
    error = {
        "code": "not_recorded",
        "message": f"{request.service} {name}: nothing on tape {tape.cassette.name} answers this request",
        "fix": again,
    }
    found = _nearest(tape, request, identity)
    if found is None:
        return {**error, "message": f"{error['message']}; it has no recording of {request.service}"}
    position, lines = found
    interaction = tape.cassette.interactions[position]
    return {
        **error,
        "message": f"{error['message']}; nearest is #{position}: {lines[0]}",
        "nearest": {"index": position, "name": label(interaction), "target": interaction.request.target},
        "diff": lines,
    }


def used_up(tape: Tape, positions: Sequence[int], tool: str | None, again: str) -> dict[str, Any]:
    """The error of a declared write that was recorded so many times and is asked once more."""
    last = tape.cassette.interactions[positions[-1]]
    name = tool or label(last)
    times = "once" if len(positions) == 1 else f"{len(positions)} times"
    return {
        "code": "used_up",
        "message": f"{last.request.service} {name}: a write recorded {times}, asked once more",
        "fix": again,
        "nearest": {"index": positions[-1], "name": name, "target": last.request.target},
        "diff": [],
    }


def other_state(tape: Tape, choice: Choice, tool: str | None, again: str) -> dict[str, Any]:
    """The error of a request that was recorded, but in another state, where that is not good enough (`--strict`)."""
    recorded = tape.cassette.interactions[choice.position]
    name = tool or label(recorded)
    told = other_writes(tape.cassette, choice.state)
    return {
        "code": "other_state",
        "message": f"{recorded.request.service} {name}: recorded only in another state; nearest is #{choice.position}: "
        + "; ".join(told),
        "fix": f"{again}; without --strict the nearest recording answers, and says so",
        "nearest": {"index": choice.position, "name": name, "target": recorded.request.target},
        "diff": told,
    }


def unbound(tape: Tape, request: Request, reason: str, tool: str | None, again: str) -> dict[str, Any]:
    """The error of a credential that stands for no identity of the tape."""
    name = tool or f"{request.method} {request.target.partition('?')[0]}"
    return {
        "code": "identity_unknown",
        "message": f"{request.service} {name}: {reason}",
        "fix": again,
        "diff": [],
    }


def _nearest(tape: Tape, request: Request, identity: Identity) -> tuple[int, list[str]] | None:
    """The recording with the fewest differences, with them; the earliest of equals."""
    path = request.target.partition("?")[0]

    def far(position: int) -> tuple[bool, bool]:
        recorded = tape.cassette.interactions[position].request
        return recorded.method != request.method, recorded.target.partition("?")[0] != path

    positions = sorted(tape.positions_of(request.service), key=far)
    best: tuple[tuple[bool, bool], int, int] | None = None
    lines: list[str] = []
    for position in islice(positions, _COMPARED):
        if best is not None and far(position) > best[0]:
            break
        recorded = tape.shown(position).request
        found = request_diff(recorded, request, (tape.identity_at(position), identity), tape.declared(request.service))
        if best is None or (far(position), len(found)) < best[:2]:
            best, lines = (far(position), len(found), position), found
    return None if best is None else (best[2], lines or ["differs in a way that only its bytes show"])
