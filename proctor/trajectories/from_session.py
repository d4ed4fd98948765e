"""From a session of the proxy: what really went over the wire, from its trace and summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from proctor.trace import SessionSummary, TraceRow
from proctor.trajectories.conversations import conversations
from proctor.trajectories.exchange import LlmExchange, Seen, ToolTraffic, exchange_of
from proctor.trajectories.from_messages import joined_items
from proctor.trajectories.joining import from_tools_alone, joined
from proctor.trajectories.steps import final_answer, numbered
from proctor.trajectory import Agent, Difference, Step, Trajectory

_LLM_PATH = re.compile(r"/(?:chat/completions|responses|messages)(?:\?|$)")


def from_session(
    summary: SessionSummary, rows: Sequence[TraceRow], *, case: str = "", category: str = "", log: Any = None
) -> tuple[Trajectory, ...]:
    """The trajectories of a session, one for each conversation with a model; the longest one first.

    `log` is the agent's own message list: where it says otherwise than the wire, the wire's stands in the steps and the
    difference is kept. Tool traffic that belongs to no call is named in the notes of the first.
    """
    seen = seen_in(rows)
    facts: dict[str, Any] = {
        "case": case or summary.cassette,
        "category": category,
        "session": summary.session,
        "set_up": summary.set_up,
        "llm": summary.llm,
        "seconds": summary.seconds,
        "error": "; ".join(error.message for error in summary.errors) or None,
        "source": {"kind": "session", "cassette": summary.cassette, "started_at": summary.started_at},
    }
    runs = assembled_runs(summary.session, seen, facts)
    if log is not None:
        first = runs[0].model_copy(update={"differences": (*runs[0].differences, *against_log(runs[0], log))})
        runs = (first, *runs[1:])
    return runs


def assembled_runs(run_id: str, seen: Seen, facts: dict[str, Any]) -> tuple[Trajectory, ...]:
    """The trajectories in what a source tells, `facts` on each. There is always one, if only an empty one."""
    chains = sorted(conversations(seen.exchanges), key=lambda chain: -len(chain.links))
    left = list(seen.tools)
    runs: list[Trajectory] = []
    for number, chain in enumerate(chains):
        found = joined(chain, left)
        left = [each for each in left if each.index not in found.used]
        exchanges = [link.exchange for link in chain.links]
        lost = [each.failed for each in exchanges if each.failed]
        runs.append(
            Trajectory(
                id=run_id if number == 0 else f"{run_id}#{number + 1}",
                agent=Agent(model=next((each.model for each in exchanges if each.model), "")),
                tools=next((each.tools for each in reversed(exchanges) if each.tools is not None), None),
                steps=found.steps,
                final_answer=final_answer(found.steps),
                tokens=found.tokens,
                differences=found.differences,
                notes=(*chain.notes, *(f"an exchange with the model failed: {why}" for why in lost)),
                **facts,
            )
        )
    if not runs:
        steps = from_tools_alone(left)
        notes = ("no exchange with a model was seen: only the tools' calls are known",)
        return (Trajectory(id=run_id, steps=steps, notes=(*notes, *seen.notes), **facts),)
    first = runs[0].model_copy(update={"notes": (*runs[0].notes, *seen.notes, *_unattributed(left))})
    return (first, *runs[1:])


def seen_in(rows: Iterable[TraceRow]) -> Seen:
    """The LLM exchanges and the tool calls of a trace; Proctor's own refusals are tool calls that failed."""
    exchanges: list[LlmExchange] = []
    tools: list[ToolTraffic] = []
    notes = []
    for row in rows:
        failed = _failure(row)
        found = exchange_of(
            row.arguments, row.result, index=row.index, started=row.started, seconds=row.seconds, failed=failed
        )
        if found is not None and (found.answered or (failed and _LLM_PATH.search(row.target))):
            exchanges.append(found)
        else:
            tools.append(_tool(row))
        if row.cut:
            notes.append(f"exchange {row.index} with {row.service} broke off")
    return Seen(tuple(exchanges), tuple(tools), tuple(notes))


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


def _failure(row: TraceRow) -> str:
    if row.error is not None:
        return str(row.error.get("message", "refused"))
    return f"status {row.status}" if row.status is not None and row.status >= 400 else ""


def _tool(row: TraceRow) -> ToolTraffic:
    return ToolTraffic(
        index=row.index,
        name=row.tool or f"{row.method} {row.target.partition('?')[0]}",
        arguments=row.arguments,
        result=row.result if row.error is None else {"error": row.error},
        status=row.status,
        is_error=True if row.error is not None else None,
        effect=row.effect,
        service=row.service,
        fault=row.fault,
        attempts=row.attempts,
        started=row.started,
        seconds=row.seconds,
    )


def _unattributed(left: Sequence[ToolTraffic]) -> list[str]:
    return [f"exchange {each.index}, {each.name}, belongs to no call of a model" for each in left]
