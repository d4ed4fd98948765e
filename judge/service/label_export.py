"""The labels as `proctor judge calibrate` reads them: of one wording of one rubric, with the chance of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proctor.errors import UsageError, nearest
from proctor.judge.labels import Label
from proctor.judge.service.reviews import Given, Kind, labels_of

if TYPE_CHECKING:
    from proctor.store import Database

_DIGITS = 8


@dataclass(frozen=True)
class Exported:
    """The labels, and how many of them are left out as of an earlier run under the same id."""

    labels: tuple[Label, ...]
    left_out: int


def exported(database: Database, rubric: str = "") -> Exported:
    """What people said by a rubric, named by its name, name and version, or the first digits of its digest.

    A run's id stands for its latest run. Raises UsageError where the name fits several wordings of a rubric, since
    their levels cannot be put together.
    """
    wording = _wording(database, rubric)
    if wording is None:
        return Exported((), 0)
    rows = database.execute(
        "SELECT id, trajectory, (SELECT max(inclusion) FROM review_verdicts WHERE review = reviews.id) FROM reviews "
        "WHERE rubric_digest = ? ORDER BY number",
        (wording,),
    ).fetchall()
    latest: dict[str, list[Label]] = {}
    left_out = 0
    for review, trajectory, inclusion in rows:
        labels = _labels(labels_of(database, review), trajectory, inclusion)
        if labels:
            left_out += len(latest.get(trajectory, ()))
            latest[trajectory] = labels
    return Exported(tuple(label for labels in latest.values() for label in labels), left_out)


def _labels(given: Sequence[Given], trajectory: str, inclusion: float) -> list[Label]:
    """A criterion that somebody says does not apply has no level, until a third person gives it one."""
    decided = {each.criterion for each in given if each.kind == "adjudicated" and each.said.level is not None}
    moot = {each.criterion for each in given if each.said.level is None and each.kind != "seen"} - decided
    return [
        Label(
            annotator=each.annotator,
            trajectory=trajectory,
            criterion=each.criterion,
            level=each.said.level,
            blind=_blind(each.kind),
            citations=each.said.citations,
            adjudicated=each.kind == "adjudicated",
            note=each.said.note,
            inclusion=inclusion,
        )
        for each in given
        if each.said.level is not None and each.criterion not in moot
    ]


def _blind(kind: Kind) -> bool:
    return kind != "seen"


def _wording(database: Database, rubric: str) -> str | None:
    """The digest of the one wording that is meant; None where nothing was labelled at all."""
    known: dict[str, tuple[str, str]] = {
        digest: (name, version)
        for digest, name, version in database.execute(
            "SELECT rubric_digest, rubric_name, rubric FROM reviews "
            "WHERE EXISTS (SELECT 1 FROM review_labels WHERE review = reviews.id) "
            "GROUP BY rubric_digest ORDER BY max(number)"
        ).fetchall()
    }
    if not known:
        return None
    meant = [
        digest
        for digest, names in known.items()
        if not rubric or rubric in names or (len(rubric) >= _DIGITS and digest.startswith(rubric))
    ]
    if not meant:
        told = f'nothing is labelled by a rubric "{rubric}"'
        raise UsageError("unknown_rubric", told, nearest(rubric, {name for name, _ in known.values()}))
    if len(meant) > 1:
        told = "; ".join(f"{known[digest][1]} (digest {digest[:_DIGITS]})" for digest in meant)
        raise UsageError(
            "several_rubrics", f"levels of several rubrics cannot be put together: {told}", "name one, by its digest"
        )
    return meant[0]
