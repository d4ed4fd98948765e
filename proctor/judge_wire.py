"""What goes over the judge service's API, and the words both sides use for it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from proctor.rubric import Rubric
from proctor.trajectory import Trajectory
from proctor.verdict import CriterionOutcome, Verdict
from proctor.wire import ErrorAnswer

State = Literal["waiting", "queued", "running", "done", "refused", "withdrawn"]
"""Of a verdict that is asked for. `waiting`: a case, for its trials; `refused`: nothing was judged, and `error` says
why; `withdrawn`: its batch ended before its turn came."""

DEFAULT_ROOM = 24_000
"""Tokens of a prompt, unless the model's window is smaller."""


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class JudgeTerms(_Value):
    """By what a run is judged, by whom, and what counts beside the rubric."""

    rubric: str | Rubric = "trajectory"
    """The name of one that the service has, or a whole one."""
    preset: str | None = None
    """Other weights, by a name in the rubric."""
    checks: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Checks by name, with their parameters."""
    model: str = ""
    """One of the service's; empty for its first."""
    agent_vendor: str = ""
    """Whose model the agent is built on, where the trajectory does not tell."""
    same_vendor: str = ""
    """Why a judge of the agent's own vendor, or an unknown one's, may judge."""
    room: Annotated[int, Field(ge=1)] = DEFAULT_ROOM
    """Tokens of one prompt, at most."""
    at_least: Annotated[float, Field(ge=0, le=100)] | None = None
    """The total, of 100, that is asked for: a verdict near it goes to review."""


class VerdictRequest(JudgeTerms):
    """`POST /v1/verdicts`."""

    v: Literal[1] = 1
    trajectory: Trajectory


class BatchTerms(JudgeTerms):
    """For all runs of a batch."""

    max_cost: Annotated[float, Field(ge=0)] | None = None
    """US dollars: a call that might pass it is not made."""


class BatchHeader(_Value):
    """The first line of `POST /v1/batches`, where it has one; each other line is a trajectory."""

    v: Literal[1] = 1
    batch: BatchTerms


class VerdictAnswer(_Value):
    """A verdict, or how far it is."""

    id: str
    """The same for the same question to the same model on the same terms."""
    trajectory: str
    """The run's id; of a case its name."""
    state: State
    verdict: Verdict | None = None
    error: ErrorAnswer | None = None
    """Where it is refused: why."""
    asked: int = 0
    """Calls that went out; replies that were kept before are none."""
    repeats: int = 0
    """Calls among them that had gone out before the service was killed, and whose answer was lost with it."""
    cost: float | None = None
    """US dollars spent on it; None where a provider did not tell."""


class RefusedLine(_Value):
    """A line of a batch that is not judged."""

    line: int
    """From 1, with the header and empty lines counted."""
    trajectory: str = ""
    error: ErrorAnswer


class BatchAnswer(_Value):
    """How far a batch is."""

    id: str
    """The digest of what is asked: the same batch has the same id."""
    state: Literal["open", "ended"]
    states: dict[State, int]
    """How many verdicts are in each state; those of cases count too."""
    refused_lines: tuple[RefusedLine, ...] = ()
    asked: int = 0
    repeats: int = 0
    cost: float | None = None
    max_cost: float | None = None


class BatchAccepted(_Value):
    """The first line of a batch's results: all of it is on disk now."""

    event: Literal["accepted"] = "accepted"
    batch: BatchAnswer


class CriterionCame(_Value):
    """One criterion has its result: for progress, where `?progress=1` asks for it."""

    event: Literal["criterion"] = "criterion"
    trajectory: str
    criterion: str
    outcome: CriterionOutcome


class VerdictCame(_Value):
    """One verdict is there, or will not be."""

    event: Literal["verdict"] = "verdict"
    place: int
    """Its place in the batch, from 0: trials as they were sent, a case after its last trial."""
    answer: VerdictAnswer


class BatchEnded(_Value):
    """The last line: nothing of the batch is to come. Without this line the stream was cut."""

    event: Literal["ended"] = "ended"
    batch: BatchAnswer


BatchEvent = Annotated[BatchAccepted | CriterionCame | VerdictCame | BatchEnded, Field(discriminator="event")]


class RubricTold(_Value):
    """A rubric that requests can name."""

    name: str
    digest: str
    rubric: Rubric


class RubricsAnswer(_Value):
    """`GET /v1/rubrics`."""

    rubrics: tuple[RubricTold, ...]


class FindingTold(_Value):
    """A disagreement, a flag, or a reason why a person should look, with the verdict that it belongs to."""

    number: int
    """Grows with time: `?after=NUMBER` goes on from there."""
    at: str
    verdict: str
    trajectory: str
    criterion: str = ""
    kind: str
    """A kind of `proctor.verdict.Finding`, or `needs_review`."""
    message: str
    steps: tuple[int, ...] = ()


class FindingsAnswer(_Value):
    """`GET /v1/findings`, oldest first."""

    findings: tuple[FindingTold, ...]


class ReadyAnswer(_Value):
    """`GET /healthz` and `/readyz`."""

    status: Literal["ok", "ready", "stopping", "failed"]
    proctor: str
    """The version."""
    models: tuple[str, ...] = ()
    waiting: int = 0
    """Verdicts that are asked for and not begun."""
    why: str = ""
