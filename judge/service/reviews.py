"""The reviews in the judge's database: one for each run and rubric of which a verdict goes to people.

    reviews          what is to be labelled; its id is a digest of run and rubric, so verdicts of two models share one
    review_verdicts  the verdicts that sent it to people, each with its reasons and the chance of that
    review_labels    what people said, blind and after the reveal, and what a third one decided
    review_reveals   who has seen the judge's result

Every function works on the database it is given, inside the caller's transaction.
"""

from __future__ import annotations

import json
import re
import secrets
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

from proctor.errors import UsageError
from proctor.judge.inquiry import digest
from proctor.judge.service.flagging import inclusion, reasons
from proctor.judge.service.queue import now
from proctor.judge.service.records import AnyRecord
from proctor.review_wire import GivenLevel, ReviewReason
from proctor.rubric import Rubric
from proctor.verdict import CriterionResult, Verdict

if TYPE_CHECKING:
    from proctor.store import Database

RecordOf = Callable[["Database", str], AnyRecord | None]
"""The record of a verdict, by its id."""
Kind = Literal["blind", "seen", "adjudicated"]
"""Of a label: before the reveal, after it, or a third person's decision."""

_TABLES = """
CREATE TABLE review_seed (seed BLOB NOT NULL);
CREATE TABLE reviews (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    trajectory TEXT NOT NULL,
    trajectory_digest TEXT NOT NULL,
    rubric TEXT NOT NULL,
    rubric_name TEXT NOT NULL,
    rubric_digest TEXT NOT NULL,
    criteria TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE INDEX reviews_of_run ON reviews (trajectory_digest, rubric_name);
CREATE TABLE review_verdicts (
    verdict TEXT PRIMARY KEY,
    review TEXT NOT NULL REFERENCES reviews (id),
    reasons TEXT NOT NULL,
    inclusion REAL NOT NULL
);
CREATE INDEX review_verdicts_of ON review_verdicts (review);
CREATE TABLE review_labels (
    number INTEGER PRIMARY KEY,
    review TEXT NOT NULL REFERENCES reviews (id),
    annotator TEXT NOT NULL,
    criterion TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('blind', 'seen', 'adjudicated')),
    level REAL,
    citations TEXT NOT NULL,
    note TEXT NOT NULL,
    at TEXT NOT NULL,
    UNIQUE (review, annotator, criterion, kind)
);
CREATE TABLE review_reveals (
    review TEXT NOT NULL REFERENCES reviews (id),
    annotator TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (review, annotator)
);
"""
_REASONS = TypeAdapter(tuple[ReviewReason, ...])
_NAME = re.compile(r"\w[\w.@+-]{0,63}")


@dataclass(frozen=True)
class Asked:
    """A criterion of a review: its scale, and whether a person may say that it does not apply."""

    id: str
    lowest: int
    highest: int
    may_not_apply: bool


@dataclass(frozen=True)
class Review:
    """What people are asked to label."""

    id: str
    trajectory: str
    trajectory_digest: str
    rubric: str
    criteria: tuple[Asked, ...]

    def asked(self, criterion: str) -> Asked:
        """One of its criteria. Raises UsageError."""
        for each in self.criteria:
            if each.id == criterion:
                return each
        known = ", ".join(each.id for each in self.criteria)
        raise UsageError("unknown_criterion", f'the review asks for no criterion "{criterion}"', f"known: {known}")


@dataclass(frozen=True)
class Given:
    """A label that was kept."""

    annotator: str
    criterion: str
    kind: Kind
    said: GivenLevel


@dataclass(frozen=True)
class Sent:
    """A verdict that sent a review to people."""

    verdict: str
    reasons: tuple[ReviewReason, ...]


def reviews_step(database: Database) -> None:
    """Make the tables, and draw the seed of the random share."""
    for statement in filter(str.strip, _TABLES.split(";")):
        database.execute(statement)
    database.execute("INSERT INTO review_seed VALUES (?)", (secrets.token_bytes(32),))


def note_verdict(database: Database, verdict: Verdict, rubric: Rubric, at_least: float | None, share: float) -> None:
    """Send a verdict that was just stored to people, if there is a reason or it is of the random share (0 to 1).

    One that is judged again goes by its new result; a review that no verdict asks for any more, and nobody has
    labelled, is withdrawn.
    """
    identity = digest([verdict.trajectory, verdict.trajectory_digest, verdict.versions.rubric_digest])
    criteria = _asked(verdict.criteria, rubric)
    why = reasons(verdict, rubric, at_least)
    (seed,) = database.execute("SELECT seed FROM review_seed").fetchone()
    chance = inclusion(why, share, seed, identity) if criteria else None
    if chance is None:
        _withdraw(database, verdict.id)
        return
    database.execute(
        "INSERT INTO reviews (id, trajectory, trajectory_digest, rubric, rubric_name, rubric_digest, criteria, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (
            identity,
            verdict.trajectory,
            verdict.trajectory_digest,
            verdict.versions.rubric,
            rubric.name,
            verdict.versions.rubric_digest,
            json.dumps([vars(each) for each in criteria]),
            now(),
        ),
    )
    database.execute(
        "INSERT INTO review_verdicts VALUES (?, ?, ?, ?) "
        "ON CONFLICT (verdict) DO UPDATE SET reasons = excluded.reasons, inclusion = CASE "
        # what was labelled for its first result had that one's chance
        "WHEN EXISTS (SELECT 1 FROM review_labels WHERE review = excluded.review) "
        "THEN max(inclusion, excluded.inclusion) ELSE excluded.inclusion END",
        (verdict.id, identity, _REASONS.dump_json(why).decode(), chance),
    )


def review_of(database: Database, identity: str) -> Review:
    """One review. Raises UsageError."""
    found = reviews_where(database, "id = :id", {"id": identity})
    if not found:
        raise UsageError("unknown_review", f'there is no review "{identity}"', "GET /v1/reviews lists them")
    return found[0]


def reviews_where(database: Database, condition: str, values: dict[str, Any], most: int = -1) -> list[Review]:
    """Reviews that a condition on `reviews` holds for, the oldest first."""
    rows = database.execute(
        "SELECT id, trajectory, trajectory_digest, rubric, criteria FROM reviews "  # noqa: S608 (conditions are ours)
        f"WHERE {condition} ORDER BY number LIMIT :most",
        {**values, "most": most},
    )
    return [
        Review(identity, run, run_digest, rubric, tuple(Asked(**each) for each in json.loads(criteria)))
        for identity, run, run_digest, rubric, criteria in rows.fetchall()
    ]


def labels_of(database: Database, review: str) -> list[Given]:
    """Everything that people said of a review, in the order given."""
    rows = database.execute(
        "SELECT annotator, criterion, kind, level, citations, note FROM review_labels WHERE review = ? ORDER BY number",
        (review,),
    )
    return [
        Given(who, criterion, kind, GivenLevel(level=level, citations=json.loads(citations), note=note))
        for who, criterion, kind, level, citations, note in rows.fetchall()
    ]


def verdicts_of(database: Database, review: str) -> list[Sent]:
    """The verdicts that sent a review to people, the newest last."""
    rows = database.execute("SELECT verdict, reasons FROM review_verdicts WHERE review = ? ORDER BY rowid", (review,))
    return [Sent(verdict, _REASONS.validate_json(why)) for verdict, why in rows.fetchall()]


def annotator_of(name: str) -> str:
    """The name by which a person is known here: small letters, since `Ann` and `ann` are no two. Raises UsageError."""
    known = unicodedata.normalize("NFKC", name).casefold()
    if not _NAME.fullmatch(known):
        told = "an annotator's name has 1 to 64 letters, digits, dots, dashes, underscores, + or @"
        raise UsageError("annotator_name", told, "say who labels: ?annotator=NAME, or `annotator` in the body")
    return known


def _asked(results: Sequence[CriterionResult], rubric: Rubric) -> list[Asked]:
    """What people are asked: all that was judged, but for what figures alone decided not to apply."""
    asked = [each for each in results if not (each.by == "figures" and each.outcome == "not_applicable")]
    criteria = [rubric.criterion(each.criterion) for each in asked]
    return [Asked(each.id, each.lowest, each.highest, bool(each.not_applicable)) for each in criteria]


def _withdraw(database: Database, verdict: str) -> None:
    """Take a verdict's request back. Where somebody has labelled, the review stays, and its chance was what it was."""
    row = database.execute("SELECT review FROM review_verdicts WHERE verdict = ?", (verdict,)).fetchone()
    if row is None:
        return
    if database.execute("SELECT 1 FROM review_labels WHERE review = ?", row).fetchone():
        database.execute("UPDATE review_verdicts SET reasons = '[]' WHERE verdict = ?", (verdict,))
        return
    database.execute("DELETE FROM review_verdicts WHERE verdict = ?", (verdict,))
    if not database.execute("SELECT 1 FROM review_verdicts WHERE review = ?", row).fetchone():
        database.execute("DELETE FROM reviews WHERE id = ?", row)
