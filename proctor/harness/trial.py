"""A trial: one run of one case. What it is planned as, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from proctor.cases.case import Case
from proctor.cases.evaluating import Looked
from proctor.cases.identity import Identity, renewed
from proctor.cases.parts import Limits
from proctor.trajectory import Trajectory
from proctor.wire import KEPT, SessionSpec

Outcome = Literal["pass", "fail", "error", "invalid", "off_tape", "not_assessable"]
"""`error` is the platform's: nothing was measured. `off_tape`: a call that nobody recorded, or past the services."""
OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "error", "invalid", "off_tape", "not_assessable")
Label = Literal["sporadic", "definite", ""]
"""Of a failed trial that was run once more: whether it failed again. The first result stays the measurement."""


class TrialKey(NamedTuple):
    """Which trial of a run; `again` is the one more run of a trial that failed."""

    case: str
    number: int
    again: bool = False

    def __str__(self) -> str:
        return f"{self.case}#{self.number}" + ("+" if self.again else "")


@dataclass(frozen=True)
class TrialPlan:
    """A trial as it is submitted: plain values, whatever engine runs it."""

    run: str
    suite: str
    suite_version: str
    agent_version: str
    case: Case
    number: int
    seed: int
    identity: Identity
    spec: SessionSpec
    limits: Limits
    again: bool = False

    @property
    def key(self) -> TrialKey:
        """Which trial of its run."""
        return TrialKey(self.case.id, self.number, self.again)

    def once_more(self) -> TrialPlan:
        """The one more run of the trial."""
        return replace(self, again=True, identity=renewed(self.identity, "again"))

    def attempt(self, number: int) -> TrialPlan:
        """The trial as it is tried for the time `number`, from 1."""
        return self if number == 1 else replace(self, identity=renewed(self.identity, f"attempt {number}"))

    @property
    def keeps(self) -> bool:
        """It makes a tape, so it runs once: a second time would meet what the first has left in the real services."""
        return not KEPT.isdisjoint(self.spec.modes.values())


@dataclass(frozen=True)
class Ended:
    """How a trial ended: an outcome, a stable code for why (empty for a pass), and a sentence for people."""

    outcome: Outcome
    reason: str = ""
    message: str = ""
    fix: str = ""
    shown: str = ""
    """The end of what the agent printed."""
    again: bool = True
    """Of an error: trying once more may help."""


@dataclass(frozen=True)
class TrialDone:
    """What came of a trial. `errors` has what went wrong in the attempts before it, one text each."""

    plan: TrialPlan
    ended: Ended
    trajectory: Trajectory
    looked: tuple[Looked, ...] = ()
    seconds: float = 0.0
    attempts: int = 1
    errors: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    """What else is worth keeping: planned faults that never fired, processes that were left running."""

    @property
    def label(self) -> Label:
        """What one more run of a trial says of that."""
        return _LABELS.get(self.ended.outcome, "") if self.plan.again else ""


_LABELS: Mapping[Outcome, Label] = {"fail": "definite", "pass": "sporadic"}
