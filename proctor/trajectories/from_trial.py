"""From a trial: its session's traffic in the turns that the runner held, as one trajectory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.events import EventRow
from proctor.trace import SessionSummary, TraceRow
from proctor.trajectories.exchange import LlmExchange
from proctor.trajectories.from_session import error_of, facts_of, seen_in
from proctor.trajectories.pieces import differences
from proctor.trajectories.runs import broken_off, failures, tokens_of, unattributed
from proctor.trajectories.telling import with_events
from proctor.trajectories.timeline import Timeline, timeline
from proctor.trajectories.turns import Placed, TurnHeld, in_turns
from proctor.trajectory import Agent, Event, ToolSchema, Trajectory, TurnState

_NO_MODEL = "no exchange with a model was seen: only the tools' calls are known, and what user and agent said"


def from_trial(
    summary: SessionSummary,
    rows: Sequence[TraceRow],
    turns: Sequence[TurnHeld],
    *,
    told: Sequence[EventRow] = (),
    worlds: Mapping[str, Any] | None = None,
) -> Trajectory:
    """The trajectory of a trial, whatever number of conversations its agent had with a model, or none.

    Every tool call of the trace is a step of the turn in which it was made. `turns` are in order; none where the agent
    never got the user's words. `told` is what the agent told of itself, `worlds` the end state of each world, by
    service. What only the runner knows (case, trial, agent, limits hit) is for the caller to put in (`model_copy`).
    """
    seen = seen_in(rows)
    line = timeline(seen)
    placed = in_turns(line.pieces, turns)
    silence = () if seen.exchanges else (_NO_MODEL,)
    run = Trajectory(
        id=summary.session,
        agent=Agent(model=next((each.model for each in seen.exchanges if each.model), "")),
        tools=_tools(seen.exchanges),
        steps=tuple(each.step.model_copy(update={"index": index}) for index, each in enumerate(placed)),
        events=tuple(_unexplained(line, placed)) if seen.exchanges else (),
        final_answer=turns[-1].reply if turns else None,
        error="; ".join(filter(None, (error_of(summary), broken_off(seen.exchanges)))) or None,
        tokens=tokens_of(seen.exchanges),
        differences=tuple(
            found for index, each in enumerate(placed) if each.piece for found in differences(index, each.piece)
        ),
        notes=(*silence, *dict.fromkeys((*line.notes, *failures(seen.exchanges), *seen.notes))),
        **facts_of(summary, worlds),
    )
    return _with_states(with_events(run, [each.moment for each in placed], told), turns)


def _with_states(run: Trajectory, turns: Sequence[TurnHeld]) -> Trajectory:
    """The states of the worlds around the turns; what the agent told stands where none is known."""
    states = {state.turn: state for state in run.states}
    for number, turn in enumerate(turns):
        if turn.before is not None or turn.after is not None:
            states[number] = TurnState(turn=number, before=turn.before, after=turn.after, by="proctor")
    return run.model_copy(update={"states": tuple(states[number] for number in sorted(states))})


def _unexplained(line: Timeline, placed: Sequence[Placed]) -> Iterator[Event]:
    calls = {
        each.piece.origin.exchange: index
        for index, each in enumerate(placed)
        if each.piece and each.piece.origin.kind == "seen"
    }
    yield from (unattributed(each, calls[each.index]) for each in line.unexplained)


def _tools(exchanges: Sequence[LlmExchange]) -> tuple[ToolSchema, ...] | None:
    """All that were offered to any model, each as it was declared last; None where no request tells."""
    declared = [each.tools for each in exchanges if each.tools is not None]
    return tuple({tool.name: tool for tools in declared for tool in tools}.values()) if declared else None
