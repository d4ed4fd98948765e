"""From OpenTelemetry spans (OTLP JSON) of an agent that traces itself."""

from __future__ import annotations

from typing import Any

from proctor.trajectories.exchange import Seen
from proctor.trajectories.otlp import spans_of
from proctor.trajectories.runs import assembled_runs
from proctor.trajectories.span_dialects import exchange_in, tool_in
from proctor.trajectory import Trajectory


def from_spans(document: Any, run_id: str) -> tuple[Trajectory, ...]:
    """The trajectories in an export, one for each conversation; the longest one first.

    Statuses, effects and bytes are not in spans. Where what was said was not captured, the steps are not there, and a
    note says so.
    """
    spans = spans_of(document)
    exchanges = [each for each in map(exchange_in, spans) if each is not None]
    tools = [each for each in map(tool_in, spans) if each is not None]
    silent = [each for each in exchanges if not each.captured]
    notes = [f"what was said in {len(silent)} of {len(exchanges)} exchanges was not captured"] if silent else []
    if not spans:
        notes.append("the export holds no span")
    told = Seen(exchanges=tuple(each for each in exchanges if each.captured), tools=tuple(tools), notes=tuple(notes))
    begun = [span.started for span in spans if span.started]
    ended = [span.started + (span.seconds or 0) for span in spans if span.started]
    failed = [span.name for span in spans if span.failed and not span.parent]
    facts = {
        "seconds": max(ended) - min(begun) if begun else None,
        "source": {"kind": "spans", "spans": len(spans)},
    }
    error = f"the span {failed[0]} has the status error" if failed else None
    return assembled_runs(run_id, told, error, facts)
