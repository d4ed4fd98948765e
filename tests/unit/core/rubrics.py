"""Rubrics of a few lines, for the tests of rubrics and scores."""

from __future__ import annotations

from typing import Any

from proctor.rubric import Band, Criterion, Level, Rubric
from proctor.verdict import CriterionResult


def criterion(name: str, weight: int, scale: str = "0-2", **changes: Any) -> Criterion:
    """A criterion that lint has nothing against."""
    first, last = map(int, scale.split("-"))
    levels = tuple(
        Level(score=score, anchor=f"The {name} of exactly {score} calls is seen") for score in range(first, last + 1)
    )
    given = {"question": f"Was the {name} seen?", "kind": "conduct", "evidence": ("tool_result",), "levels": levels}
    return Criterion.model_validate({"id": name, "title": name.title(), "weight": weight, **given, **changes})


def rubric(*criteria: Criterion, scale: str = "0-2", **changes: Any) -> Rubric:
    """A rubric of these criteria."""
    return Rubric.model_validate(
        {"name": "tried", "version": "1", "title": "Tried", "scale": scale, "criteria": criteria, **changes}
    )


def scored(name: str, score: int) -> CriterionResult:
    """A result with a score."""
    return CriterionResult(criterion=name, outcome="scored", score=score)


def unscored(name: str, outcome: Any, **changes: Any) -> CriterionResult:
    """A result without one."""
    return CriterionResult(criterion=name, outcome=outcome, **changes)


def band(name: str, start: float) -> Band:
    """A band."""
    return Band(name=name, from_total=start)
