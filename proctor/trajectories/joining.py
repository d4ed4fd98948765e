"""A conversation as a trajectory's steps, each tool result with the facts of the tool traffic that it came from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from proctor.trajectories.attribution import Asked, Key
from proctor.trajectories.conversations import Conversation, Link
from proctor.trajectories.exchange import ToolTraffic
from proctor.trajectories.pairing import Pairing
from proctor.trajectories.steps import called, canonical, numbered, said, text_of
from proctor.trajectories.telling import Moment, ended
from proctor.trajectory import Difference, Step


@dataclass(frozen=True)
class Joined:
    """The steps of one conversation, and what was found while joining."""

    steps: tuple[Step, ...]
    differences: tuple[Difference, ...]
    moments: tuple[Moment, ...]
    """When each step was there."""


def joined(conversation: Conversation, pairing: Pairing, traffic: Mapping[Key, ToolTraffic]) -> Joined:
    """Steps from the links of a conversation. A result that no model was told is one all the same."""
    steps: list[Step] = []
    differences: list[Difference] = []
    moments: list[Moment] = []
    room = Moment(-math.inf, -math.inf)

    def add_results(results: Iterable[tuple[Step, Asked]]) -> None:
        for step, asked in results:
            seen = traffic.get(asked.key)
            differences.extend(_differences(len(steps), asked, seen))
            steps.append(_with_facts(step, asked.call.name, seen))
            moments.append(room if seen is None else ended(seen.started, seen.seconds))

    before: Link | None = None
    for number, link in enumerate(conversation.links):
        room = Moment(link.exchange.started, room.known if before is None else _end(before))
        told = list(_told(number, link, pairing))
        leading = len(list(takewhile(lambda each: each[1] is not None, told)))
        add_results((step, asked) for step, asked in told[:leading] if asked)
        add_results(_untold(before, pairing, traffic))
        for step, asked in told[leading:]:
            if asked is None:
                steps.append(step)
                moments.append(room)
            else:
                add_results([(step, asked)])
        steps += _answers(link)
        moments += [ended(link.exchange.started, link.exchange.seconds)] * len(link.exchange.answered)
        before = link
    add_results(_untold(before, pairing, traffic))
    return Joined(numbered(steps), tuple(differences), tuple(moments))


def from_tools_alone(traffic: Iterable[ToolTraffic]) -> Joined:
    """Steps where nothing but tool traffic was seen: each call with its answer, and no words."""
    steps: list[Step] = []
    moments: list[Moment] = []
    for seen in traffic:
        call_id = seen.call_id or f"seen-{seen.index}"
        steps.append(said("assistant", None, tool_calls=(called(seen.name, call_id, seen.arguments),)))
        steps.append(_with_facts(said("tool", text_of(seen.result), tool_call_id=call_id), seen.name, seen))
        moments += [ended(seen.started, 0.0), ended(seen.started, seen.seconds)]
    return Joined(numbered(steps), (), tuple(moments))


def _end(link: Link) -> float:
    return ended(link.exchange.started, link.exchange.seconds).known


def _told(number: int, link: Link, pairing: Pairing) -> Iterator[tuple[Step, Asked | None]]:
    """The new messages of a request; the results among them with their calls."""
    for position, step in enumerate(link.new):
        key = pairing.results.get((number, position))
        yield step, None if key is None else pairing.asked[key]


def _untold(link: Link | None, pairing: Pairing, traffic: Mapping[Key, ToolTraffic]) -> Iterator[tuple[Step, Asked]]:
    """Results that the traffic shows and no model was told: of the last calls, or dropped by the agent."""
    for asked in pairing.asked.values():
        seen = traffic.get(asked.key)
        if link is not None and asked.key[0] == link.exchange.index and seen is not None and not asked.answered:
            yield said("tool", text_of(seen.result), tool_call_id=asked.call.id or None), asked


def _answers(link: Link) -> Iterator[Step]:
    """The model's answer; its time and tokens stand on its first step."""
    exchange = link.exchange
    facts: dict[str, Any] = {"seconds": exchange.seconds, "tokens": exchange.tokens, "attempts": link.attempts}
    for step in exchange.answered:
        yield step.model_copy(update=facts)
        facts = {}


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


def _differences(step: int, asked: Asked, seen: ToolTraffic | None) -> Iterator[Difference]:
    """Where what went to the tool contradicts what the model asked for; what an agent adds is no contradiction."""
    call = asked.call
    if seen is not None and isinstance(call.arguments, dict) and isinstance(seen.arguments, dict):
        for name, value in call.arguments.items():
            if name in seen.arguments and canonical(seen.arguments[name]) != canonical(value):
                yield Difference(
                    step=step, what=f"argument {name} of {call.name}", wire=seen.arguments[name], log=value
                )
