"""All that the traffic of a trial tells, in one order: every conversation, and the tools' calls that none explains.

Every call that the proxy saw is there once, before its result, and both have an id that no other call has. What a
request tells of the agent's past (its history, examples) is not said again, nor taken for what was done: the answers
that were seen and the traffic show that.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from proctor.trajectories.attribution import Key, attributed
from proctor.trajectories.conversations import Conversation, conversations
from proctor.trajectories.exchange import Seen, ToolTraffic
from proctor.trajectories.pairing import paired
from proctor.trajectories.pieces import Piece, contradicted, pieces, seen_alone
from proctor.trajectories.runs import asked_once
from proctor.trajectories.steps import canonical
from proctor.trajectories.telling import Moment
from proctor.trajectory import Step, ToolCall


@dataclass(frozen=True)
class Timeline:
    """The pieces in order of time; `unexplained` is the traffic that no model asked for, which is among them."""

    pieces: tuple[Piece, ...]
    unexplained: tuple[ToolTraffic, ...]
    notes: tuple[str, ...]


def timeline(seen: Seen) -> Timeline:
    """The conversations and the tools' traffic as one."""
    chains = sorted(conversations(seen.exchanges), key=lambda chain: -len(chain.links))
    pairings = [paired(chain) for chain in chains]
    traffic = attributed([asked for asked in asked_once(pairings) if asked.minted], seen.tools)
    told = [
        piece
        for chain, pairing in zip(chains, pairings, strict=True)
        for piece in pieces(chain, pairing, traffic.found)
    ]
    standing = [piece for piece in _once(told) if _stands(piece)]
    whole = _in_order([*standing, *seen_alone(traffic.left)])
    whole = list(_without_same_instructions(whole, {chain.links[0].exchange.index for chain in chains}))
    return Timeline(tuple(_with_ids(whole)), traffic.left, tuple(_notes(chains, told, whole, traffic.left)))


def _once(told: Iterable[Piece]) -> Iterable[Piece]:
    """Conversations that part share their beginning; of a call's results that one stands which a model was told."""
    kept: dict[Any, Piece] = {}
    for piece in sorted(told, key=lambda piece: piece.asked is not None and not piece.asked.answered):
        kept.setdefault(piece.origin, piece)
    return kept.values()


def _stands(piece: Piece) -> bool:
    if piece.asked is not None:
        return piece.asked.minted
    return piece.step.role == "system" or not piece.past


def _in_order(whole: Iterable[Piece]) -> list[Piece]:
    """By time; a result that was there before the end of the answer that asked for it comes with that."""
    whole = list(whole)
    calls = {key: piece for piece in whole for key in piece.made}

    def placed(piece: Piece) -> Piece:
        call = calls.get(_key(piece)) if piece.origin.kind == "result" else None
        known = max(piece.moment.known, -math.inf if call is None else call.moment.known)
        belongs = max(piece.belongs, -math.inf if call is None else call.belongs)
        return replace(piece, moment=Moment(known, min(piece.moment.since, known)), belongs=belongs)

    return sorted(map(placed, whole), key=lambda piece: piece.moment.known)


def _without_same_instructions(whole: Iterable[Piece], openings: Collection[int]) -> Iterator[Piece]:
    """Agents that keep nothing themselves begin each turn with the same instructions."""
    given: set[str | None] = set()
    for piece in whole:
        again = piece.step.text in given and piece.origin.exchange in openings
        if piece.step.role != "system" or not again:
            yield piece
        if piece.step.role == "system":
            given.add(piece.step.text)


def _with_ids(whole: Iterable[Piece]) -> Iterator[Piece]:
    """Calls with the arguments that were really sent, and with the model's ids unless those are empty or repeat."""
    whole = list(whole)
    sent = {_key(piece): contradicted(piece.asked, piece.seen) for piece in whole if piece.asked and piece.seen}
    ids: dict[Key, str] = {}
    used: set[str] = set()
    for piece in whole:
        step = piece.step
        if piece.origin.kind == "result":
            step = step.model_copy(update={"tool_call_id": ids[_key(piece)]})
        elif piece.made:
            for key, call in zip(piece.made, step.tool_calls, strict=True):
                ids[key] = _free(call.id or f"call-{key[0]}-{key[1]}", used)
            calls = [
                _sent(call, ids[key], {name: value for name, (value, _) in sent.get(key, {}).items()})
                for key, call in zip(piece.made, step.tool_calls, strict=True)
            ]
            step = step.model_copy(update={"tool_calls": tuple(calls)})
        yield replace(piece, step=step)


def _sent(call: ToolCall, call_id: str, changed: dict[str, Any]) -> ToolCall:
    if not changed:
        return call.model_copy(update={"id": call_id})
    return ToolCall(name=call.name, id=call_id, arguments={**call.arguments, **changed})


def _free(wanted: str, used: set[str]) -> str:
    found, count = wanted, 1
    while found in used:
        count += 1
        found = f"{wanted}#{count}"
    used.add(found)
    return found


def _key(piece: Piece) -> Key:
    """Of a result: its call's."""
    return piece.origin.exchange, piece.origin.place


def _notes(
    chains: Collection[Conversation], told: Iterable[Piece], whole: Iterable[Piece], left: Collection[ToolTraffic]
) -> Iterator[str]:
    yield from dict.fromkeys(note for chain in chains for note in chain.notes)
    if len(chains) > 1:
        yield f"{len(chains)} conversations with a model, merged by time"
    standing = list(whole)
    shown = {name for piece in standing for name in _calls(piece.step)}
    unseen = {call[0] for piece in told if piece.past for call in _calls(piece.step) if call not in shown}
    if unseen:
        yield f"requests tell of calls that nobody saw, which are no steps: {', '.join(sorted(unseen))}"
    answered = {_key(piece) for piece in standing if piece.origin.kind == "result" and piece.seen}
    alone = {
        call.name
        for piece in standing
        if piece.origin.kind == "answer"
        for key, call in zip(piece.made, piece.step.tool_calls, strict=True)
        if key not in answered
    }
    if alone and left:
        unasked = ", ".join(sorted({each.name for each in left}))
        yield (
            f"calls that a model asked for and no traffic shows ({', '.join(sorted(alone))}) may be the same as calls "
            f"that no model asked for ({unasked})"
        )


def _calls(step: Step) -> list[tuple[str, str]]:
    return [(call.name, canonical(call.arguments)) for call in step.tool_calls]
