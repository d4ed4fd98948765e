"""Finding the recording of a request that differs only in what is forgiven, and telling each thing that was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from proctor.bindings import Bindings, Threaded
from proctor.diff import shown_value
from proctor.forgiving import Essence, LeftOut, Thread
from proctor.interaction import Headers, Request
from proctor.matchkey import Identity
from proctor.proxy.essences import Essences

_MINTED_TOLD = 3


class Conflict(Exception):
    """A request that differs in volatile values only, but not in the way in which others of the session did."""


class Forgiven(NamedTuple):
    """A request that may be answered although it differs; `positions` are the recordings that may answer."""

    essence: Essence
    positions: list[int]
    threaded: tuple[Threaded, ...] = ()


@dataclass
class Forgiver:
    """Forgives, in one service of one session, what `proctor.toml` declares and what an LLM mints."""

    essences: Essences
    bindings: Bindings

    def find(self, request: Request, key_headers: Headers, identity: Identity) -> Forgiven | None:
        """By the request as it is, else with recorded values for live ones that are bound to them.

        Raises Conflict where there are recordings, but volatile values contradict what was bound before.
        """
        asked = Forgiven(self._essence(request, key_headers, identity), [])
        positions, conflict = self._fitting(asked.essence)
        if positions:
            return asked._replace(positions=positions)
        told: list[Threaded] = []
        threaded = self._essence(
            request, key_headers, identity, lambda place, text: self.bindings.thread(place, text, told)
        )
        if told:
            positions, why = self._fitting(threaded)
            if positions:
                return Forgiven(threaded, positions, tuple(told))
            conflict = conflict or why
        if conflict:
            raise Conflict(conflict)
        return None

    def twins(self, position: int) -> Forgiven:
        """The recordings that may answer a request equal to the recorded one at `position`."""
        essence = self.essences.of(position)
        return Forgiven(essence, self._fitting(essence)[0])

    def forgave(self, found: Forgiven, position: int) -> tuple[str, ...]:
        """Bind what the answer from `position` forgave, and tell it, a text each."""
        recorded, asked = self.essences.of(position).left_out, found.essence.left_out
        self.bindings.bind(_volatile(recorded), _volatile(asked))
        texts = (*_differing(recorded, asked), *_threads(found.threaded), *_minted(recorded, asked))
        return tuple(dict.fromkeys(texts))

    def _essence(
        self, request: Request, key_headers: Headers, identity: Identity, thread: Thread | None = None
    ) -> Essence:
        return self.essences.rules.essence(request, key_headers, identity, thread)

    def _fitting(self, essence: Essence) -> tuple[list[int], str | None]:
        """The recordings of an essence that fit what is bound; else why one does not."""
        fitting: list[int] = []
        conflict: str | None = None
        asked = _volatile(essence.left_out)
        for position in self.essences.positions(essence.key):
            why = self.bindings.conflict(_volatile(self.essences.of(position).left_out), asked)
            if why is None:
                fitting.append(position)
            conflict = conflict or why
        return fitting, conflict


def _volatile(left_out: Sequence[LeftOut]) -> list[LeftOut]:
    return [each for each in left_out if each.how == "volatile"]


def _differing(recorded: Sequence[LeftOut], asked: Sequence[LeftOut]) -> Iterator[str]:
    """Declared places whose values differ. A place that is ignored may be on one side only."""
    for old, live in zip(_volatile(recorded), _volatile(asked), strict=True):
        if old.value != live.value:
            yield f"{live.place} volatile: recorded {shown_value(old.value)}, got {shown_value(live.value)}"
    before, now = ({each.place: each.value for each in side if each.how == "ignored"} for side in (recorded, asked))
    for place in dict.fromkeys((*before, *now)):
        if before.get(place) != now.get(place):
            old_text, new_text = (_value_text(side.get(place)) for side in (before, now))
            yield f"{place} ignored: recorded {old_text}, got {new_text}"


def _value_text(value: str | None) -> str:
    return "nothing" if value is None else value if len(value) <= 80 else f"{value[:80]}..."


def _threads(threaded: Sequence[Threaded]) -> Iterator[str]:
    for place, live, recorded in threaded:
        yield f"{place} threaded: {shown_value(live)} stands for the recorded {shown_value(recorded)}"


def _minted(recorded: Sequence[LeftOut], asked: Sequence[LeftOut]) -> Iterator[str]:
    """Ids of the model's making, told together: long conversations hold many."""
    before = {each.place: each.value for each in recorded if each.how == "minted"}
    pairs = {each.value: before.get(each.place, "") for each in asked if each.how == "minted"}
    changed = [f"{old} -> {live}" for live, old in pairs.items() if old != live]
    if changed:
        more = f" and {len(changed) - _MINTED_TOLD} more" if len(changed) > _MINTED_TOLD else ""
        yield f"ids that the model minted, by first appearance: {', '.join(changed[:_MINTED_TOLD])}{more}"
