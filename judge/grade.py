"""When a verdict must not pass for a good one."""

from __future__ import annotations

from proctor.verdict import Verdict


def is_bad(verdict: Verdict, at_least: float | None) -> bool:
    """Vetoed, without a total, below the total asked for (of 100), or for a person to look at.

    A trial whose total only waits for its case is not bad by itself: the case's verdict decides.
    """
    if verdict.veto or verdict.needs_review:
        return True
    if verdict.total_of_100 is None:
        return not verdict.awaits_case
    return at_least is not None and verdict.total_of_100 < at_least
