"""What the traffic of a run tells, as steps that have no number yet, each with the moment at which it was there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal, NamedTuple

from proctor.trajectories.attribution import Asked, Key
from proctor.trajectories.conversations import Conversation, Link
from proctor.trajectories.exchange import ToolTraffic
from proctor.trajectories.pairing import Pairing
from proctor.trajectories.steps import called, canonical, said, text_of
from proctor.trajectories.telling import Moment, ended
from proctor.trajectory import Difference, Step


class Origin(NamedTuple):
    """Where a piece comes from. Conversations that part share their beginning, and so these."""

    kind: Literal["request", "answer", "result", "seen"]
    """`seen` is a call by its traffic alone."""
    exchange: int
    place: int
    """Of the message; of a result, the number of its call in the exchange."""


@dataclass(frozen=True)
class Piece:
    """One step, and what is known of it."""

    step: Step
    moment: Moment
    belongs: float
    """The moment whose turn is its own: of an answer of words, when the model was asked; of a result, when the tool was
    asked; else when it was known. So an answer that is a little slower than its reader stays with its question."""
    origin: Origin
    past: bool = False
    """Its request tells of the agent's own words after it: it had been said before."""
    made: tuple[Key, ...] = ()
    """The calls of the step."""
    asked: Asked | None = None
    """The call that it answers; None where no model's traffic tells of one."""
    seen: ToolTraffic | None = None
    """Of a result: the traffic that it came from."""


def pieces(conversation: Conversation, pairing: Pairing, traffic: Mapping[Key, ToolTraffic]) -> Iterator[Piece]:
    """The steps of a conversation, in its order. A result that no model was told is one all the same."""
    before: Link | None = None
    for number, link in enumerate(conversation.links):
        told = list(_told(number, link, before, pairing, traffic))
        leading = len(list(takewhile(lambda piece: piece.asked is not None, told)))
        yield from told[:leading]
        yield from _untold(before, pairing, traffic)
        yield from told[leading:]
        yield from _answers(number, link, pairing)
        before = link
    yield from _untold(before, pairing, traffic)


def seen_alone(traffic: Iterable[ToolTraffic]) -> Iterator[Piece]:
    """Each call with its answer, where nothing but its traffic tells of it: no words."""
    for seen in traffic:
        call_id = seen.call_id or f"seen-{seen.index}"
        call = said("assistant", None, tool_calls=(called(seen.name, call_id, seen.arguments),))
        answer = _with_facts(said("tool", text_of(seen.result), tool_call_id=call_id), seen.name, seen)
        key = seen.index, 0
        yield Piece(call, ended(seen.started, 0.0), seen.started, Origin("seen", *key), made=(key,))
        yield Piece(answer, ended(seen.started, seen.seconds), seen.started, Origin("result", *key), seen=seen)


def differences(step: int, piece: Piece) -> Iterator[Difference]:
    """Where what went to the tool contradicts what the model asked for, with the step's number."""
    if piece.asked is not None and piece.seen is not None:
        for name, (sent, wanted) in contradicted(piece.asked, piece.seen).items():
            yield Difference(step=step, what=f"argument {name} of {piece.asked.call.name}", wire=sent, log=wanted)


def contradicted(asked: Asked, seen: ToolTraffic) -> dict[str, tuple[Any, Any]]:
    """By argument: what was sent, and what was asked for instead. What an agent adds is no contradiction."""
    wanted, sent = asked.call.arguments, seen.arguments
    if not isinstance(wanted, dict) or not isinstance(sent, dict):
        return {}
    return {
        name: (sent[name], value)
        for name, value in wanted.items()
        if name in sent and canonical(sent[name]) != canonical(value)
    }


def _told(
    number: int, link: Link, before: Link | None, pairing: Pairing, traffic: Mapping[Key, ToolTraffic]
) -> Iterator[Piece]:
    """The new messages of a request; the results among them with their calls."""
    room = Moment(link.exchange.started, -math.inf if before is None else _end(before))
    spoken = max((place for place, step in enumerate(link.new) if step.role == "assistant"), default=-1)
    for position, step in enumerate(link.new):
        place = number, position
        if place in pairing.results:
            asked = pairing.asked[pairing.results[place]]
            yield _result(step, asked, traffic.get(asked.key), room)
        else:
            origin = Origin("request", link.exchange.index, position)
            past = position <= spoken
            yield Piece(step, room, room.known, origin, past=past, made=pairing.made.get(place, ()))


def _untold(link: Link | None, pairing: Pairing, traffic: Mapping[Key, ToolTraffic]) -> Iterator[Piece]:
    """Results that the traffic shows and no model was told: of the last calls, or dropped by the agent."""
    for asked in pairing.asked.values():
        seen = traffic.get(asked.key)
        if link is not None and asked.key[0] == link.exchange.index and seen is not None and not asked.answered:
            step = said("tool", text_of(seen.result), tool_call_id=asked.call.id or None)
            yield _result(step, asked, seen, ended(seen.started, seen.seconds))


def _result(step: Step, asked: Asked, seen: ToolTraffic | None, room: Moment) -> Piece:
    moment = room if seen is None else ended(seen.started, seen.seconds)
    belongs = room.known if seen is None else seen.started
    step = _with_facts(step, asked.call.name, seen)
    return Piece(step, moment, belongs, Origin("result", *asked.key), asked=asked, seen=seen)


def _answers(number: int, link: Link, pairing: Pairing) -> Iterator[Piece]:
    """The model's answer; its time and tokens stand on its first step."""
    exchange = link.exchange
    moment = ended(exchange.started, exchange.seconds)
    belongs = moment.known if any(step.tool_calls for step in exchange.answered) else exchange.started
    facts: dict[str, Any] = {"seconds": exchange.seconds, "tokens": exchange.tokens, "attempts": link.attempts}
    for position, step in enumerate(exchange.answered, len(link.new)):
        made = pairing.made.get((number, position), ())
        origin = Origin("answer", exchange.index, position)
        yield Piece(step.model_copy(update=facts), moment, belongs, origin, made=made)
        facts = {}


def _end(link: Link) -> float:
    return ended(link.exchange.started, link.exchange.seconds).known


def _with_facts(step: Step, called_as: str, seen: ToolTraffic | None) -> Step:
    name = step.name or called_as or (seen.name if seen else None)
    if seen is None:
        return step.model_copy(update={"name": name})
    facts = {
        "name": name,
        "status": seen.status,
        "is_error": seen.is_error or step.is_error,
        "seconds": seen.seconds,
        "attempts": seen.attempts,
        "fault": seen.fault,
        "service": seen.service,
        "effect": seen.effect,
    }
    return step.model_copy(update=facts)
