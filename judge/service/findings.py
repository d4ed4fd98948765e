"""Disagreements, flags and reasons to look, of all verdicts in one list."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, get_args

from proctor.judge.service.queue import now
from proctor.judge_wire import FindingTold
from proctor.verdict import Finding, Verdict

if TYPE_CHECKING:
    from proctor.store import Database

MOST_AT_ONCE = 1000
KINDS = frozenset({*get_args(Finding.model_fields["kind"].annotation), "needs_review"} - {"note"})


def keep_findings(database: Database, verdict: Verdict) -> None:
    """Those of a verdict, in place of what an earlier verdict on the same question found. Notes are none."""
    rows: list[tuple[str, str, str, tuple[int, ...]]] = [
        (each.criterion, each.kind, each.message, each.steps) for each in verdict.findings if each.kind != "note"
    ]
    rows += [("", "needs_review", why, ()) for why in verdict.needs_review]
    database.execute("DELETE FROM findings WHERE verdict = ?", (verdict.id,))
    database.table("findings").insert_all(
        {
            "at": now(),
            "verdict": verdict.id,
            "trajectory": verdict.trajectory,
            "criterion": criterion,
            "kind": kind,
            "message": message,
            "steps": json.dumps(steps),
        }
        for criterion, kind, message, steps in rows
    )


def findings_after(database: Database, after: int, kind: str, most: int) -> list[FindingTold]:
    """The next ones after a number, of a kind or of all, oldest first."""
    found = database.query(
        "SELECT * FROM findings WHERE number > ? AND (? = '' OR kind = ?) ORDER BY number LIMIT ?",
        (after, kind, kind, most),
    )
    return [FindingTold(**{**each, "steps": tuple(json.loads(each["steps"]))}) for each in found]
