"""What no wire shows and the agent may tell: its intent and how sure it was, and the skill it routed to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.check import CheckResult, Evidence
from proctor.checks.outcomes import at_state, at_text, bounded, failed, listed, not_assessable, passed, times
from proctor.matching.names import Aliases, name_match
from proctor.matching.values import shown
from proctor.trajectory import Event, Step, Trajectory

QUESTION = "?？"


@bounded
def intent_known(trajectory: Trajectory, intents: Sequence[str], *, least: float = 0.6) -> CheckResult:
    """Every intent told is one of the list, with at least that confidence; below it the agent asked back at once.

    Reads `intent` events: `{"intent": "refund", "confidence": 0.8}`.
    """
    told = [(index, event) for index, event in enumerate(trajectory.events) if event.kind == "intent"]
    if not told:
        return not_assessable("intent_known", "the agent told no intent", "`intent` events with a confidence")
    evidence: list[Evidence] = []
    unknown: list[str] = []
    for index, event in told:
        intent, confidence = _field(event, "intent"), _field(event, "confidence")
        place = at_state(f"events/{index}/data", event.data)
        if not isinstance(intent, str) or not _is_number(confidence):
            unknown.append(f"the event {shown(event.data)} has no intent with a confidence")
            continue
        if intent not in intents:
            return failed("intent_known", f"the intent {shown(intent)} is none of {listed(intents)}", [place])
        if confidence >= least:
            evidence.append(place)
        elif asked := _asked_back(trajectory, event):
            evidence += [place, asked]
        elif event.step is None:
            unknown.append(f"the intent {intent} has no step, so what came after it is not known")
        else:
            message = (
                f"the intent {intent} was {shown(confidence)} sure, less than {least}, and the agent did not ask back"
            )
            return failed("intent_known", message, [place])
    if unknown:
        return not_assessable("intent_known", unknown[0], "`intent` events with a confidence and a step", evidence)
    return passed("intent_known", f"{times(len(told), 'intent')} known and sure, or asked about", evidence)


@bounded
def skill_routed(trajectory: Trajectory, skill: str, *, aliases: Aliases | None = None) -> CheckResult:
    """The last skill that the agent told it routed to is this one (exact, prefix or alias).

    Reads `skill_routed` events: `{"skill": "refunds"}`. Without one nothing can be said: that is no failure.
    """
    told = [(index, event) for index, event in enumerate(trajectory.events) if event.kind == "skill_routed"]
    skills = [(index, event, _field(event, "skill")) for index, event in told]
    named = [(index, event, name) for index, event, name in skills if isinstance(name, str)]
    if not named:
        return not_assessable("skill_routed", "nothing tells which skill was routed to", "a `skill_routed` event")
    evidence = [at_state(f"events/{index}/data", event.data) for index, event, _ in named]
    last = named[-1][2]
    if not name_match(skill, last, aliases):
        return failed("skill_routed", f"routed to {listed([last])}, not to {skill}", evidence)
    before = [name for _, _, name in named[:-1] if not name_match(skill, name, aliases)]
    return passed("skill_routed", f"routed to {skill}" + (f", after {listed(before)}" if before else ""), evidence)


def _field(event: Event, name: str) -> Any:
    return event.data.get(name) if isinstance(event.data, dict) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _asked_back(trajectory: Trajectory, event: Event) -> Evidence | None:
    """The agent's next words, in the same turn and before any call, where they ask something."""
    if event.step is None:
        return None
    for step in trajectory.steps[event.step + 1 :] if event.step >= 0 else ():
        if step.role == "user" or step.tool_calls:
            return None
        if step.role == "assistant" and step.text:
            return _question(step)
    return None


def _question(step: Step) -> Evidence | None:
    text = step.text or ""
    ends = max(text.rfind(mark) for mark in QUESTION)
    return at_text(step, max(0, ends - 100), ends + 1) if ends >= 0 else None
