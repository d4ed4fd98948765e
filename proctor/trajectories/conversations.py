"""Conversations told apart in the LLM traffic of one run, each as a chain of exchanges.

An exchange goes on from the one whose answer it echoes: by the id of that answer, by the ids of its calls, else by the
longest history that it repeats. What echoes nothing begins a conversation of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proctor.trajectories.exchange import LlmExchange
from proctor.trajectory import Step


@dataclass(frozen=True)
class Link:
    """One exchange in its conversation: `new` is what its request adds to what had been said before."""

    exchange: LlmExchange
    new: tuple[Step, ...]
    attempts: int = 1
    """How often the same request was sent before it was answered."""


@dataclass(frozen=True)
class Conversation:
    """A chain of exchanges. `notes` says where the history was edited on the way."""

    links: tuple[Link, ...]
    notes: tuple[str, ...] = ()


def conversations(exchanges: Iterable[LlmExchange]) -> tuple[Conversation, ...]:
    """Every conversation, in order of its beginning."""
    told = _Told()
    for exchange, attempts in _without_retries(sorted(exchanges, key=lambda each: (each.started, each.index))):
        told.add(exchange, attempts)
    return tuple(
        Conversation(tuple(told.links[position] for position in chain), tuple(told.notes.get(number, ())))
        for number, chain in enumerate(told.chains)
    )


class _Told:
    """The exchanges so far, each with the history that stands after it."""

    def __init__(self) -> None:
        self.links: list[Link] = []
        self.chains: list[list[int]] = []
        self.notes: dict[int, list[str]] = {}
        self._histories: list[list[int]] = []
        self._ids: list[frozenset[str]] = []
        self._chain_of: dict[int, int] = {}

    def add(self, exchange: LlmExchange, attempts: int) -> None:
        """Join the next exchange, in order of time, to what it goes on from."""
        asked = [_key(step) for step in exchange.asked]
        parent = self._parent(exchange, asked)
        before = self._histories[parent] if parent is not None else []
        continued = bool(exchange.previous) and parent is not None
        known = 0 if continued else _shared(before, asked)
        position = len(self.links)
        edited = not continued and known < len(before)
        new = _not_said(before[known:], exchange.asked[known:]) if edited else exchange.asked[known:]
        self.links.append(Link(exchange, new, attempts))
        self._histories.append([*(before if continued else ()), *asked, *map(_key, exchange.answered)])
        self._ids.append(_ids(exchange.asked) | _ids(exchange.answered))
        chain = self._chain(parent)
        self.chains[chain].append(position)
        self._chain_of[position] = chain
        if edited:
            self.notes.setdefault(chain, []).append(
                f"exchange {exchange.index}: the history was edited or shortened; only what had not been said follows"
            )

    def _chain(self, parent: int | None) -> int:
        """The chain that the parent ends; a new one at a beginning, or where two go on from the same place."""
        if parent is not None:
            chain = self._chain_of[parent]
            if self.chains[chain][-1] == parent:
                return chain
            self.chains.append(self.chains[chain][: self.chains[chain].index(parent) + 1])
        else:
            self.chains.append([])
        return len(self.chains) - 1

    def _parent(self, exchange: LlmExchange, asked: list[int]) -> int | None:
        earlier = range(len(self.links))
        if exchange.previous:
            same = [each for each in earlier if self.links[each].exchange.id == exchange.previous]
            return same[-1] if same else None
        echoed = _ids(exchange.asked)
        best: tuple[bool, int, int] | None = None
        for each in earlier:
            history = self._histories[each]
            shared = _shared(history, asked)
            whole = shared == len(history) and bool(self.links[each].exchange.answered)
            if whole or self._ids[each] & echoed:
                best = max(best or (False, -1, -1), (whole, shared, each))
        return best[2] if best is not None else None


def _not_said(before: Sequence[int], asked: Sequence[Step]) -> tuple[Step, ...]:
    """The messages of an edited history that had not been said before: a call must not count twice."""
    said = Counter(before)
    new = []
    for step in asked:
        key = _key(step)
        if said[key]:
            said[key] -= 1
        else:
            new.append(step)
    return tuple(new)


def _ids(steps: Iterable[Step]) -> frozenset[str]:
    """The ids of calls that stand in some messages."""
    found = [call.id for step in steps for call in step.tool_calls]
    return frozenset(each for each in (*found, *(step.tool_call_id for step in steps)) if each)


def _shared(before: Sequence[int], asked: Sequence[int]) -> int:
    """How many messages of a history a request repeats from its beginning."""
    pairs = enumerate(zip(before, asked, strict=False))
    return next((at for at, (old, new) in pairs if old != new), min(len(before), len(asked)))


def _key(step: Step) -> int:
    """Equal for two messages that say the same; private reasoning, which is seldom sent back, does not count."""
    calls = [(call.name, call.id, _canonical(call.arguments)) for call in step.tool_calls]
    return hash((step.role, (step.text or "").strip(), step.tool_call_id or "", tuple(calls)))


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _without_retries(exchanges: list[LlmExchange]) -> list[tuple[LlmExchange, int]]:
    """A request that failed and was sent again counts once, with its attempts; one that failed for good stays."""
    kept: list[tuple[LlmExchange, int]] = []
    for exchange in exchanges:
        same = next(
            (at for at in range(len(kept) - 1, -1, -1) if kept[at][0].failed and kept[at][0].asked == exchange.asked),
            None,
        )
        if same is None:
            kept.append((exchange, 1))
        else:
            _, attempts = kept.pop(same)
            kept.append((exchange, attempts + 1))
    return kept
