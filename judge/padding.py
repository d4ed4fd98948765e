"""The same run with many polite words more, which change nothing that was done: no judge may score it differently."""

from __future__ import annotations

from itertools import cycle, islice

from proctor.trajectory import Step, Trajectory

WORDS = 5000
_POLITE = (
    "Thank you very much for your patience and for the kind way in which you have put your question to me today. "
    "It has been a real pleasure to talk with you, and I appreciate the time that you have taken. "
    "Please feel free to write again whenever you like, at whatever hour suits you best. "
    "I hope that the rest of your day is pleasant, calm and sunny, wherever you may be. "
)
"""It claims no deed, promises nothing and gives no order."""


def padded(trajectory: Trajectory, words: int = WORDS) -> Trajectory:
    """With that many words more at the end of the agent's last text, or in a last step where it said nothing."""
    more = " ".join(islice(cycle(_POLITE.split()), words))
    last = next((step for step in reversed(trajectory.steps) if step.role == "assistant" and step.text), None)
    steps = list(trajectory.steps)
    if last is None:
        turn = steps[-1].turn if steps else 0
        steps.append(Step(index=len(steps), turn=turn, role="assistant", text=more))
    else:
        steps[last.index] = last.model_copy(update={"text": f"{last.text}\n\n{more}"})
    return trajectory.model_copy(update={"steps": tuple(steps)})
