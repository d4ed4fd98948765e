"""A verdict's record: all that was asked and answered, so that the verdict can be made again without a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from proctor.judge.exchanges import Exchange, RecordedModel
from proctor.judge.inquiry import Inquiry, Terms, vendors_in, versions
from proctor.judge.judging import judge
from proctor.rubric import Rubric
from proctor.trajectory import Trajectory
from proctor.verdict import CriterionResult, Verdict, Versions


class Record(BaseModel):
    """See the module. It holds the run whole, as the trajectory's file does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    v: Literal[1] = 1
    verdict: Verdict
    trajectory: Trajectory
    rubric: Rubric
    preset: str | None = None
    checks: dict[str, dict[str, Any]] = Field(default_factory=dict)
    salt: Annotated[str, Field(pattern="^[0-9a-f]{32,128}$")]
    room: int
    exchanges: tuple[Exchange, ...]


def record_of(verdict: Verdict, inquiry: Inquiry, terms: Terms, exchanges: tuple[Exchange, ...]) -> Record:
    """The record of a verdict that was just made."""
    return Record(
        verdict=verdict,
        trajectory=inquiry.trajectory,
        rubric=inquiry.rubric,
        preset=inquiry.preset,
        checks={name: dict(given) for name, given in inquiry.checks.items()},
        salt=terms.salt.hex(),
        room=terms.room,
        exchanges=exchanges,
    )


@dataclass(frozen=True)
class Replayed:
    """A verdict made again from its record, and where it differs from the one that was kept."""

    verdict: Verdict
    differences: tuple[str, ...]


async def replay(record: Record, terms: Terms) -> Replayed:
    """Judge again with the record's replies, salt and room; of `terms` only the counter of tokens is taken.

    No model is asked. Differences name what is another verdict now, and first of all the versions that changed.
    """
    kept = record.verdict
    model = RecordedModel(kept.judge.model, record.exchanges, is_stand_in=kept.judge.stand_in)
    inquiry = Inquiry(record.trajectory, record.rubric, record.preset, record.checks, vendors_in(kept))
    own = Terms(bytes.fromhex(record.salt), terms.count, record.room, terms.at_once, terms.timeout)
    verdict = await judge(inquiry, model, own)
    return Replayed(verdict, differences(kept, verdict, versions(record.rubric)))


def differences(kept: Verdict, again: Verdict, now: Versions) -> tuple[str, ...]:
    """What is another one in the second verdict; versions that changed come first."""
    if kept == again:
        return ()
    before, after = kept.versions.model_dump(), now.model_dump()
    found = [f"{name}: {before[name]} then, {after[name]} now" for name in before if before[name] != after[name]]
    old = {each.criterion: each for each in kept.criteria}
    for each in again.criteria:
        was = old.get(each.criterion)
        if was != each:
            found.append(f"{each.criterion}: {_told(was)} then, {_told(each)} now")
    if kept.total != again.total or kept.no_total != again.no_total:
        found.append(f"total: {kept.total if kept.total is not None else kept.no_total} then, {again.total} now")
    return tuple(found) or ("something beside scores and versions differs: compare the two as JSON",)


def _told(result: CriterionResult | None) -> str:
    if result is None:
        return "not judged"
    return (
        f"{result.outcome} {result.score}" if result.score is not None else f"{result.outcome} {result.cause}".strip()
    )
