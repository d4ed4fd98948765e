"""Runs judged once and kept (anchors), judged again later: has the judge drifted, and who changed, it or we?

Where something of ours changed (prompt, rubric's wording, Proctor), a drift says nothing of the model, and the answer
says so first. Where nothing of ours did, what stands behind the model's name changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from proctor.errors import UsageError
from proctor.judge.bound import Bound, differences, one_judge
from proctor.judge.intervals import at_most_share
from proctor.judge.mcnemar import mcnemar
from proctor.judge.results import Key, by_key, shown
from proctor.judge.table import LEVELS, Scale
from proctor.verdict import CriterionResult, Verdict

SURE = 0.05
_THE_JUDGE_S = ("model", "returned", "stand_in")


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Change(_Value):
    """An anchor's criterion that came out otherwise: a score, or an outcome without one."""

    trajectory: str
    criterion: str
    before: str
    now: str


class Drift(_Value):
    """What the anchors say."""

    frozen: Bound
    fresh: Bound
    unequal: tuple[str, ...]
    """What differs between the two judges, in words."""
    who: Literal["the judge", "we", "both", "nothing that is told"]
    """Who changed by their versions. `nothing that is told`: a drift then comes from behind the model's name."""
    compared: int
    """Criteria with a score then and now."""
    to_pass: int
    to_fail: int
    p: float
    """McNemar's, exact: the chance of pass and fail changing as unevenly, had nothing drifted."""
    changes: tuple[Change, ...]
    unanswered: int
    """Criteria with a score then and none now. They are among the changes, and fail the check."""
    at_most: float | None
    """Where nothing changed: the true share of changes that this many anchors still allow, at 95 %."""

    @property
    def drifted(self) -> bool:
        """Passes and fails changed more one way than chance would."""
        return self.p < SURE

    @property
    def message(self) -> str:
        """One sentence for a person, with what is unequal first."""
        said = f"of {self.compared} criteria {self.to_pass} changed to pass, {self.to_fail} to fail (p = {self.p:.3f})"
        lost = f", {self.unanswered} have no score any more" if self.unanswered else ""
        if not self.unequal:
            cause = "drifted behind an unchanged name" if self.drifted else "no drift shown"
            return f"{cause}: {said}{lost}"
        blamed = "the prompt, rubric or Proctor is not the same, so this is no evidence against the model"
        blame = "the model is another" if self.who == "the judge" else blamed
        return f"unequal versions ({'; '.join(self.unequal)}): {blame}; {said}{lost}"


def drift(frozen: Sequence[Verdict], fresh: Sequence[Verdict], scale: Scale) -> Drift:
    """Compare two judgings of the same anchors.

    Raises UsageError where one side mixes judges, the anchors are not the same runs, a criterion exists on one side
    only, or the rubrics differ: their scores mean different things.
    """
    before, now = one_judge(frozen), one_judge(fresh)
    if before.rubric_digest != now.rubric_digest:
        raise UsageError(
            "other_rubric",
            f"the anchors were judged by {before.rubric}, then by another wording ({now.rubric})",
            "freeze the anchors anew with the new rubric",
        )
    then, later = by_key(frozen), by_key(fresh)
    _same_anchors(frozen, fresh, then.keys() ^ later.keys())
    changes, counts = _changes(then, later, LEVELS[scale][-1])
    scored = [key for key in then if then[key].score is not None and later[key].score is not None]
    return Drift(
        frozen=before,
        fresh=now,
        unequal=tuple(differences(before, now)),
        who=_who(before, now),
        compared=len(scored),
        to_pass=counts["pass"],
        to_fail=counts["fail"],
        p=mcnemar(counts["pass"], counts["fail"]),
        changes=changes,
        unanswered=sum(then[key].score is not None and later[key].score is None for key in then),
        at_most=None if changes else at_most_share(len(scored)),
    )


def _changes(
    then: dict[Key, CriterionResult], later: dict[Key, CriterionResult], top: int
) -> tuple[tuple[Change, ...], dict[str, int]]:
    found: list[Change] = []
    counts = {"pass": 0, "fail": 0}
    for (trajectory, criterion), old in then.items():
        new = later[trajectory, criterion]
        if shown(old) == shown(new):
            continue
        found.append(Change(trajectory=trajectory, criterion=criterion, before=shown(old), now=shown(new)))
        if old.score is not None and new.score is not None:
            counts["pass"] += old.score < top == new.score
            counts["fail"] += new.score < top == old.score
    return tuple(found), counts


def _who(before: Bound, now: Bound) -> Literal["the judge", "we", "both", "nothing that is told"]:
    judge = any(differences(before, now.model_copy(update=_taken(before, ours=True))))
    we = any(differences(before, now.model_copy(update=_taken(before, ours=False))))
    return "both" if judge and we else "the judge" if judge else "we" if we else "nothing that is told"


def _taken(bound: Bound, *, ours: bool) -> dict[str, object]:
    return {name: value for name, value in bound if (name not in _THE_JUDGE_S) == ours}


def _same_anchors(frozen: Iterable[Verdict], fresh: Iterable[Verdict], alone: Iterable[Key]) -> None:
    digests = {verdict.trajectory: verdict.trajectory_digest for verdict in frozen}
    for verdict in fresh:
        if digests.get(verdict.trajectory, verdict.trajectory_digest) != verdict.trajectory_digest:
            raise UsageError(
                "other_input", f"the anchor {verdict.trajectory} is another run than the frozen one", "judge that one"
            )
    for trajectory, criterion in sorted(alone):
        told = f"{trajectory}, {criterion} was judged on one side only"
        raise UsageError("other_anchors", told, "judge all of the anchors again, and nothing else")
