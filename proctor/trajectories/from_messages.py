"""From a message list, as agents log it: OpenAI chat or response items, or Anthropic's blocks."""

from __future__ import annotations

from typing import Any

from proctor.trajectories.messages import is_items, steps_of
from proctor.trajectories.steps import final_answer, numbered
from proctor.trajectory import Step, Trajectory


def from_messages(messages: Any, run_id: str) -> Trajectory:
    """The trajectory of one conversation. Time, tokens, status and effects are not in such a list: they stay None."""
    steps = numbered(joined_items(messages))
    notes = () if steps else ("the list holds no message",)
    return Trajectory(
        id=run_id, steps=steps, final_answer=final_answer(steps), notes=notes, source={"kind": "messages"}
    )


def joined_items(messages: Any) -> list[Step]:
    """The steps of a list; response items, of which several are one answer, are put together."""
    steps = steps_of(messages)
    return merged(steps) if is_items(messages) else steps


def merged(steps: list[Step]) -> list[Step]:
    """Response items that belong to one answer of the model (reasoning, text, calls) as one step."""
    joined: list[Step] = []
    for step in steps:
        last = joined[-1] if joined else None
        if last is not None and last.role == step.role == "assistant" and _continues(last, step):
            joined[-1] = last.model_copy(
                update={
                    "text": step.text if last.text is None else last.text,
                    "thought": "\n".join(each for each in (last.thought, step.thought) if each) or None,
                    "tool_calls": (*last.tool_calls, *step.tool_calls),
                }
            )
        else:
            joined.append(step)
    return joined


def _continues(last: Step, step: Step) -> bool:
    """One part of an answer after another: never a second text, and no text after a call."""
    return step.text is None or (last.text is None and not last.tool_calls)
