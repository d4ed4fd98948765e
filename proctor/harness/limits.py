"""When a trial is stopped: the nearest of three deadlines. Time that an injected fault takes is not the agent's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from proctor.cases.parts import Limits

Limit = Literal["limit_response", "limit_session", "limit_task", "limit_steps", "loop"]
"""Why a trial was stopped."""
TOLD: dict[Limit, str] = {
    "limit_response": "gave no answer to a turn within {seconds:g} s",
    "limit_session": "did not end the conversation within {seconds:g} s",
    "limit_task": "did not end the task within {seconds:g} s",
    "limit_steps": "made more than {steps} model calls and tool calls",
    "loop": "called a tool with the same arguments for the fourth time in one turn",
}


@dataclass(frozen=True)
class Deadlines:
    """The deadlines of one turn, in seconds on the session's clock.

    `began` is when the turn began, `faulted` how long faults had taken until then.
    """

    limits: Limits
    began: float
    faulted: float

    def nearest(self, faulted: float) -> tuple[float, Limit]:
        """When the trial is stopped at the latest and why, where faults have taken so many seconds in all by now.

        The response and session limits stand still during a fault; the task limit does not.
        """
        ends: list[tuple[float, Limit]] = [
            (self.began + self.limits.response + faulted - self.faulted, "limit_response"),
            (self.limits.session + faulted, "limit_session"),
            (self.limits.task, "limit_task"),
        ]
        return min(ends)


def told(limit: Limit, limits: Limits) -> str:
    """A sentence about an agent that was stopped."""
    seconds = {"limit_response": limits.response, "limit_session": limits.session, "limit_task": limits.task}
    return "the agent " + TOLD[limit].format(seconds=seconds.get(limit, 0.0), steps=limits.steps)
