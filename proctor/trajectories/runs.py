"""What a source tells of a run as trajectories: the part that sessions and spans share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from proctor.trajectories.attribution import Asked, Key, attributed
from proctor.trajectories.conversations import conversations, failure
from proctor.trajectories.exchange import LlmExchange, Seen, ToolTraffic
from proctor.trajectories.joining import Joined, from_tools_alone, joined
from proctor.trajectories.pairing import Pairing, paired
from proctor.trajectories.steps import final_answer, summed
from proctor.trajectories.telling import with_events
from proctor.trajectory import Agent, Event, Step, Tokens, Trajectory


def assembled_runs(run_id: str, seen: Seen, error: str | None, facts: dict[str, Any]) -> tuple[Trajectory, ...]:
    """One trajectory for each conversation, `facts` on each, the longest first. There is always one, if an empty one.

    `error` is why the whole run cannot count. Notes and events that belong to no conversation stand on the first.
    """
    chains = sorted(conversations(seen.exchanges), key=lambda chain: -len(chain.links))
    if not chains:
        found = from_tools_alone(seen.tools)
        return (with_events(_without_words(run_id, seen, found.steps, error, facts), found.moments, seen.told),)
    pairings = [paired(chain) for chain in chains]
    traffic = attributed(asked_once(pairings), seen.tools)
    unanswered = _unanswered(seen)
    runs = []
    moments = []
    for number, (chain, pairing) in enumerate(zip(chains, pairings, strict=True)):
        exchanges = [link.exchange for link in chain.links]
        broken = _broken(exchanges[-1], unanswered)
        own = {
            "id": run_id if number == 0 else f"{run_id}#{number + 1}",
            "error": "; ".join(filter(None, (error, broken))) or None,
            "tokens": tokens_of([*exchanges, *(seen.silent if len(chains) == 1 else ())]),
            "notes": (*chain.notes, *failures(exchanges)),
        }
        found = joined(chain, pairing, traffic.found)
        moments.append(found.moments)
        runs.append(_run(exchanges, found, None if broken else final_answer(found.steps), {**facts, **own}))
    uncounted = ["their tokens are in no conversation's sum"] if seen.silent and len(chains) > 1 else []
    notes = (*runs[0].notes, *failures(seen.silent), *seen.notes, *uncounted)
    events = tuple(unattributed(each) for each in traffic.left)
    first = runs[0].model_copy(update={"notes": notes, "events": events})
    return (with_events(first, moments[0], seen.told, alone=len(runs) == 1), *runs[1:])


def _run(exchanges: Sequence[LlmExchange], found: Joined, answer: str | None, facts: dict[str, Any]) -> Trajectory:
    return Trajectory(
        agent=Agent(model=next((each.model for each in exchanges if each.model), "")),
        tools=next((each.tools for each in reversed(exchanges) if each.tools is not None), None),
        steps=found.steps,
        final_answer=answer,
        differences=found.differences,
        **facts,
    )


def _unanswered(seen: Seen) -> str:
    """Why a request after all others has no answer, where its words were not kept: nobody knows whose it was."""
    last = max(each.started for each in seen.exchanges)
    return next((each.failed for each in seen.silent if each.failed and each.started >= last), "")


def _without_words(
    run_id: str, seen: Seen, steps: tuple[Step, ...], error: str | None, facts: dict[str, Any]
) -> Trajectory:
    broken = broken_off(seen.silent)
    why = "no exchange with a model was seen: only the tools' calls are known"
    return Trajectory(
        id=run_id,
        agent=Agent(model=next((each.model for each in seen.silent if each.model), "")),
        steps=steps,
        error="; ".join(filter(None, (error, broken))) or None,
        tokens=tokens_of(seen.silent),
        notes=(*(() if seen.silent else (why,)), *failures(seen.silent), *seen.notes),
        **facts,
    )


def asked_once(pairings: Iterable[Pairing]) -> Iterable[Asked]:
    """Every call once: conversations that part share their beginning."""
    found: dict[Key, Asked] = {}
    for pairing in pairings:
        for key, asked in pairing.asked.items():
            if key not in found or asked.answered:
                found[key] = asked
    return found.values()


def _broken(last: LlmExchange, unanswered: str = "") -> str:
    """Why a conversation did not come to its end, as far as the exchanges with the model tell."""
    failed = last.failed or unanswered
    if failed:
        return f"the model did not answer the last request: {failed}"
    return f"the model's last answer {last.broken}" if last.broken else ""


def broken_off(exchanges: Iterable[LlmExchange]) -> str:
    """Why the answer to the last of all requests to a model is not there or not whole; empty where it is."""
    last = max(exchanges, key=lambda each: (each.started, each.index), default=None)
    return _broken(last) if last else ""


def tokens_of(exchanges: Iterable[LlmExchange]) -> Tokens | None:
    """Their sum, without those that the model did not answer; None as soon as one is not known."""
    return summed(each.tokens for each in exchanges if not each.failed)


def failures(exchanges: Iterable[LlmExchange]) -> Iterator[str]:
    """A note for each that the model did not answer."""
    yield from (failure(each) for each in exchanges if each.failed)


def unattributed(seen: ToolTraffic, step: int | None = None) -> Event:
    """Tool traffic that no call of a model explains: it was made all the same, at `step` where it is one."""
    data = {
        "exchange": seen.index,
        "service": seen.service,
        "tool": seen.name,
        "arguments": seen.arguments,
        "status": seen.status,
        "is_error": seen.is_error,
        "effect": seen.effect,
        "fault": seen.fault,
    }
    known = {key: value for key, value in data.items() if value is not None}
    return Event(kind="unattributed_call", by="proctor", step=step, data=known)
