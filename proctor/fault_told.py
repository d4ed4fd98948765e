"""Fault plans in plain words: what will happen to which call, and whether anything is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from proctor.errors import nearest
from proctor.fault_plan import Fault, FaultPlanSpec, Kind
from proctor.fault_schedule import Call, Planned, is_for, resolved

_WHAT: dict[Kind, str] = {
    "timeout": "no answer ever comes; the connection is dropped after {seconds:g} s",
    "error": "status {status} comes in place of an answer",
    "empty": "an answer comes with nothing in it",
    "malformed": "an answer comes that is no whole JSON",
    "wrong_type": "an answer comes with a value of another type",
    "reset": "the connection is reset",
    "slow": "the answer comes {seconds:g} s late, and is right",
    "truncated": "the answer breaks off in its middle",
    "rate_limited": "status 429 comes, with Retry-After: {wait}",
    "expired_token": "status 401 comes, as for a credential that has expired",
}
_NOBODY = "nobody else is asked"
_LATE = "then the source answers; not while a tape is recorded"


def what(fault: Fault) -> str:
    """What a fault does to a call, and whether the source is asked."""
    done = _WHAT[fault.kind].format(seconds=fault.lasting, status=fault.answer_status, wait=fault.wait)
    return f"{done}; {_LATE if fault.kind == 'slow' else _NOBODY}"


def explained(plan: FaultPlanSpec, tape: Sequence[Call] | None) -> list[dict[str, Any]]:
    """Each fault as `fault`, `calls` (first and last), `what`, `on_tape` (indexes, where a tape is given), `warning`.

    Raises UsageError as `resolved` does.
    """
    planned = resolved(plan, tape or ())
    return [_explained(each, planned[:place], tape) for place, each in enumerate(planned)]


def explained_lines(plan: FaultPlanSpec, told: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The same for people."""
    for fault in told:
        first, last = fault["calls"]
        which = f"call {first}" if first == last else f"calls {first} to {last}"
        yield f"{fault['fault']}"
        yield f"  {which} of {fault['of']}: {fault['what']}"
        if fault["on_tape"]:
            yield f"  on the tape: {', '.join(f'#{index}' for index in fault['on_tape'])}"
        if fault["warning"]:
            yield f"  NOTE {fault['warning']}"
    if plan.by_header:
        yield "a request may ask for a fault by the header x-proctor-fault: KIND"
    yield f"seed {plan.seed}; a client's retry counts as a call; no faulted exchange is ever recorded"


def _explained(planned: Planned, before: Sequence[Planned], tape: Sequence[Call] | None) -> dict[str, Any]:
    fault = planned.fault
    meant = [index for index, call in enumerate(tape or ()) if is_for(fault, call)]
    return {
        "fault": fault.told,
        "of": " ".join(filter(None, (fault.service, "every tool" if fault.tool == "*" else fault.tool))),
        "kind": fault.kind,
        "calls": [planned.first, planned.last],
        "what": what(fault),
        "on_tape": meant[planned.first - 1 : planned.last],
        "warning": _warning(planned, before, len(meant), tape),
    }


def _warning(planned: Planned, before: Sequence[Planned], meant: int, tape: Sequence[Call] | None) -> str:
    """What may keep a fault from firing; empty where nothing is known to."""
    fault = planned.fault
    for earlier in before:
        same = (earlier.fault.tool, earlier.fault.service) == (fault.tool, fault.service)
        if same and earlier.first <= planned.last and planned.first <= earlier.last:
            return f"{earlier.fault.told} stands first and has a call that this is for, too"
    if tape is None or meant >= planned.last:
        return ""
    if not meant:
        known = {name for call in tape for name in (call.service, "" if call.llm else call.short) if name}
        return f"the tape has no such call; {nearest(fault.tool, known)}"
    return f"the tape has {meant} such call{'s' * (meant != 1)} only: the rest fires if the agent calls more often"
