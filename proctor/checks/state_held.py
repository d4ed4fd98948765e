"""Was a value still held at a point of the run: after a turn, or at a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from proctor.check import CheckResult, Evidence
from proctor.checks.final_state import StateAssertion, assertion_fails
from proctor.checks.outcomes import bounded, failed, not_assessable, passed, times
from proctor.trajectory import Trajectory


class StatePoint(StateAssertion):
    """An assertion at a turn (from 0), or at a step: the last state told up to it."""

    turn: int | None = Field(default=None, ge=0)
    step: int | None = Field(default=None, ge=0)
    when: Literal["before", "after"] = "after"
    """Of a turn."""
    over: Literal["state"] = "state"

    @model_validator(mode="after")
    def _one_place(self) -> StatePoint:
        if (self.turn is None) == (self.step is None):
            raise ValueError("a point is either at a turn or at a step")
        return self

    @property
    def place(self) -> str:
        """In words."""
        return f"at step {self.step}" if self.turn is None else f"{self.when} turn {self.turn}"


@bounded
def state_held(trajectory: Trajectory, points: Sequence[StatePoint | Mapping[str, Any]]) -> CheckResult:
    """Every point's assertion holds of the state there; the first point that fails shows where it was lost.

    The state of a turn is that of `states`; at a step it is the last `state` event up to it, else that of the turns
    that were over by then.
    """
    wanted = [point if isinstance(point, StatePoint) else StatePoint.model_validate(point) for point in points]
    held, unknown, lost = 0, [], []
    evidence: list[Evidence] = []
    for point in wanted:
        known, state, root = _state_at(trajectory, point)
        if not known:
            unknown.append(point)
            continue
        said, places, undecidable = assertion_fails(point, state, root)
        evidence += places
        if undecidable:
            unknown.append(point)
        elif said:
            lost.append(f"{point.place}: {said}")
        else:
            held += 1
    if lost:
        message = f"held at {held} of {times(held + len(lost), 'point')}; first lost {lost[0]}"
        return failed("state_held", message, evidence)
    if unknown or not wanted:
        where = unknown[0].place if unknown else "anywhere"
        message = f"held at {times(held, 'point')}; the state {where} is not known"
        return not_assessable("state_held", message, "the state around each turn, or `state` events", evidence)
    return passed("state_held", f"held at {held} of {times(held, 'point')}", evidence)


def _state_at(trajectory: Trajectory, point: StatePoint) -> tuple[bool, Any, str]:
    """Whether the state there is known, the state, and a JSON pointer to it."""
    if point.turn is not None:
        for index, around in enumerate(trajectory.states):
            state = around.after if point.when == "after" else around.before
            if around.turn == point.turn and state is not None:
                return True, state, f"states/{index}/{point.when}"
        return False, None, ""
    assert point.step is not None
    if point.step >= len(trajectory.steps):
        return False, None, ""
    told = [
        (event.step, index)
        for index, event in enumerate(trajectory.events)
        if event.kind == "state" and event.step is not None and event.step <= point.step
    ]
    if told:
        _, index = max(told)
        return True, trajectory.events[index].data, f"events/{index}/data"
    turn = trajectory.steps[point.step].turn
    over = [(around.turn, index) for index, around in enumerate(trajectory.states) if around.turn < turn]
    if over and trajectory.states[max(over)[1]].after is not None:
        index = max(over)[1]
        return True, trajectory.states[index].after, f"states/{index}/after"
    return False, None, ""
