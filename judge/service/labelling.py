"""Two people label a review apart from each other, blind; who has labelled all of it may see the judge's result.

What a function here gives to one person holds nothing of what another said, nor who that is: not in an error either.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from proctor.errors import UsageError
from proctor.judge.service.queue import now
from proctor.judge.service.reviews import Asked, Given, Kind, Review, labels_of, review_of, reviews_where
from proctor.review_wire import GivenLevel, LabelKept, LabelSent, ReviewsAnswer, ReviewTold

if TYPE_CHECKING:
    from proctor.store import Database

ANNOTATORS = 2
"""People who label one review."""
LISTED = 100
"""Reviews of one answer."""
_BLIND = "FROM review_labels AS l WHERE l.review = reviews.id AND l.kind = 'blind'"
_OWN = f"(SELECT count(*) {_BLIND} AND l.annotator = :me)"
_OTHERS = f"(SELECT count(DISTINCT l.annotator) {_BLIND} AND l.annotator != :me)"
_SEEN = (
    "EXISTS (SELECT 1 FROM review_reveals AS r JOIN reviews AS o ON o.id = r.review WHERE r.annotator = :me "
    "AND o.id != reviews.id AND o.trajectory_digest = reviews.trajectory_digest "
    "AND o.rubric_name = reviews.rubric_name)"
)
"""He knows what the judge said of this run by another wording of the rubric."""
_WAITING = (
    f"{_OWN} < json_array_length(reviews.criteria) AND ({_OWN} > 0 OR ({_OTHERS} < {ANNOTATORS} AND NOT {_SEEN}))"
)


def waiting(database: Database, annotator: str) -> ReviewsAnswer:
    """The reviews that this person may label and has not labelled whole."""
    count = f"SELECT count(*) FROM reviews WHERE {_WAITING}"  # noqa: S608 (no value in it)
    (number,) = database.execute(count, {"me": annotator}).fetchone()
    begun = _listed(database, annotator, f"{_WAITING} AND {_OWN} > 0")
    fresh = _listed(database, annotator, f"{_WAITING} AND {_OWN} = 0")
    return ReviewsAnswer(reviews=tuple([*begun, *fresh][:LISTED]), waiting=number)


def may_label(database: Database, review: Review, annotator: str) -> None:
    """Raise UsageError where this person is not one of the two, nor can become one."""
    offered = reviews_where(
        database, f"id = :id AND ({_OWN} > 0 OR {_OTHERS} < {ANNOTATORS})", _named(review, annotator)
    )
    if not offered:
        told = f"review {review.id} has its two annotators"
        raise UsageError("review_taken", told, f"GET /v1/reviews?annotator={annotator} lists those that wait")
    if reviews_where(database, f"id = :id AND {_OWN} = 0 AND {_SEEN}", _named(review, annotator)):
        told = f"{annotator} has seen what the judge said of this run, so no label of review {review.id} would be blind"
        raise UsageError("run_seen", told, "let another person label it")


def take_label(database: Database, identity: str, sent: LabelSent) -> LabelKept:
    """Keep what a person says; it is blind where he has not seen the judge's result. Raises UsageError.

    The same once more is no second label; another level for the same criterion is refused, the first one stands.
    """
    review = review_of(database, identity)
    may_label(database, review, sent.annotator)
    kind: Kind = "seen" if revealed(database, identity, sent.annotator) else "blind"
    return keep_label(database, review, sent, kind)


def keep_label(database: Database, review: Review, sent: LabelSent, kind: Kind) -> LabelKept:
    """Keep a label of that kind, once the level fits. Raises UsageError."""
    _fit(review.asked(sent.criterion), sent.level)
    said = GivenLevel(level=sent.level, citations=sent.citations, note=sent.note)
    given = labels_of(database, review.id)
    own = [each for each in given if each.annotator == sent.annotator]
    before = next((each for each in own if (each.criterion, each.kind) == (sent.criterion, kind)), None)
    if before is None:
        citations = json.dumps([each.model_dump() for each in said.citations])
        database.execute(
            "INSERT INTO review_labels (review, annotator, criterion, kind, level, citations, note, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (review.id, sent.annotator, sent.criterion, kind, said.level, citations, said.note, now()),
        )
        own.append(Given(sent.annotator, sent.criterion, kind, said))
    elif before.said != said:
        told = f"{sent.annotator} has labelled {sent.criterion} of {review.trajectory} already, with other words"
        if before.said.level != said.level:
            told = f"{sent.annotator} has given {sent.criterion} of {review.trajectory} a level already"
        raise UsageError(
            "repeated_label", told, "the first one stands; after the reveal a second one is kept beside it"
        )
    return LabelKept(
        **dict(said),
        criterion=sent.criterion,
        blind=kind != "seen",
        adjudicated=kind == "adjudicated",
        left=left(review, own),
    )


def left(review: Review, own: Sequence[Given]) -> int:
    """How many criteria a person has not labelled blind, from his own labels."""
    return len(review.criteria) - len({each.criterion for each in own if each.kind == "blind"})


def own_labels(database: Database, review: str, annotator: str) -> list[Given]:
    """What this person said of a review."""
    return [each for each in labels_of(database, review) if each.annotator == annotator]


def revealed(database: Database, review: str, annotator: str) -> bool:
    """Whether this person has seen the judge's result of a review."""
    found = database.execute(
        "SELECT 1 FROM review_reveals WHERE review = ? AND annotator = ?", (review, annotator)
    ).fetchone()
    return found is not None


def reveal(database: Database, identity: str, annotator: str) -> None:
    """Note that a person sees the judge's result now. Raises UsageError before all his labels are in."""
    review = review_of(database, identity)
    missing = left(review, own_labels(database, identity, annotator))
    if missing:
        told = f"{annotator} has {missing} of {len(review.criteria)} criteria of review {identity} to label first"
        raise UsageError("not_labelled", told, "the judge's result would tell what to say")
    database.execute("INSERT OR IGNORE INTO review_reveals VALUES (?, ?, ?)", (identity, annotator, now()))


def _listed(database: Database, annotator: str, condition: str) -> list[ReviewTold]:
    return [
        ReviewTold(
            id=each.id,
            trajectory=each.trajectory,
            rubric=each.rubric,
            given=len(each.criteria) - left(each, own_labels(database, each.id, annotator)),
            of=len(each.criteria),
        )
        for each in reviews_where(database, condition, {"me": annotator}, LISTED)
    ]


def _named(review: Review, annotator: str) -> dict[str, str]:
    return {"id": review.id, "me": annotator}


def _fit(asked: Asked, level: float | None) -> None:
    if level is None and not asked.may_not_apply:
        raise UsageError("always_applies", f"{asked.id} applies to every run", _scale(asked))
    if level is not None and not asked.lowest <= level <= asked.highest:
        raise UsageError("off_scale", f"{level:g} is no level of {asked.id}", _scale(asked))


def _scale(asked: Asked) -> str:
    return f"give a level from {asked.lowest} to {asked.highest}, halves allowed"
