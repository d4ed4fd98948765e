"""Labels and verdicts written in a line, for the tests of agreement."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from proctor.judge.labels import Label
from proctor.verdict import CriterionResult, Judge, Verdict, Versions

VERSIONS = Versions(proctor="0.1.0", prompt="p1", fold="f1", rubric="trajectory 1", rubric_digest="d1")
JUDGE = Judge(model="other/judge-1", returned=("judge-1-2026-01",))


def label(annotator: str, trajectory: str, criterion: str, level: float, **fields: Any) -> Label:
    """A blind label."""
    told = {"annotator": annotator, "trajectory": trajectory, "criterion": criterion, "level": level, "blind": True}
    return Label.model_validate(told | fields)


def lines(*labels: Label | Verdict | Mapping[str, Any]) -> bytes:
    """A file of them."""
    told = (dict(each) if isinstance(each, Mapping) else each.model_dump(mode="json") for each in labels)
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in told).encode()


def verdict(trajectory: str, scores: Mapping[str, int | str], **fields: Any) -> Verdict:
    """A verdict with a score, or in its place an outcome without one, for each criterion."""
    results = tuple(
        CriterionResult(criterion=name, outcome="scored", score=given)
        if isinstance(given, int)
        else CriterionResult.model_validate({"criterion": name, "outcome": given})
        for name, given in scores.items()
    )
    scored = sum(isinstance(given, int) for given in scores.values())
    told = {
        "id": f"verdict-of-{trajectory}",
        "trajectory": trajectory,
        "trajectory_digest": f"digest-of-{trajectory}",
        "judge": JUDGE,
        "versions": VERSIONS,
        "criteria": results,
        "scored": scored,
        "countable": len(results),
    }
    return Verdict.model_validate(told | fields)
