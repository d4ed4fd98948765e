"""A conversation as a trajectory's steps, each tool result with the facts of the tool traffic that it came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.trajectories.conversations import Conversation, Link
from proctor.trajectories.exchange import ToolTraffic
from proctor.trajectories.steps import called, numbered, said, summed, text_of
from proctor.trajectory import Difference, Step, Tokens, ToolCall


@dataclass(frozen=True)
class Joined:
    """The steps of one conversation, and what was found while joining."""

    steps: tuple[Step, ...]
    differences: tuple[Difference, ...]
    tokens: Tokens | None
    used: frozenset[int]
    """Indexes of the tool traffic that was attributed."""


def joined(conversation: Conversation, traffic: Sequence[ToolTraffic]) -> Joined:
    """Steps from the links of a conversation; tool traffic is joined by id, then name and arguments, then result."""
    left = list(traffic)
    steps: list[Step] = []
    differences: list[Difference] = []
    for link in conversation.links:
        for step in link.new:
            if step.role == "tool":
                call = _call_of(steps, step)
                seen = _taken(left, step, call, link)
                if seen is not None and call is not None:
                    differences += _differences(len(steps), call, seen)
                step = _with_facts(step, call, seen)
            steps.append(step)
        steps += _answers(link)
    used = {seen.index for seen in traffic} - {seen.index for seen in left}
    tokens = summed(link.exchange.tokens for link in conversation.links if not link.exchange.failed)
    return Joined(numbered(steps), tuple(differences), tokens, frozenset(used))


def from_tools_alone(traffic: Iterable[ToolTraffic]) -> tuple[Step, ...]:
    """Steps where nothing but tool traffic was seen: each call with its answer, and no words."""
    steps: list[Step] = []
    for seen in traffic:
        call_id = seen.call_id or f"seen-{seen.index}"
        steps.append(said("assistant", None, tool_calls=(called(seen.name, call_id, seen.arguments),)))
        steps.append(_with_facts(said("tool", text_of(seen.result), tool_call_id=call_id), None, seen))
    return numbered(steps)


def _answers(link: Link) -> Iterator[Step]:
    """The model's answer; its time and tokens stand on its first step."""
    exchange = link.exchange
    facts: dict[str, Any] = {"seconds": exchange.seconds, "tokens": exchange.tokens, "attempts": link.attempts}
    for step in exchange.answered:
        yield step.model_copy(update=facts)
        facts = {}


def _call_of(steps: Sequence[Step], result: Step) -> ToolCall | None:
    """The call that a result answers: the last with its id that nothing has answered yet."""
    answered = sum(step.role == "tool" and step.tool_call_id == result.tool_call_id for step in steps)
    calls = [call for step in steps for call in step.tool_calls if call.id == (result.tool_call_id or "")]
    return calls[min(answered, len(calls) - 1)] if calls else None


def _taken(left: list[ToolTraffic], result: Step, call: ToolCall | None, link: Link) -> ToolTraffic | None:
    """The traffic of one call, taken out of what is left: only such as came before the request that quotes it."""
    before = [seen for seen in left if seen.started <= link.exchange.started]
    named = [seen for seen in before if call is not None and seen.name == call.name]
    for fits in (
        [seen for seen in before if seen.call_id and seen.call_id == result.tool_call_id],
        [seen for seen in named if call is not None and _canonical(seen.arguments) == _canonical(call.arguments)],
        [seen for seen in named if call is not None and _holds(seen.arguments, call.arguments)],
        [seen for seen in before if result.text and text_of(seen.result) == result.text],
        named,
    ):
        if fits:
            left.remove(fits[0])
            return fits[0]
    return None


def _with_facts(step: Step, call: ToolCall | None, seen: ToolTraffic | None) -> Step:
    name = step.name or (call.name if call else None) or (seen.name if seen else None)
    if seen is None:
        return step.model_copy(update={"name": name})
    facts = {
        "name": name,
        "status": seen.status,
        "is_error": seen.is_error if step.is_error is None else step.is_error,
        "seconds": seen.seconds,
        "attempts": seen.attempts,
        "fault": seen.fault,
        "service": seen.service,
        "effect": seen.effect,
    }
    return step.model_copy(update=facts)


def _differences(step: int, call: ToolCall, seen: ToolTraffic) -> Iterator[Difference]:
    """Where what went to the tool contradicts what the model asked for; what an agent adds is no contradiction."""
    if isinstance(call.arguments, dict) and isinstance(seen.arguments, dict):
        for name, asked in call.arguments.items():
            if name in seen.arguments and _canonical(seen.arguments[name]) != _canonical(asked):
                yield Difference(
                    step=step, what=f"argument {name} of {call.name}", wire=seen.arguments[name], log=asked
                )


def _holds(whole: Any, part: Any) -> bool:
    if not isinstance(whole, dict) or not isinstance(part, dict):
        return False
    return all(name in whole and _canonical(whole[name]) == _canonical(value) for name, value in part.items())


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
