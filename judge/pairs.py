"""Pairs of what people settled on and what the judge gave: joined from labels and verdicts, or read from a plain file.

A plain file has a JSON object a line, other keys being left alone:

    {"human": true, "judge": false, "criterion": "the file is saved", "trajectory": "run-7"}

Instead of `judge` there may be `llm_judge`, instead of `trajectory` `task`, with a `framework` beside it. A judge that
gave no result is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from proctor.errors import UsageError
from proctor.judge.labels import Truth
from proctor.judge.lines import BadLine, parsed
from proctor.judge.results import by_key
from proctor.judge.table import LEVELS, Scale
from proctor.verdict import Verdict

Given = Annotated[bool, Field(strict=True)] | Annotated[float, Field(strict=True, ge=0, le=5, multiple_of=0.5)]


@dataclass(frozen=True)
class Pair:
    """One criterion of one trajectory. `judge` is None where the judge gave no score."""

    trajectory: str
    criterion: str
    human: float
    judge: float | None
    inclusion: float = 1.0
    """The chance with which it came to be labelled."""


class PairLine(BaseModel):
    """A line of a plain file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    trajectory: Annotated[str, Field(min_length=1)]
    criterion: str
    human: Given
    judge: Given | None

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        task = "/".join(str(value[key]) for key in ("framework", "task") if value.get(key))
        judge = {"judge": value["llm_judge"]} if "llm_judge" in value and "judge" not in value else {}
        return ({"trajectory": task} if task else {}) | value | judge

    @property
    def levels(self) -> list[bool | float]:
        """What is given in it."""
        return [self.human, *([] if self.judge is None else [self.judge])]


def read_pairs(data: bytes) -> tuple[list[PairLine], list[BadLine]]:
    """The pairs of a plain file and its bad lines."""
    read = list(parsed(data, PairLine))
    return (
        [each for _, each in read if isinstance(each, PairLine)],
        [each for _, each in read if isinstance(each, BadLine)],
    )


def pairs_of(lines: Iterable[PairLine]) -> list[Pair]:
    """As numbers: false is 0 and true is 1."""
    return [
        Pair(each.trajectory, each.criterion, float(each.human), None if each.judge is None else float(each.judge))
        for each in lines
    ]


def joined(truth: Truth, verdicts: Sequence[Verdict]) -> list[Pair]:
    """A pair for each label's level; one that no verdict scored has no judge's level. Raises UsageError (by_key)."""
    given = by_key(verdicts)
    scores = {key: None if result.score is None else float(result.score) for key, result in given.items()}
    return [
        Pair(trajectory, criterion, level, scores.get(key := (trajectory, criterion)), truth.inclusion.get(key, 1.0))
        for trajectory, criteria in truth.levels.items()
        for criterion, level in criteria.items()
    ]


def scale_of(levels: Iterable[bool | float], allowed: Sequence[Scale], told: Scale | None) -> Scale:
    """The scale told, or the only one of `allowed` that has all the levels. Raises UsageError where it is in doubt.

    A level too many is what makes a guess wrong: 1 is a pass of `0-1`, and none of `0-2`.
    """
    given = list(levels)
    if any(isinstance(level, bool) for level in given):
        allowed = ("0-1",)
    fitting = [scale for scale in allowed if all(LEVELS[scale][0] <= level <= LEVELS[scale][-1] for level in given)]
    if told is not None:
        if told not in fitting:
            raise UsageError("off_scale", f"levels {_listed(given)} are not on the scale {told}", _scales(fitting))
        return told
    if len(fitting) != 1:
        raise UsageError(
            "which_scale", f"levels {_listed(given)} do not tell which scale they are of", _scales(fitting)
        )
    return fitting[0]


def by_trajectory(pairs: Iterable[Pair]) -> Mapping[str, list[Pair]]:
    """The pairs of each trajectory, in the order of the file."""
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(pair.trajectory, []).append(pair)
    return found


def _listed(levels: Iterable[float]) -> str:
    return ", ".join(f"{level:g}" for level in sorted({float(level) for level in levels})) or "(none)"


def _scales(fitting: Iterable[Scale]) -> str:
    known = list(fitting)
    return f"say --scale {' or '.join(known)}" if known else "one file holds one scale: 0-1, 0-2 or 1-5"
