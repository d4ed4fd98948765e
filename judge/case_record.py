"""The record of a case's verdict: its trials with their verdicts, and all that was asked and answered over them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from proctor.judge.casing import Case, judge_case
from proctor.judge.exchanges import Exchange, RecordedModel
from proctor.judge.inquiry import Inquiry, Terms, vendors_in, versions
from proctor.judge.record import Replayed, differences
from proctor.rubric import Rubric
from proctor.trajectory import Trajectory
from proctor.verdict import Verdict


class CaseRecord(BaseModel):
    """See the module. The verdicts on the trials have records of their own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    v: Literal[1] = 1
    verdict: Verdict
    trajectories: Annotated[tuple[Trajectory, ...], Field(min_length=1)]
    verdicts: tuple[Verdict, ...]
    rubric: Rubric
    preset: str | None = None
    salt: Annotated[str, Field(pattern="^[0-9a-f]{32,128}$")]
    room: int
    exchanges: tuple[Exchange, ...]


def case_record_of(verdict: Verdict, case: Case, terms: Terms, exchanges: tuple[Exchange, ...]) -> CaseRecord:
    """The record of a case's verdict that was just made."""
    return CaseRecord(
        verdict=verdict,
        trajectories=tuple(case.trials),
        verdicts=case.verdicts,
        rubric=case.rubric,
        preset=case.inquiries[0].preset,
        salt=terms.salt.hex(),
        room=terms.room,
        exchanges=exchanges,
    )


async def replay_case(record: CaseRecord, terms: Terms) -> Replayed:
    """Judge the case again with the record's replies, as `record.replay` does a run."""
    kept = record.verdict
    model = RecordedModel(kept.judge.model, record.exchanges, is_stand_in=kept.judge.stand_in)
    pairs = zip(record.trajectories, record.verdicts, strict=True)
    inquiries = tuple(Inquiry(run, record.rubric, record.preset, {}, vendors_in(old)) for run, old in pairs)
    own = Terms(bytes.fromhex(record.salt), terms.count, record.room, terms.at_once, terms.timeout)
    verdict = await judge_case(Case(kept.trajectory, inquiries, record.verdicts), model, own)
    return Replayed(verdict, differences(kept, verdict, versions(record.rubric)))
