"""What a trial comes to, from all that is known of it. What was not measured is never booked against the agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from proctor.agents.contract import AgentFailed
from proctor.cases.evaluating import Looked
from proctor.cases.parts import Limits
from proctor.errors import EXIT_USAGE, ProctorError
from proctor.harness import limits as limits_module
from proctor.harness.limits import Limit
from proctor.harness.trial import Ended
from proctor.summary import CUTS, PLATFORM_CODES
from proctor.trace import SessionSummary

NOT_THERE = frozenset({"agent_unstartable", "agent_unreachable"})
"""Failures of an agent that did nothing at all: there is nothing to measure."""


@dataclass(frozen=True)
class Found:
    """All that decides."""

    summary: SessionSummary | None
    """None where there was no session."""
    limits: Limits
    broke: ProctorError | None = None
    """What failed on our side."""
    failed: AgentFailed | None = None
    hit: Limit | None = None
    model_error: str = ""
    """Why the model's last answer is not there or not whole."""
    missing: tuple[str, ...] = ()
    """Required fields that the trajectory lacks."""
    after_end: int = 0
    """Tool calls after the agent's last answer."""
    leaked: int = 0
    """Processes that it left running."""
    looked: Sequence[Looked] = ()


def outcome_of(found: Found) -> Ended:
    """The first thing that holds, what is our own failure first and what the case expects last."""
    return next(_all(found))


def _all(found: Found) -> Iterator[Ended]:
    yield from _platform(found)
    yield from _off_tape(found)
    yield from _stopped(found)
    yield from _of_session(found)
    if found.missing:
        told = f"the trajectory lacks what it must have: {', '.join(found.missing)}"
        yield Ended("invalid", "field_missing", told, "see docs/trajectory.md")
    yield from after_end(found.after_end)
    if found.leaked:
        told = f"the agent left {found.leaked} {'process' if found.leaked == 1 else 'processes'} running; killed"
        yield Ended("fail", "agent_leaked", told, "let it end what it starts")
    yield from _of_checks(found.looked)
    yield Ended("pass")


def after_end(calls: int) -> Iterator[Ended]:
    """The end of a trial whose agent called tools after its last answer."""
    if calls:
        told = f"{calls} {'request' if calls == 1 else 'requests'} came after the agent's last answer"
        yield Ended("fail", "called_after_end", told, "let it finish its work before it answers")


def _platform(found: Found) -> Iterator[Ended]:
    if found.broke is not None:
        again = found.broke.exit_code != EXIT_USAGE  # what is written wrong is wrong the next time too
        yield Ended("error", found.broke.code, found.broke.message, found.broke.fix, again=again)
    for error in found.summary.errors if found.summary else ():
        if error.code in PLATFORM_CODES or error.code.startswith("upstream_"):
            yield Ended("error", error.code, error.message, error.fix)
        elif error.code == "overlay_unfit":
            yield Ended("error", error.code, error.message, error.fix, again=False)
    if found.failed is not None and found.failed.kind in NOT_THERE:
        again = found.failed.kind == "agent_unreachable"
        yield Ended("error", found.failed.kind, found.failed.message, shown=found.failed.shown, again=again)


def _off_tape(found: Found) -> Iterator[Ended]:
    for miss in found.summary.misses if found.summary else ():
        yield Ended("off_tape", miss.code, miss.message, miss.fix)
    for host in found.summary.hosts if found.summary else ():
        told = f"{host.method} went to {host.host}, past the services, and was refused"
        yield Ended("off_tape", "unseen_traffic", told, "point it at the proxy: `env` of a service in proctor.toml")


def _stopped(found: Found) -> Iterator[Ended]:
    if found.hit is not None:
        yield Ended("fail", found.hit, _cut(found.hit, found.summary) or limits_module.told(found.hit, found.limits))
    if found.failed is not None and found.failed.kind == "model_failed":
        yield Ended("error", found.failed.kind, found.failed.message)
    if found.failed is not None:
        yield Ended("fail", found.failed.kind, f"the agent: {found.failed.message}", shown=found.failed.shown)
    if found.model_error:
        yield Ended("error", "model_failed", found.model_error)


def _cut(hit: Limit, summary: SessionSummary | None) -> str:
    """What the guard that cut the agent off said of it, with the tool's name."""
    guarded = summary.guarded if summary and hit in ("limit_steps", "loop") else ()
    return next((each.message for each in guarded if each.code in CUTS), "")


def _of_session(found: Found) -> Iterator[Ended]:
    for error in found.summary.errors if found.summary else ():
        yield Ended("fail", error.code, error.message, error.fix)
    if found.summary is None:
        return
    for reason in found.summary.aside_reasons:
        fix = f"record again, or take it as it is: proctor cassette accept {found.summary.cassette}"
        yield Ended("error", "not_sealed", f"the recording was put aside: {reason}", fix, again=False)


def _of_checks(looked: Sequence[Looked]) -> Iterator[Ended]:
    wanted: Literal["fail", "not_assessable"]
    for wanted in ("fail", "not_assessable"):
        for each in looked:
            if each.result.outcome == wanted:
                where = "" if each.turn is None else f"turn {each.turn}: "
                fix = each.result.needs and f"needs {each.result.needs}"
                yield Ended(wanted, each.result.check, f"{where}{each.result.message}", fix)
