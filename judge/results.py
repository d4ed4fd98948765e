"""The results of many verdicts by trajectory and criterion."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.errors import UsageError
from proctor.verdict import CriterionResult, Verdict

Key = tuple[str, str]
"""Trajectory and criterion."""


def by_key(verdicts: Iterable[Verdict]) -> dict[Key, CriterionResult]:
    """One result each. Raises UsageError where two verdicts on one thing came out differently."""
    found: dict[Key, CriterionResult] = {}
    for verdict in verdicts:
        for result in verdict.criteria:
            key = (verdict.trajectory, result.criterion)
            if shown(found.setdefault(key, result)) != shown(result):
                raise UsageError(
                    "repeated_verdict",
                    f"{key[0]} has two verdicts, and they differ on {key[1]}",
                    "give the verdicts of one run of the judge; a retest measures how far it repeats",
                )
    return found


def shown(result: CriterionResult) -> str:
    """What came out: the score, or the outcome that has none."""
    return result.outcome if result.score is None else str(result.score)
