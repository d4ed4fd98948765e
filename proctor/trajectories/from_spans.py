"""From OpenTelemetry spans (OTLP JSON) of an agent that traces itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from proctor.errors import TrajectoryError
from proctor.trajectories.exchange import LlmExchange, Seen
from proctor.trajectories.otlp import Span, spans_of
from proctor.trajectories.runs import assembled_runs
from proctor.trajectories.span_dialects import exchange_in, tool_in
from proctor.trajectory import Trajectory


def from_spans(document: Any, run_id: str) -> tuple[Trajectory, ...]:
    """The trajectories in an export, one for each conversation; the longest one first.

    Statuses, effects and bytes are not in spans. Where what was said was not captured, the steps are not there, and a
    note says so. Raises TrajectoryError where no span is of a model or a tool.
    """
    spans = spans_of(document)
    exchanges = [each for each in map(exchange_in, spans) if each is not None]
    tools = [each for each in map(tool_in, spans) if each is not None]
    if not exchanges and not tools:
        raise TrajectoryError(
            "no_spans",
            f"the export holds {len(spans)} spans, and none is of a model or a tool",
            "export OTLP JSON with GenAI or OpenInference attributes",
        )
    silent = [each for each in exchanges if not each.captured]
    told = Seen(
        exchanges=tuple(each for each in exchanges if each.captured),
        silent=tuple(silent),
        tools=tuple(tools),
        notes=tuple(_not_captured(silent, len(exchanges))),
    )
    begun = [span.started for span in spans if span.started]
    ended = [span.started + (span.seconds or 0) for span in spans if span.started]
    facts = {
        "seconds": max(ended) - min(begun) if begun else None,
        "source": {"kind": "spans", "spans": len(spans)},
    }
    return assembled_runs(run_id, told, _error(spans), facts)


def _not_captured(silent: Sequence[LlmExchange], count: int) -> Iterator[str]:
    answered = [each for each in silent if not each.failed]
    if answered:
        yield f"what was said in {len(answered)} of {count} exchanges was not captured"


def _error(spans: Iterable[Span]) -> str | None:
    """What the span of the whole run says of its failure."""
    failed = next((span for span in spans if span.failed and not span.parent), None)
    return (failed.message or f"the span {failed.name} has the status error") if failed else None
