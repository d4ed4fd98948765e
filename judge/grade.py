"""When a verdict must not pass for a good one."""

from __future__ import annotations

from proctor.verdict import Verdict


def is_bad(verdict: Verdict, at_least: float | None) -> bool:
    """Vetoed, without a total, below the total asked for (of 100), or for a person to look at."""
    if verdict.veto or verdict.total_of_100 is None or verdict.needs_review:
        return True
    return at_least is not None and verdict.total_of_100 < at_least
