"""Conversations told apart in the LLM traffic of one run, each as a chain of exchanges.

An exchange goes on from the one whose answer it echoes: by the id of that answer, by the ids of its calls, else by the
longest history that it repeats, were it with the model's own words edited. What echoes nothing begins a conversation
of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from proctor.trajectories.exchange import LlmExchange
from proctor.trajectories.histories import History, added, begun, following
from proctor.trajectories.same_requests import Sent, sent_once
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
    """A chain of exchanges. `notes` says what was odd on the way: edited histories, repeats, lost requests."""

    links: tuple[Link, ...]
    notes: tuple[str, ...] = ()


def conversations(exchanges: Iterable[LlmExchange]) -> tuple[Conversation, ...]:
    """Every conversation, in order of its beginning."""
    told = _Told()
    for sent in sent_once(sorted(exchanges, key=lambda each: (each.started, each.index))):
        told.add(sent)
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
        self._histories: list[History] = []
        self._chain_of: dict[int, int] = {}
        self._continued: set[int] = set()
        self._lost: set[int] = set()
        """Unanswered requests that left their chain."""

    def add(self, sent: Sent) -> None:
        """Join the next exchange, in order of time, to what it goes on from."""
        exchange, position = sent.exchange, len(self.links)
        history = begun(exchange)
        parent = self._parent(exchange, history)
        chain = self._chain(parent)
        before = None if parent is None else self._histories[parent]
        notes = self.notes.setdefault(chain, [])
        notes += _odd(exchange, before, history)
        notes += (f"exchange {again} asked the same again, and the answer was the same" for again in sent.repeated)
        new = exchange.asked if before is None else added(before, history, exchange)
        self.links.append(Link(exchange, new, sent.attempts))
        self._histories.append(history if before is None else following(before, history, exchange))
        self.chains[chain].append(position)
        self._chain_of[position] = chain
        if parent is not None and not exchange.failed:
            self._continued.add(parent)

    def _chain(self, parent: int | None) -> int:
        """The chain that the parent ends; a new one at a beginning, or where two go on from the same place.

        Requests that the model never answered are no place to go on from another way: they leave the chain.
        """
        if parent is None:
            self.chains.append([])
            return len(self.chains) - 1
        number = self._chain_of[parent]
        chain = self.chains[number]
        after = chain.index(parent) + 1
        if any(not self.links[each].exchange.failed for each in chain[after:]):
            self.chains.append(chain[:after])
            return len(self.chains) - 1
        self._lost.update(chain[after:])
        self.notes.setdefault(number, []).extend(failure(self.links[each].exchange) for each in chain[after:])
        del chain[after:]
        return number

    def _parent(self, exchange: LlmExchange, history: History) -> int | None:
        earlier = [each for each in range(len(self.links)) if each not in self._lost]
        if exchange.previous:
            same = [each for each in earlier if self.links[each].exchange.id == exchange.previous]
            return same[-1] if same else None
        ranked = [(rank, each) for each in earlier if (rank := self._rank(each, history)) is not None]
        return max(ranked)[1] if ranked else None

    def _rank(self, earlier: int, history: History) -> tuple[int, int, bool, bool] | None:
        """How well a request goes on from an earlier exchange; None where it does not.

        First what is repeated whole, then what has a call in common, then what was repeated with the model's words
        edited; of those the longest, the one under the same instructions, the one that nothing went on from yet.
        """
        before = self._histories[earlier]
        if history.repeats(before):
            kind = 2
        elif before.minted & history.echoed:
            kind = 1
        elif history.repeats(before, edited=True):
            kind = 0
        else:
            return None
        return kind, history.shared(before), before.system == history.system, earlier not in self._continued


def failure(exchange: LlmExchange) -> str:
    """The note of an exchange that the model did not answer."""
    return f"an exchange with the model failed: {exchange.failed}"


def _odd(exchange: LlmExchange, before: History | None, history: History) -> Iterator[str]:
    if exchange.previous:
        if before is None:
            yield f"exchange {exchange.index} goes on from an answer that was not seen: what came before is not known"
    elif before is not None and not history.repeats(before):
        yield f"exchange {exchange.index}: the history was edited or shortened; only what had not been said follows"
