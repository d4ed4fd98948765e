"""A case: one task for the agent, the world it meets, and what must come of it."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from proctor.cases.parts import Branch, Count, Expectations, Limits, Part, Recall, Text, Texts
from proctor.fault_plan import FaultPlanSpec
from proctor.overlay import Patch

CaseId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,79}(\.[0-9]+)?$")]
"""Letters, digits, - and _. A case that a template made ends with `.NUMBER`."""
Category = Literal["normal", "boundary", "adversarial"]
KINDS: dict[Category, tuple[str, ...]] = {
    "normal": (),
    "boundary": ("vague", "stacked", "overlong", "rare"),
    "adversarial": ("leading", "negation", "pressing", "changed", "injection", "empty", "unclear"),
}
"""By category: what sort of difficulty a case is."""
WANTED: dict[Category, tuple[str, ...]] = {**KINDS, "adversarial": KINDS["adversarial"][:4]}
"""Those that a baseline set has all of."""
SetName = Literal["baseline", "extended", "adversarial", "blind"]
Priority = Literal["P0", "P1", "P2", "P3"]
Difficulty = Literal["single_step", "multi_step", "recovery", "long_range"]
OnLoop = Literal["stop", "hint"]


class Tags(Part):
    """By what results can be sliced."""

    domain: str = ""
    ability: str = ""
    level: str = ""
    intent: str = ""
    """The cluster of intents it belongs to."""
    failure: Texts = ()
    """Failure modes, filled in afterwards."""


class Turn(Part):
    """What the user says, and what must hold once the agent has answered."""

    user: Text
    expect: Expectations = Expectations()


class Reply(Part):
    """What the user says when the agent asks back for something."""

    when: Texts = Field(min_length=1)
    """Words of the agent's question, any of them."""
    say: Text
    times: Count = 1


class Baseline(Part):
    """The answer that is right, from two tracks that know nothing of one another."""

    expert: str = ""
    """By the written rules, which prevail."""
    best_run: str = ""
    """Of the agent's best undisturbed run."""
    rule: str = ""
    """The text of the rule that decides."""


class Step(Part):
    """One call of the reference trajectory."""

    tool: Text
    arguments: dict[str, Any] = Field(default_factory=dict)
    turn: Annotated[int, Field(ge=0)] = 0
    """In which of the user's turns, from 0."""
    refused: str = ""
    """The code with which the world refuses it, where a right run meets a refusal."""


class Case(Part):
    """See the module. Everything but `id`, `title`, `turns` has a default."""

    id: CaseId
    title: Text
    category: Category = "normal"
    kind: str = ""
    """Of a boundary or adversarial case, one of `KINDS`."""
    set: SetName = "baseline"
    priority: Priority = "P1"
    difficulty: Difficulty = "multi_step"
    tags: Tags = Tags()
    admitted: bool = False
    """Figures count admitted cases only; one is temporary until a person has admitted it."""
    memory: bool = False
    """It tests what the agent remembers of earlier conversations, so user and conversation are not fresh."""
    audience: str = ""
    account: str = ""
    """By name, of the local file of accounts; by default the audience's."""
    permissions: Texts = ()
    """What the agent may do. `[read]` alone says that it never writes."""
    source: str = ""
    """Where it comes from: a ticket, a log, a person's idea."""
    created: date | None = None
    valid_until: date | None = None
    baseline: Baseline | None = None
    tape: str = ""
    """The cassette that answers; by default the world does."""
    state: dict[str, Any] = Field(default_factory=dict)
    """By service: the state its world begins with, instead of its own."""
    turns: tuple[Turn, ...] = Field(min_length=1)
    replies: tuple[Reply, ...] = ()
    faults: FaultPlanSpec | None = None
    expect: Expectations = Expectations()
    branches: tuple[Branch, ...] = ()
    recall: tuple[Recall, ...] = ()
    reference: tuple[Step, ...] = ()
    """The calls of a right run."""
    overlay: tuple[Patch, ...] = ()
    """What is changed in the recorded answers."""
    limits: Limits | None = None
    """By default the suite's."""
    on_loop: OnLoop = "stop"
    trials: Count | None = None
    """By default the suite's."""

    @model_validator(mode="after")
    def _of_one_piece(self) -> Case:
        kinds = KINDS[self.category]
        if self.kind and self.kind not in kinds:
            raise ValueError(f'a {self.category} case has no kind "{self.kind}", only {", ".join(kinds) or "none"}')
        if self.tape and self.state:
            raise ValueError("a case is answered by a tape or by a world: it has `tape` and `state`")
        if self.overlay and not self.tape:
            raise ValueError("an overlay changes a tape's answers, and the case has no tape")
        if any(expect.outputs and expect.writes is None for expect in (self.expect, *(t.expect for t in self.turns))):
            raise ValueError("`outputs` are told of writes: say which (`writes`), or use `says`")
        if any(step.turn >= len(self.turns) for step in self.reference):
            raise ValueError(f"the reference has a call after the last turn, which is {len(self.turns) - 1}")
        for branch in self.branches:
            if branch.right not in branch.routes:
                raise ValueError(f'the right route "{branch.right}" is none of {", ".join(branch.routes)}')
        if self.valid_until and self.created and self.valid_until < self.created:
            raise ValueError("it was created after it was valid")
        return self

    @property
    def template(self) -> str:
        """The id of the template that it was made from, or its own."""
        return self.id.partition(".")[0]

    @property
    def may_write(self) -> bool:
        """It is not said that the agent may only read (`permissions: [read]`)."""
        return self.permissions != ("read",)

    @property
    def expects_nothing(self) -> bool:
        """Any run of it passes."""
        parts = (self.expect, *(turn.expect for turn in self.turns))
        return all(part.empty for part in parts) and not self.branches and not self.recall
