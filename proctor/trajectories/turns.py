"""The turns of a trial as the runner held them, and what was seen put into them by time."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proctor.trajectories.pieces import Piece
from proctor.trajectories.steps import said
from proctor.trajectories.telling import Moment
from proctor.trajectory import Step


@dataclass(frozen=True)
class TurnHeld:
    """One turn. Times are seconds on the session's clock, that of `TraceRow.started`."""

    user: str
    began: float
    """When the agent was given the user's words."""
    ended: float | None
    """When its reply was there; None where it never was."""
    reply: str | None
    """None where the agent gave none."""
    before: Any = None
    """The state of the worlds, as an end state is told (`end_state_of`); None where it is not known."""
    after: Any = None


@dataclass(frozen=True)
class Placed:
    """A step in its turn, not yet numbered; `piece` is None for words that only the runner knows."""

    step: Step
    moment: Moment
    piece: Piece | None = None


def in_turns(whole: Iterable[Piece], turns: Sequence[TurnHeld]) -> list[Placed]:
    """Each piece in the turn of its time, what comes before all in the first, with what user and agent said.

    `whole` is in order of time; so is each turn, and turns follow one another. What belongs to a turn and was there
    only in a later one stands at the end of its own.
    """
    begins = [turn.began for turn in turns]
    parts: list[list[Placed]] = [[] for _ in turns or (None,)]
    for piece in whole:
        number = max(bisect_right(begins, piece.belongs) - 1, 0)
        parts[number].append(Placed(piece.step, piece.moment, piece))
    placed: list[Placed] = []
    for number, part in enumerate(parts):
        end = begins[number + 1] if number + 1 < len(begins) else math.inf
        within = [replace(each, moment=_until(each.moment, end)) for each in part]
        held = _with_reply(_with_user(within, turns[number]), turns[number], end) if turns else within
        placed += [replace(each, step=each.step.model_copy(update={"turn": number})) for each in held]
    return placed


def _with_user(part: Sequence[Placed], turn: TurnHeld) -> list[Placed]:
    """The user's words at the turn's begin, after the instructions that its first request tells.

    A message on the wire that holds the words stands for them; the very same words once more are not said twice.
    """
    wire = _holding(part, turn.user.strip())
    step = said("user", turn.user) if wire is None else wire.step
    same = {turn.user.strip(), (step.text or "").strip()}
    first = min((each.moment.known for each in part if _kind(each) == "request"), default=math.inf)
    opening: list[Placed] = []
    rest: list[Placed] = []
    for each in part:
        if each.step.role == "system" and each.moment.known == first:
            opening.append(each)
        elif each.step.role != "user" or (each.step.text or "").strip() not in same:
            rest.append(each)
    earlier = [each for each in rest if each.moment.known < turn.began]
    begin = Moment(turn.began, turn.began)
    begun = [*opening, Placed(step, begin, wire.piece if wire else None)]
    return [*earlier, *(replace(each, moment=begin) for each in begun), *rest[len(earlier) :]]


def _holding(part: Sequence[Placed], words: str) -> Placed | None:
    """The user's message that is the words, else the first that has them in it, as words of their own."""
    messages = [each for each in part if each.step.role == "user"]
    inside = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)") if words else None
    exact = next((each for each in messages if (each.step.text or "").strip() == words), None)
    return exact or next((each for each in messages if inside and inside.search(each.step.text or "")), None)


def _with_reply(part: list[Placed], turn: TurnHeld, end: float) -> list[Placed]:
    """The reply as the agent's last words, at its time; what the agent did after it comes after it."""
    if turn.reply is None:
        return part
    words = [place for place, each in enumerate(part) if each.step.role == "assistant" and each.step.text]
    if words and (part[words[-1]].step.text or "").strip() == turn.reply.strip():
        return part
    ended = math.inf if turn.ended is None else turn.ended
    asked = next(place for place, each in enumerate(part) if each.step.role == "user")
    known = bisect_right([each.moment.known for each in part], ended)
    place = max(known, asked + 1, words[-1] + 1 if words else 0)
    at = max(min(ended, end), part[place - 1].moment.known)
    return [*part[:place], Placed(said("assistant", turn.reply), Moment(at, at)), *part[place:]]


def _until(moment: Moment, end: float) -> Moment:
    known = min(moment.known, end)
    return Moment(known, min(moment.since, known))


def _kind(placed: Placed) -> str:
    return placed.piece.origin.kind if placed.piece else ""
