"""Explaining a miss: why, the nearest recording, what differs, and the command that helps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from proctor.diff import Difference, request_differences, told
from proctor.interaction import Request
from proctor.matchkey import Identity
from proctor.proxy import mending
from proctor.proxy.cause import cause_of
from proctor.proxy.order import Choice
from proctor.proxy.playback import Tape
from proctor.proxy.state_told import other_writes
from proctor.summary import label
from proctor.wire import SessionSpec

_COMPARED = 50
"""At most so many recordings are compared in full: the ones with the same method, path and tool first."""


def explain(tape: Tape, request: Request, identity: Identity, tool: str | None, spec: SessionSpec) -> dict[str, Any]:
    """The error of a request that was never recorded: `code`, `message`, `fix`, and `nearest` with its `diff`.

    Beside a live LLM it is `off_tape`: the model may well ask what nobody has asked before.
    """
    service = tape.config.services.get(request.service)
    off_tape = mending.asks_live_llm(spec, tape.config)
    name = _name(request, tool)
    error = {
        "code": "off_tape" if off_tape else "not_recorded",
        "message": f"{request.service} {name}: nothing on tape {tape.cassette.name} answers this request",
        "fix": mending.more(tape, spec, request.service),
    }
    found = _nearest(tape, request, identity, tool)
    if found is None:
        return {**error, "message": f"{error['message']}; it has no recording of {request.service}"}
    position, differences = found
    cause = cause_of(service, request, differences)
    lines = told(differences) or ["differs in a way that only its bytes show"]
    interaction = tape.cassette.interactions[position]
    fix = error["fix"] if off_tape and cause.kind != "volatile" else mending.fix(tape, spec, request.service, cause)
    return {
        **error,
        "message": f"{error['message']}; nearest is #{position}: {cause.text}: {lines[0]}",
        "fix": fix,
        "cause": cause.kind,
        "nearest": {"index": position, "name": label(interaction), "target": interaction.request.target},
        "diff": lines,
    }


def used_up(tape: Tape, positions: Sequence[int], tool: str | None, spec: SessionSpec) -> dict[str, Any]:
    """The error of a declared write that was recorded so many times and is asked once more."""
    last = tape.cassette.interactions[positions[-1]]
    name = tool or label(last)
    times = "once" if len(positions) == 1 else f"{len(positions)} times"
    off_tape = mending.asks_live_llm(spec, tape.config)
    return {
        "code": "off_tape" if off_tape else "used_up",
        "message": f"{last.request.service} {name}: a write recorded {times}, asked once more",
        "fix": mending.more(tape, spec, last.request.service),
        "cause": "call",
        "nearest": {"index": positions[-1], "name": name, "target": last.request.target},
        "diff": [],
    }


def other_state(tape: Tape, choice: Choice, tool: str | None, spec: SessionSpec) -> dict[str, Any]:
    """The error of a request that was recorded, but in another state, where that is not good enough (`--strict`)."""
    recorded = tape.cassette.interactions[choice.position]
    name = tool or label(recorded)
    writes = other_writes(tape.cassette, choice.state)
    return {
        "code": "other_state",
        "message": f"{recorded.request.service} {name}: recorded only in another state; nearest is #{choice.position}: "
        + "; ".join(writes),
        "fix": f"{mending.again(tape, spec)}; without --strict the nearest recording answers, and says so",
        "cause": "state",
        "nearest": {"index": choice.position, "name": name, "target": recorded.request.target},
        "diff": writes,
    }


def unbound(tape: Tape, request: Request, reason: str, tool: str | None, spec: SessionSpec) -> dict[str, Any]:
    """The error of a credential that stands for no identity of the tape."""
    return {
        "code": "identity_unknown",
        "message": f"{request.service} {_name(request, tool)}: {reason}",
        "fix": mending.again(tape, spec),
        "cause": "credential",
        "diff": [],
    }


def contradicting(request: Request, reason: str, tool: str | None) -> dict[str, Any]:
    """The error of a request with a volatile value other than the one that was bound."""
    return {
        "code": "volatile_changed",
        "message": f"{request.service} {_name(request, tool)}: {reason}",
        "fix": "a volatile value is bound once a session; if it is a clock, set the agent's from PROCTOR_RECORDED_AT, "
        "or narrow the pattern",
        "cause": "volatile",
        "diff": [],
    }


def _name(request: Request, tool: str | None) -> str:
    return tool or f"{request.method} {request.target.partition('?')[0]}"


def _nearest(tape: Tape, request: Request, identity: Identity, tool: str | None) -> tuple[int, list[Difference]] | None:
    """The recording with the fewest differences, with them; the earliest of equals. Calls of the same tool first."""
    path = request.target.partition("?")[0]

    def far(position: int) -> tuple[bool, bool, bool]:
        interaction = tape.cassette.interactions[position]
        recorded = interaction.request
        return recorded.method != request.method, recorded.target.partition("?")[0] != path, interaction.tool != tool

    positions = sorted(tape.positions_of(request.service), key=far)
    best: tuple[tuple[bool, bool, bool], int, int] | None = None
    nearest: list[Difference] = []
    for position in islice(positions, _COMPARED):
        if best is not None and far(position) > best[0]:
            break
        recorded = tape.shown(position).request
        identities = (tape.identity_at(position), identity)
        found = list(request_differences(recorded, request, identities, tape.declared(request.service)))
        if best is None or (far(position), len(found)) < best[:2]:
            best, nearest = (far(position), len(found), position), found
    return None if best is None else (best[2], nearest)
