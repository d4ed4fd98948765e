"""What a trial's session and conversation make of its trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.agents.contract import Settings
from proctor.harness.sessions import SessionSeen
from proctor.harness.talking import Held, Talk
from proctor.harness.trial import TrialPlan
from proctor.trajectories.from_session import error_of
from proctor.trajectories.from_trial import from_trial
from proctor.trajectories.llm_bodies import exchange_of
from proctor.trajectories.runs import broken_off
from proctor.trajectories.turns import TurnHeld
from proctor.trajectory import Agent, Level, Task, Trajectory, TurnState, Versions, end_state_of
from proctor.wire import ASKED


def trial_trajectory(
    plan: TrialPlan, held: Sequence[Held], seen: SessionSeen | None, settings: Settings, llm: frozenset[str]
) -> Trajectory:
    """The whole of a trial. Without a session there is nothing but what was planned."""
    case = plan.case
    run = Trajectory(id=str(plan.key))
    if seen is not None:
        turns = [_turn(each) for each in held]
        run = from_trial(seen.summary, seen.rows, turns, told=seen.told, worlds=seen.worlds)
        run = _in_case_turns(run, [each.turn for each in held])
    facts: dict[str, Any] = {
        "id": str(plan.key),
        "case": case.id,
        "category": case.category,
        "group": case.id,
        "trial": plan.number,
        "level": _level(plan, llm),
        "agent": Agent(model=run.agent.model or settings.model, vendor=run.agent.vendor),
        "versions": Versions(agent=plan.agent_version, suite=plan.suite_version),
        "identity": plan.identity.account or plan.identity.user_id,
        "seed": plan.seed,
        "task": Task(goal=case.title),
    }
    return run.model_copy(update=facts)


def untold(talk: Talk | None, seen: SessionSeen | None, llm: frozenset[str]) -> int:
    """How many tool calls began after the agent's last answer: nobody was told of what they did."""
    last = talk.held[-1].ended if talk and talk.held else None
    if last is None or seen is None:
        return 0
    return sum(row.started > last and row.service not in llm for row in seen.rows)


def _in_case_turns(run: Trajectory, turns: Sequence[int]) -> Trajectory:
    """The run with each message of the user in the case's turn that it belongs to."""
    if turns == list(range(len(turns))):
        return run
    steps = tuple(step.model_copy(update={"turn": turns[step.turn]}) for step in run.steps)
    states: dict[int, TurnState] = {}
    for state in run.states:
        turn = turns[state.turn]
        first = states.get(turn, state)
        states[turn] = state.model_copy(update={"turn": turn, "before": first.before})
    return run.model_copy(update={"steps": steps, "states": tuple(states.values())})


def _turn(held: Held) -> TurnHeld:
    return TurnHeld(
        user=held.user,
        began=held.began,
        ended=held.ended,
        reply=held.reply,
        before=end_state_of(held.before),
        after=end_state_of(held.after or {}),
    )


def model_broke(seen: SessionSeen, run: Trajectory) -> str:
    """Why the model's last answer is not there or not whole, in words; empty where it is, or none was asked."""
    if run.error == error_of(seen.summary):
        return ""
    return broken_off([each for each in map(exchange_of, seen.rows) if each is not None])


def _level(plan: TrialPlan, llm: frozenset[str]) -> Level:
    """A whole flow, against real tools or not."""
    tools = {mode for name, mode in plan.spec.modes.items() if name not in llm}
    return "flow" if ASKED.isdisjoint(tools) else "live"
