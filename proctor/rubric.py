"""A rubric: what a judge looks at, criterion by criterion, and how the scores become one number.

    Rubric
    ├── criteria     one question each, with an anchor for every level, the evidence that counts and a scope
    ├── presets      other weights under a name: `cost`
    └── bands        what a total on 0 to 100 is called: healthy, sub-healthy, unhealthy

Files and their errors are `rubric_file`'s, wisdom on wording is `rubric_lint`'s, arithmetic is `scoring`'s.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

EvidenceKind = Literal["user", "agent", "thought", "tool_call", "tool_result", "figure"]
"""Who wrote a passage. `figure` is a number that Proctor computed over the trials of a case."""
CriterionKind = Literal["outcome", "conduct", "communication", "safety"]
"""`outcome`: what was brought about, which the agent's own words never show."""
Scope = Literal["trial", "case"]
Counted = Literal["tool_calls", "steps"]
"""What a case may be measured in by its reference run."""
CaseFigure = Literal["result_drift", "tool_calls_by_reference", "steps_by_reference"]
"""`result_drift`: the share of trials that differ from the others in a fact. The others: the trials' mean, by the
reference run's number."""

OF_TOOLS: frozenset[EvidenceKind] = frozenset({"tool_call", "tool_result"})


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Level(_Value):
    """One score and what must be seen in the transcript for it."""

    score: int
    anchor: str


class Cap(_Value):
    """A figure over all trials of a case that holds a score down: it lowers one, and never raises any."""

    figure: CaseFigure
    over: Annotated[float, Field(ge=0)]
    """Above this, and not at it."""
    at_most: int


class Criterion(_Value):
    """One question, judged in one call."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,40}$")]
    title: str
    question: str
    kind: CriterionKind
    scope: Scope = "trial"
    levels: tuple[Level, ...]
    evidence: tuple[EvidenceKind, ...]
    """The passages that a citation may stand in. What does not count is still shown, except `thought`."""
    weight: Annotated[int, Field(ge=0, le=100)]
    """Percent of the total."""
    veto: bool = False
    """The lowest level makes the total 0."""
    not_applicable: str = ""
    """When the judge may say that the question does not arise; empty where it always does."""
    live_trials: Annotated[int, Field(ge=0)] = 0
    """Of a case: trials with a live LLM that it takes, and all that it looks at; with fewer it does not apply."""
    reference: Counted | None = None
    """Of a case: what it is measured in by the reference run; it does not apply where nothing tells that number."""
    caps: tuple[Cap, ...] = ()
    """Of a case: figures that hold the score down."""
    fix_first: str = ""
    """Where to begin where this score is the lowest."""

    @property
    def lowest(self) -> int:
        """The lowest score."""
        return min(level.score for level in self.levels)

    @property
    def highest(self) -> int:
        """The highest score."""
        return max(level.score for level in self.levels)


class Band(_Value):
    """What totals from `from_total` (0 to 100) up to the next band are called."""

    name: str
    from_total: Annotated[float, Field(ge=0, le=100)]
    advice: str = ""


class Rubric(_Value):
    """See the module."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{1,40}$")]
    version: Annotated[str, Field(min_length=1)]
    title: str
    scale: Literal["0-2", "1-5"]
    """The scores of every criterion. On 0 to 100, `0-2` is the share of 2 (0, 50, 100); `1-5` is times 20."""
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)]
    presets: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Weights by criterion, under a name."""
    bands: tuple[Band, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Rubric:
        wanted = [0, 1, 2] if self.scale == "0-2" else [1, 2, 3, 4, 5]
        for criterion in self.criteria:
            if sorted(level.score for level in criterion.levels) != wanted:
                raise ValueError(f"criterion {criterion.id}: it needs one anchor for each of {wanted}")
        return self

    def criterion(self, identity: str) -> Criterion:
        """The criterion of that id. Raises KeyError."""
        for each in self.criteria:
            if each.id == identity:
                return each
        raise KeyError(identity)
