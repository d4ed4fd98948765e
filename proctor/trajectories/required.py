"""Which fields a trial's trajectory must have before anything is said of it: one that lacks any is invalid."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from proctor.tool_calls import calls_of
from proctor.trajectory import Llm, Trajectory

_TIMED = frozenset({"assistant", "tool"})

FIELDS: dict[str, Callable[[Trajectory], bool]] = {
    "case_id": lambda run: bool(run.case),
    "category": lambda run: bool(run.category),
    "input": lambda run: any(step.role == "user" and step.text for step in run.steps) or bool(run.task.goal),
    "timeline": lambda run: bool(run.steps),
    "final_answer": lambda run: run.final_answer is not None or run.error is not None,
    "token_usage": lambda run: run.tokens is not None,
    "tool_calls": lambda run: all(call.result_step is not None for call in calls_of(run)) or run.error is not None,
    "error": lambda run: run.error is None or bool(run.error),
    "elapsed": lambda run: run.seconds is not None,
    "session": lambda run: bool(run.session),
    "states": lambda run: bool(run.states),
    "step_tokens": lambda run: all(step.tokens is not None for step in run.steps if step.role == "assistant"),
    "step_seconds": lambda run: all(step.seconds is not None for step in run.steps if step.role in _TIMED),
    "tool_status": lambda run: all(step.status is not None for step in run.steps if step.role == "tool"),
}
"""Each field with how its presence shows. A run that broke off needs no final answer, and its last call no result."""

TRACE = ("case_id", "category", "input", "timeline", "final_answer", "token_usage", "tool_calls", "error", "elapsed")
"""The nine fields of a trace."""
SESSION = (*TRACE, "session", "states", "step_tokens", "step_seconds", "tool_status")
"""A session log that names each turn's state, tokens and time."""


def required_of(llm: Llm, *, stand_in: bool = False) -> tuple[str, ...]:
    """What a trial must have, by what stood behind its model; `stand_in`: the tape's answers are those of a stand-in.

    All of `TRACE`, for a model that was seen, live or on a tape, and told no count leaves the cost unknown. Only where
    none was asked through Proctor (`none`) could nobody see it, and a stand-in uses no tokens that it could tell.
    """
    uncounted = stand_in or llm in {"none", "stand-in"}
    return tuple(name for name in TRACE if name != "token_usage") if uncounted else TRACE


def missing_fields(trajectory: Trajectory, required: Iterable[str] = TRACE) -> tuple[str, ...]:
    """The required fields that are not there. Raises KeyError for a name that is no field."""
    return tuple(name for name in required if not FIELDS[name](trajectory))
