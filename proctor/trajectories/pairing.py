"""The calls of a conversation, each with the time in which it was made and with what the model was told of it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field, replace

from proctor.trajectories.attribution import Asked, Key
from proctor.trajectories.conversations import Conversation
from proctor.trajectory import Step, ToolCall


@dataclass
class Pairing:
    """Calls, and the steps that tell of them: by the number of the link, and of the step there.

    The steps of a link are those that its request adds, then those of its answer.
    """

    asked: dict[Key, Asked] = field(default_factory=dict)
    results: dict[tuple[int, int], Key] = field(default_factory=dict)
    """Which call a new step answers."""
    made: dict[tuple[int, int], tuple[Key, ...]] = field(default_factory=dict)
    """Which calls a step asks for; steps that ask for none are not there."""


def paired(conversation: Conversation) -> Pairing:
    """Join calls and results by id, the n-th with the n-th; without ids by their order within a turn.

    A call is made between the request that brought it and the next one, or the one that tells its result.
    """
    walk = _Walk()
    links = conversation.links
    for number, link in enumerate(links):
        begun = link.exchange.started
        since = links[number - 1].exchange.started if number else -math.inf
        until = links[number + 1].exchange.started if number + 1 < len(links) else math.inf
        walk.at(link.exchange.index, since, begun)
        for position, step in enumerate(link.new):
            if step.role == "user":
                walk.waiting.pop("", None)
            if step.role == "tool":
                walk.found.results[number, position] = walk.answered(step)
            walk.calls(step, (number, position))
        walk.at(link.exchange.index, begun, until, minted=True)
        for position, step in enumerate(link.exchange.answered, len(link.new)):
            walk.calls(step, (number, position))
    return walk.found


class _Walk:
    """Where a conversation has come to: the calls so far, and which of them have no result yet."""

    def __init__(self) -> None:
        self.found = Pairing()
        self.waiting: dict[str, deque[Key]] = defaultdict(deque)
        self._counts: Counter[int] = Counter()
        self._place = 0, 0.0, 0.0
        self._minted = False

    def at(self, index: int, after: float, before: float, *, minted: bool = False) -> None:
        """The calls that follow stand in this exchange and were made in this time; `minted`: in its answer."""
        self._place = index, after, before
        self._minted = minted

    def calls(self, step: Step, place: tuple[int, int]) -> None:
        """Note the calls of a step."""
        made = tuple(self._asked(call) for call in step.tool_calls)
        for call, key in zip(step.tool_calls, made, strict=True):
            self.waiting[call.id].append(key)
        if made:
            self.found.made[place] = made

    def answered(self, step: Step) -> Key:
        """The call that a result answers; one of its own where nothing tells of the call."""
        waiting = self.waiting[step.tool_call_id or ""]
        unseen = ToolCall(name=step.name or "", id=step.tool_call_id or "")
        key = waiting.popleft() if waiting else self._asked(unseen)
        asked = self.found.asked[key]
        self.found.asked[key] = replace(asked, answered=True, told=step.text, before=self._place[2])
        return key

    def _asked(self, call: ToolCall) -> Key:
        index, after, before = self._place
        key = index, self._counts[index]
        self._counts[index] += 1
        self.found.asked[key] = Asked(key, call, after, before, minted=self._minted)
        return key
