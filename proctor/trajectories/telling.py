"""What the agent told of itself, put in its place among the steps.

The wire says when a step was there at the latest; a user's message may have been there since the last answer. Within
that room the agent's own word decides; where it contradicts the wire, the wire's turn stands, and that is a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from proctor.events import KINDS, EventRow
from proctor.trajectory import Difference, Event, Step, Trajectory, TurnState

SEVERAL = "the agent told events, and had several conversations: they stand on the longest one, by their time"


@dataclass(frozen=True)
class Moment:
    """When a step was there, in seconds since the session's begin: `known` at the latest, `since` at the earliest."""

    known: float
    since: float


def ended(started: float, seconds: float | None) -> Moment:
    """The moment of what an exchange brought."""
    end = started + (seconds or 0.0)
    return Moment(end, end)


@dataclass(frozen=True)
class _Room:
    """Where an event may stand: after step `seen`, or after a user's message as far as `may`; -1 is before all."""

    seen: int
    may: int
    first: int
    """The turn of the one."""
    last: int
    """And that of the other."""


def with_events(
    run: Trajectory, moments: Sequence[Moment], rows: Iterable[EventRow], *, alone: bool = True
) -> Trajectory:
    """The run with the events that its agent told before those of Proctor's own, and with the states around turns.

    `moments` are those of the steps. Not `alone`: of several conversations this is one, so turns contradict nothing.
    """
    events: list[Event] = []
    differences: list[Difference] = []
    states: dict[int, TurnState] = {}
    for row in rows:
        room = _room(run.steps, moments, row.started)
        turn = _turn(row, room)
        step = _step(run.steps, row, room, turn)
        if alone and row.turn is not None and row.turn > room.last:
            what = f"turn of the event {row.kind} (number {len(events)})"
            differences.append(Difference(step=step, what=what, wire=turn, log=row.turn))
        events.append(Event(kind=row.kind, data=row.data, step=step))
        if row.when is not None:
            around = states.get(turn, TurnState(turn=turn))
            states[turn] = around.model_copy(update={row.when: row.data})
    told = {
        "events": (*events, *run.events),
        "states": tuple(states[turn] for turn in sorted(states)),
        "differences": (*run.differences, *differences),
        "notes": run.notes if alone or not events else (*run.notes, SEVERAL),
    }
    return run.model_copy(update=told) if events else run


def _room(steps: Sequence[Step], moments: Sequence[Moment], at: float) -> _Room:
    seen = len(list(takewhile(lambda moment: moment.known <= at, moments))) - 1
    open_ = takewhile(lambda place: moments[place].since <= at, range(seen + 1, len(steps)))
    may = max((place for place in open_ if steps[place].role == "user"), default=seen)
    first = steps[seen].turn if seen >= 0 else 0
    return _Room(seen, may, first, steps[may].turn if may >= 0 else 0)


def _turn(row: EventRow, room: _Room) -> int:
    """The agent's own count, unless no such turn had begun; else the one that begins, for what comes at a begin."""
    if row.turn is not None and row.turn <= room.last:
        return row.turn
    return room.last if _opens(row) or row.when == "before" else room.first


def _step(steps: Sequence[Step], row: EventRow, room: _Room, turn: int) -> int | None:
    """The step it came after; of a turn that was over, the place in that turn which the kind means."""
    if row.when == "before":
        place = max((step.index for step in steps[: room.seen + 1] if step.turn < turn), default=-1)
    elif turn < room.first:
        inside = [step for step in steps if step.turn == turn]
        asked = [step for step in inside if step.role == "user"]
        place = (asked if _opens(row) and asked else inside)[-1].index
    else:
        begun = turn > room.first or (_opens(row) and turn == room.last)
        place = room.may if begun else room.seen
    return place if place >= 0 else None


def _opens(row: EventRow) -> bool:
    kind = KINDS.get(row.kind)
    return kind is not None and kind.opens_turn
