"""From a session of the proxy: what really went over the wire, from its trace and summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from proctor.events import EventRow
from proctor.summary import CUTS
from proctor.trace import SessionSummary, TraceRow
from proctor.trajectories.exchange import LlmExchange, Seen, ToolTraffic
from proctor.trajectories.from_messages import joined_items
from proctor.trajectories.llm_bodies import exchange_of
from proctor.trajectories.runs import assembled_runs
from proctor.trajectories.steps import numbered
from proctor.trajectory import Difference, Step, Trajectory, end_state_of

_FINE = 200


def from_session(
    summary: SessionSummary,
    rows: Sequence[TraceRow],
    *,
    told: Sequence[EventRow] = (),
    worlds: Mapping[str, Any] | None = None,
    case: str = "",
    category: str = "",
    log: Any = None,
) -> tuple[Trajectory, ...]:
    """The trajectories of a session, one for each conversation with a model; the longest one first.

    `log` is the agent's own message list: where it says otherwise than the wire, the wire's stands in the steps and the
    difference is kept. Tool traffic that no call explains is an event of the first, `unattributed_call`; so is what the
    agent `told`, whose states also stand around their turns. `worlds` has the end state of each world, by service.
    """
    seen = replace(seen_in(rows), told=tuple(told))
    facts = {**facts_of(summary, worlds), "case": case or summary.cassette, "category": category}
    runs = assembled_runs(summary.session, seen, error_of(summary), facts)
    if log is not None:
        first = runs[0].model_copy(update={"differences": (*runs[0].differences, *against_log(runs[0], log))})
        runs = (first, *runs[1:])
    return runs


def facts_of(summary: SessionSummary, worlds: Mapping[str, Any] | None) -> dict[str, Any]:
    """The fields of a trajectory that the session alone decides."""
    return {
        "session": summary.session,
        "set_up": summary.set_up,
        "llm": summary.llm,
        "seconds": summary.seconds,
        "end_state": end_state_of(worlds or {}),
        "source": {"kind": "session", "cassette": summary.cassette, "started_at": summary.started_at},
    }


def seen_in(rows: Iterable[TraceRow]) -> Seen:
    """The LLM exchanges and the tool calls of a trace; Proctor's own refusals are tool calls that failed."""
    exchanges: list[LlmExchange] = []
    tools: list[ToolTraffic] = []
    notes: list[str] = []
    beside: list[str] = []
    for row in rows:
        found = exchange_of(row)
        if found is not None:
            exchanges.append(found)
        elif row.effect_why == "preset" or _lists(row):
            beside.append(f"{row.service} {row.method} {row.target}")
        else:
            tools.append(_tool(row))
        if row.cut or (found is not None and found.broken):
            notes.append(f"exchange {row.index} with {row.service} broke off")
    if beside:
        notes.append(f"not part of a conversation: {', '.join(dict.fromkeys(beside))}")
    return Seen(exchanges=tuple(exchanges), tools=tuple(tools), notes=tuple(notes))


def _lists(row: TraceRow) -> bool:
    """A world told which tools it has: that calls none of them."""
    return row.source == "world" and row.tool is None and row.status == _FINE


def against_log(run: Trajectory, log: Any) -> tuple[Difference, ...]:
    """Where an agent's own list of messages differs from what was seen, message by message."""
    told = [step for step in numbered(joined_items(log)) if step.role != "system"]
    wire = [step for step in run.steps if step.role != "system"]
    found = []
    for seen, said in zip(wire, told, strict=False):
        for what, ours, theirs in _compared(seen, said):
            found.append(Difference(step=seen.index, what=what, wire=ours, log=theirs))
    if len(wire) != len(told):
        found.append(Difference(what="number of messages", wire=len(wire), log=len(told)))
    return tuple(found)


def _compared(seen: Step, said: Step) -> list[tuple[str, Any, Any]]:
    calls = [[(call.name, call.arguments) for call in step.tool_calls] for step in (seen, said)]
    pairs: list[tuple[str, Any, Any]] = [
        ("role", seen.role, said.role),
        ("text", seen.text or "", said.text or ""),
        ("tool calls", calls[0], calls[1]),
    ]
    return [(what, ours, theirs) for what, ours, theirs in pairs if ours != theirs]


def error_of(summary: SessionSummary) -> str | None:
    """Why the session cannot count as a whole run; None where nothing says so."""
    misses = sum(miss.count for miss in summary.misses)
    found = [error.message for error in summary.errors]
    found += [each.message for each in summary.guarded if each.code in CUTS]
    found += [f"{misses} {'request was' if misses == 1 else 'requests were'} not on the tape"] if misses else []
    status = summary.command_status
    found += [f"the agent's command ended with status {status}"] if status else []
    return "; ".join(found) or None


def _tool(row: TraceRow) -> ToolTraffic:
    return ToolTraffic(
        index=row.index,
        name=row.tool or f"{row.method} {row.target.partition('?')[0]}",
        arguments=row.arguments,
        result=row.result if row.error is None else {"error": row.error},
        status=row.status,
        is_error=True if row.error is not None or row.cut or row.status is None or row.source == "fault" else None,
        effect=row.effect,
        service=row.service,
        fault=row.fault,
        attempts=row.attempts,
        started=row.started,
        seconds=row.seconds,
    )
