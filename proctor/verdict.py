"""The verdict on one run, or on the trials of one case: what the service answers, files hold and people read.

Verdict
├── criteria     one result each: outcome, score, finding, citations that were verified, quotes that were not
├── rules        the checks that were run, and `findings`: where rules and model disagree, flags, claims
├── total        on the native scale and on 0 to 100, or the reason for none; coverage beside it
└── judge, versions, cost   what made it, so that it can be compared, believed as far as shown, and replayed
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from proctor.check import CheckResult
from proctor.rubric import EvidenceKind

CriterionOutcome = Literal["scored", "zero_no_evidence", "not_applicable", "abstained", "judge_error"]
"""Only the first two have a score. An error is never a 0, and never in a mean."""


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class VerifiedQuote(_Value):
    """A quote that stands at its step, in the text that the judge was shown."""

    step: int
    quote: str
    field: str
    kind: EvidenceKind
    start: int
    end: int
    """The span in that field of the blinded transcript, in characters."""
    pointer: str = ""
    """Where a whole JSON leaf was cited."""
    also_at: tuple[int, ...] = ()
    """Other steps that hold the same quote."""
    suspicious: tuple[str, ...] = ()
    """Characters in the quote or its passage that read otherwise than they are written, by name."""


class RejectedQuote(_Value):
    """A quote that is no evidence, and why; where it stands elsewhere, `found_at` says where."""

    step: int | None
    quote: str
    """Masked and cut, for people."""
    code: str
    """`not_found`, `wrong_step`, `too_short`, `step_omitted`, `no_such_step`, `not_counted`, `withheld`, ..."""
    reason: str
    found_at: tuple[int, ...] = ()
    suspicious: tuple[str, ...] = ()
    """As in a verified one; the passages are those of the cited step."""


class ModelUse(_Value):
    """What asking cost: calls that went out, tokens and US dollars as far as told (None is not told)."""

    calls: Annotated[int, Field(ge=0)] = 0
    attempts: Annotated[int, Field(ge=0)] = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


class CriterionResult(_Value):
    """One criterion's result. `score` is final; `model_score` is what the model gave before the rules."""

    criterion: str
    outcome: CriterionOutcome
    score: int | None = None
    model_score: int | None = None
    by: Literal["model", "rule", "figures"] = "model"
    """Who decided the score."""
    finding: str = ""
    citations: tuple[VerifiedQuote, ...] = ()
    rejected: tuple[RejectedQuote, ...] = ()
    missing: str = ""
    """For `zero_no_evidence` and `abstained`: which evidence is missing."""
    cause: str = ""
    """For `judge_error`: `refusal`, `timeout`, `not_json`, `two_verdicts`, `out_of_range`, ..."""
    lowered_by: str = ""
    """The check whose failure lowered the score."""
    needs_review: str = ""
    """Why a person should look; empty where none has to."""
    repaired: bool = False
    """The model was asked again, once, with what had failed named."""
    use: ModelUse = ModelUse()


class Finding(_Value):
    """What a reader should know beside the scores: a disagreement of rule and model, a flag, a claim."""

    kind: Literal["rule_and_model_disagree", "injection", "claim_without_deed", "suspicious_characters", "note"]
    message: str
    criterion: str = ""
    steps: tuple[int, ...] = ()


class Judge(_Value):
    """Who judged. `returned` is the provider's own name of the model that answered."""

    model: str
    returned: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    agent_families: tuple[str, ...] = ()
    stand_in: bool = False
    vendor_overridden: bool = False
    """The vendor rule was set aside by the user."""


class Versions(_Value):
    """What a verdict depends on. Verdicts of unequal versions are never averaged."""

    proctor: str
    prompt: str
    fold: str
    rubric: str
    """Name and version, as in `trajectory 1`."""
    rubric_digest: str


class Verdict(_Value):
    """See the module."""

    v: Literal[1] = 1
    id: str
    """Digest of what was asked: the same question has the same id."""
    trajectory: str
    trajectory_digest: str
    case: str = ""
    trial: int | None = None
    """None for a verdict over all trials of a case."""
    trials: tuple[str, ...] = ()
    """Of a case: the ids of the verdicts on its trials."""
    means: dict[str, float] = Field(default_factory=dict)
    """Of a case: the mean score of each criterion that is judged on its trials."""
    awaits_case: bool = False
    """There is no total only because the rubric judges something over all trials of a case: see the case's verdict."""
    set_up: str = ""
    llm: str = ""
    judge: Judge
    versions: Versions
    criteria: tuple[CriterionResult, ...]
    rules: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    veto: str = ""
    """Why the total is 0 whatever the other scores say."""
    total: float | None = None
    """On the rubric's own scale."""
    total_of_100: float | None = None
    no_total: str = ""
    """Why there is no total."""
    band: str = ""
    fix_first: str = ""
    scored: int
    """Coverage: criteria with a score, of `countable` (those that apply)."""
    countable: int
    needs_review: tuple[str, ...] = ()
    omitted_steps: tuple[int, ...] = ()
    """Left out of some prompt for length."""
    shortened_steps: tuple[int, ...] = ()
    """With a text whose middle was left out of some prompt for length."""
    language: str = ""
    weights: dict[str, int] = Field(default_factory=dict)
    use: ModelUse = ModelUse()
