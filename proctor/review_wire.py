"""What goes over the judge service's API when people look at verdicts, and the words both sides use for it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from proctor.rubric import EvidenceKind
from proctor.verdict import CriterionOutcome

ReasonCode = Literal[
    "rule_and_model_disagree",
    "unverified_safety",
    "abstained",
    "judge_error",
    "needs_review",
    "low_coverage",
    "near_threshold",
]
"""Why a verdict goes to people."""
HumanLevel = Annotated[float, Field(strict=True, ge=0, le=5, multiple_of=0.5)]
"""On the rubric's scale; a half lies between two anchors."""
Inclusion = Annotated[float, Field(gt=0, le=1)]
"""The chance with which a thing came to be labelled: 1 where it was flagged, else the share that is drawn."""


LEFT_OUT_HEADER = "x-proctor-left-out"
"""Of `GET /v1/labels`: how many labels are of an earlier run under the same id, and not in it."""


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LabelCitation(_Value):
    """Where a person saw it."""

    step: Annotated[int, Field(strict=True, ge=0)]
    quote: str = ""


class ReviewReason(_Value):
    """Why a person should look, in one sentence."""

    code: ReasonCode
    criterion: str = ""
    message: str


class ReviewTold(_Value):
    """A review as a list shows it to one annotator: nothing of the judge's, nothing of anybody else's."""

    id: str
    trajectory: str
    rubric: str
    """Name and version, as in `trajectory 1`."""
    given: int
    """Criteria that he has labelled, of `of`."""
    of: int


class ReviewsAnswer(_Value):
    """`GET /v1/reviews?annotator=NAME`: those that wait for him, the oldest first, his begun ones before."""

    reviews: tuple[ReviewTold, ...]
    waiting: int
    """How many there are; the list holds the first hundred."""


class GivenLevel(_Value):
    """What a person says of one criterion. `level` is None where it does not apply, and the rubric allows that."""

    level: HumanLevel | None
    citations: tuple[LabelCitation, ...] = ()
    note: str = ""


class LabelSent(GivenLevel):
    """`POST /v1/reviews/ID/labels` and `.../adjudication`."""

    annotator: str
    criterion: str


class LabelKept(GivenLevel):
    """What was kept. Whether it is blind is the service's word."""

    criterion: str
    blind: bool
    adjudicated: bool = False
    left: int
    """Criteria of the review that this person has not labelled."""


class AnchorShown(_Value):
    """A level, and what must be seen in the run for it."""

    level: int
    anchor: str


class CriterionShown(_Value):
    """One question, with the rule by which it is answered."""

    id: str
    title: str
    question: str
    anchors: tuple[AnchorShown, ...]
    not_applicable: str = ""
    """When it does not apply; empty where it always does."""
    given: GivenLevel | None = None
    """His own blind label, where he gave one."""


class PassageShown(_Value):
    """One text of a step, masked."""

    kind: EvidenceKind
    field: str
    text: str


class StepShown(_Value):
    """A step of the run, or a trial of a case."""

    index: int
    heading: str
    passages: tuple[PassageShown, ...]


class BaselineShown(_Value):
    """A part of what a correct run would have done, as JSON; `name` says where it comes from."""

    name: str
    text: str


class ReviewSheet(_Value):
    """`GET /v1/reviews/ID?annotator=NAME`: the run, what it should have been, and the rule. Nothing of the judge's."""

    id: str
    trajectory: str
    rubric: str
    goal: str
    rule: tuple[str, ...]
    """The parts of the policy that have to do with this run; all of it is `policy`."""
    policy: str
    baseline: tuple[BaselineShown, ...]
    steps: tuple[StepShown, ...]
    criteria: tuple[CriterionShown, ...]
    revealed: bool
    """He has seen the judge's result: what he says from now on is not blind."""


class RevealAsked(_Value):
    """`POST /v1/reviews/ID/reveal`."""

    annotator: str


class JudgedCriterion(_Value):
    """What the judge said of one criterion, masked."""

    criterion: str
    outcome: CriterionOutcome
    score: int | None
    finding: str = ""
    citations: tuple[LabelCitation, ...] = ()
    lowered_by: str = ""
    missing: str = ""


class JudgedVerdict(_Value):
    """One verdict on the run, and why it came to people; without reasons it was drawn, or had some before."""

    verdict: str
    model: str
    reasons: tuple[ReviewReason, ...]
    criteria: tuple[JudgedCriterion, ...]
    findings: tuple[str, ...] = ()


class RevealAnswer(_Value):
    """The judge's results."""

    id: str
    judged: tuple[JudgedVerdict, ...]


class LabelShown(GivenLevel):
    """One of the two labels that are too far apart."""

    annotator: str


class Realignment(_Value):
    """A criterion on which two people are more than 1 apart."""

    id: str
    """The review's."""
    trajectory: str
    rubric: str
    criterion: str
    labels: tuple[LabelShown, ...]


class RealignmentsAnswer(_Value):
    """`GET /v1/realignments?annotator=NAME`: those that he may decide, having labelled none of them."""

    realignments: tuple[Realignment, ...]
