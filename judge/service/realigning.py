"""Where two people are more than 1 apart, a third one, who labelled none of it, decides with both in sight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from proctor.errors import UsageError
from proctor.judge.labels import WIDEST_GAP
from proctor.judge.service.labelling import ANNOTATORS, keep_label
from proctor.judge.service.reviews import Given, Review, labels_of, review_of, reviews_where
from proctor.review_wire import LabelKept, LabelSent, LabelShown, Realignment, RealignmentsAnswer

if TYPE_CHECKING:
    from proctor.store import Database

_TWO_LABELLED = "(SELECT count(DISTINCT annotator) FROM review_labels WHERE review = reviews.id) >= :two"
_NOT_HIS = (
    "NOT EXISTS (SELECT 1 FROM review_labels WHERE review = reviews.id AND annotator = :me AND kind != 'adjudicated')"
)


def realignments(database: Database, annotator: str) -> RealignmentsAnswer:
    """What this person may decide; the labels of others stand in it, so what he labelled himself does not."""
    found = []
    for review in reviews_where(database, f"{_TWO_LABELLED} AND {_NOT_HIS}", {"me": annotator, "two": ANNOTATORS}):
        given = labels_of(database, review.id)
        for asked in review.criteria:
            two = apart(given, asked.id)
            if two and not _decision(given, asked.id):
                found.append(_told(review, asked.id, two))
    return RealignmentsAnswer(realignments=tuple(found))


def decides(database: Database, review: Review, annotator: str) -> bool:
    """Whether this person may see a review as the third one: two are apart, and he is neither of them."""
    given = labels_of(database, review.id)
    if any(each.annotator == annotator and each.kind != "adjudicated" for each in given):
        return False
    return any(apart(given, asked.id) for asked in review.criteria)


def adjudicate(database: Database, identity: str, sent: LabelSent) -> LabelKept:
    """Keep a third person's decision. Raises UsageError."""
    review = review_of(database, identity)
    review.asked(sent.criterion)
    given = labels_of(database, identity)
    if any(each.annotator == sent.annotator and each.kind != "adjudicated" for each in given):
        told = f"{sent.annotator} has labelled review {identity}, and a third person decides"
        raise UsageError("not_the_third", told, "talk it over, and let somebody else give the level")
    if not apart(given, sent.criterion):
        told = f"there is nothing to decide on {sent.criterion} of review {identity}"
        raise UsageError("no_gap", told, "GET /v1/realignments lists what waits")
    decided = _decision(given, sent.criterion)
    if decided and decided.annotator != sent.annotator:
        told = f"{sent.criterion} of review {identity} has been decided"
        raise UsageError("decided_already", told, "GET /v1/realignments lists what waits")
    return keep_label(database, review, sent, "adjudicated")


def apart(given: Sequence[Given], criterion: str) -> list[Given]:
    """The blind labels of one criterion where they are too far apart, or only one says that it does not apply."""
    blind = [each for each in given if each.criterion == criterion and each.kind == "blind"]
    levels = [each.said.level for each in blind if each.said.level is not None]
    far = len(levels) > 1 and max(levels) - min(levels) > WIDEST_GAP
    return blind if far or 0 < len(levels) < len(blind) else []


def _decision(given: Sequence[Given], criterion: str) -> Given | None:
    return next((each for each in given if each.criterion == criterion and each.kind == "adjudicated"), None)


def _told(review: Review, criterion: str, two: Sequence[Given]) -> Realignment:
    labels = tuple(LabelShown(annotator=each.annotator, **dict(each.said)) for each in two)
    return Realignment(
        id=review.id, trajectory=review.trajectory, rubric=review.rubric, criterion=criterion, labels=labels
    )
