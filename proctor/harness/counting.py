"""What a run comes to: trials counted by outcome, and the exit status that stands for them. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_MISSES, EXIT_PLATFORM, EXIT_USAGE
from proctor.harness.trial import OUTCOMES, Outcome

Row = Mapping[str, Any]
"""A row of `trials` (see `run_schema`)."""
_STATUS: Mapping[Outcome, int] = {"pass": EXIT_FINE, "error": EXIT_PLATFORM, "off_tape": EXIT_MISSES}
"""Any other is 1."""
_PRECEDENCE = (EXIT_PLATFORM, EXIT_USAGE, EXIT_MISSES, EXIT_FAILED, EXIT_FINE)
_NO_ANSWER = "agent_"
"""What the reasons begin with that say how an agent failed."""
MEASURED: frozenset[Outcome] = frozenset({"pass", "fail"})


@dataclass(frozen=True)
class Counted:
    """The first trials of a run by outcome: those of admitted cases, which figures are made of, and all."""

    admitted: Mapping[Outcome, int]
    every: Mapping[Outcome, int]
    silent: bool = False
    """The agent answered, and no trial called a tool or a model, as far as Proctor saw."""
    missing: int = 0
    """Trials that were planned and are not there."""

    @property
    def figures(self) -> Mapping[Outcome, int]:
        """What counts: admitted cases, or all as long as none is admitted."""
        return self.admitted if self.any_admitted else self.every

    @property
    def any_admitted(self) -> bool:
        """At least one admitted case was run."""
        return any(self.admitted.values())

    @property
    def measured(self) -> int:
        """Trials that count and say something of the agent."""
        return sum(self.figures[outcome] for outcome in MEASURED)

    @property
    def status(self) -> int:
        """The exit status, by the trials that count. A run without any is none that passed, nor is a part of one."""
        found = {_STATUS.get(outcome, EXIT_FAILED) for outcome, count in self.figures.items() if count}
        found |= {EXIT_MISSES} if self.silent else set()
        found |= {EXIT_USAGE} if self.missing else set()
        return next((status for status in _PRECEDENCE if status in found), EXIT_FAILED)


def counted(trials: Sequence[Row], planned: int = 0) -> Counted:
    """Count the trials of a run, of which so many were planned; those that were made once more do not count."""
    first = [trial for trial in trials if not trial["again"]]
    admitted = [trial for trial in first if trial["admitted"]]
    answered = [trial for trial in first if not trial["reason"].startswith(_NO_ANSWER)]
    silent = bool(answered) and all(not trial["tool_calls"] and trial["llm"] == "none" for trial in first)
    return Counted(_by_outcome(admitted), _by_outcome(first), silent, max(0, planned - len(first)))


def _by_outcome(trials: Sequence[Row]) -> dict[Outcome, int]:
    found = Counter(trial["outcome"] for trial in trials)
    return {outcome: found[outcome] for outcome in OUTCOMES}
