"""The reference trajectory of a case, made in its worlds: what a right run does must meet what the case expects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from proctor.cases.case import Case, Step
from proctor.cases.evaluating import Looked, evaluate
from proctor.cases.parts import Expectations
from proctor.checks.writes import ToolEffects
from proctor.trajectory import Step as Message
from proctor.trajectory import ToolCall, Trajectory, TurnState, end_state_of
from proctor.world.session import Answer, WorldSession


def prove(case: Case, worlds: Mapping[str, WorldSession], effects: ToolEffects) -> tuple[list[str], list[Looked]]:
    """Make the reference's calls, each turn's in its turn; gives the unforeseen answers, and the checks that fail.

    Of words nothing is asked: a reference has calls only. Raises WorldFailed where a world is at fault.
    """
    run, refused = reference_run(case, worlds)
    looked = evaluate(_of_deeds(case), run, effects)
    return refused, [each for each in looked if each.result.outcome != "pass"]


def reference_run(case: Case, worlds: Mapping[str, WorldSession]) -> tuple[Trajectory, list[str]]:
    """The run that the reference is, and in words the calls that were answered otherwise than it says."""
    messages: list[Message] = []
    states: list[TurnState] = []
    refused: list[str] = []
    for turn, asked in enumerate(case.turns):
        before = _states(worlds)
        messages.append(Message(index=len(messages), turn=turn, role="user", text=asked.user))
        for step in (step for step in case.reference if step.turn == turn):
            service, answer = _answered(step, worlds)
            messages += _messages(step, len(messages), service, answer)
            if answer.refused != step.refused:
                refused.append(f"{step.tool} answers {answer.status}: {answer.body.decode()}")
        states.append(TurnState(turn=turn, before=before, after=_states(worlds), by="proctor"))
    end = _states(worlds)
    return Trajectory(id=case.id, case=case.id, steps=tuple(messages), states=tuple(states), end_state=end), refused


def _answered(step: Step, worlds: Mapping[str, WorldSession]) -> tuple[str, Answer]:
    """Call the world that has the tool, else the first, which refuses it; with the token that it handed out last."""
    having = (name for name, world in worlds.items() if step.tool in world.kind.tools)
    service = next(having, next(iter(worlds)))
    world = worlds[service]
    body = json.dumps(step.arguments, ensure_ascii=False).encode()
    return service, world.call(step.tool, body, credential="".join(world.tokens()[-1:]))


def _messages(step: Step, index: int, service: str, answer: Answer) -> tuple[Message, Message]:
    """The call as the agent's message, and its result."""
    call = ToolCall(name=step.tool, id=f"reference-{index}", arguments=step.arguments)
    asked = Message(index=index, turn=step.turn, role="assistant", tool_calls=(call,))
    result = Message(
        index=index + 1,
        turn=step.turn,
        role="tool",
        name=step.tool,
        tool_call_id=call.id,
        text=answer.body.decode(),
        status=answer.status,
        is_error=bool(answer.refused),
        service=service,
        effect=answer.effect,
    )
    return asked, result


def _states(worlds: Mapping[str, WorldSession]) -> Any:
    return end_state_of({name: world.state() for name, world in worlds.items()})


def _of_deeds(case: Case) -> Case:
    """The case without what is asked of the agent's words."""
    turns = tuple(turn.model_copy(update={"expect": _without_words(turn.expect)}) for turn in case.turns)
    return case.model_copy(update={"expect": _without_words(case.expect), "turns": turns, "recall": ()})


def _without_words(expect: Expectations) -> Expectations:
    words = dict.fromkeys(("outputs", "says", "says_finally", "never_says", "intents"), ())
    return expect.model_copy(update={**words, "skill": ""})
