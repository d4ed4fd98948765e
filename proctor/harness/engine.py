"""The runner's one seam, submit a trial and get its result, and the engine that runs trials on this machine."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from proctor.agents.contract import AgentFailed, Conversation, Settings
from proctor.cases.evaluating import Looked, evaluate
from proctor.cases.personal import personal
from proctor.checks.writes import ToolEffects
from proctor.errors import CassetteMissing, ConfigError, PlatformError, ProctorError
from proctor.harness.limits import Limit
from proctor.harness.outcome import Found, outcome_of
from proctor.harness.sessions import Sessions, SessionSeen, TrialSession
from proctor.harness.talking import LimitHit, Talk, Tell
from proctor.harness.trial import TrialDone, TrialPlan
from proctor.harness.trial_run import model_broke, trial_trajectory, untold
from proctor.trajectories.required import missing_fields, required_of
from proctor.trajectory import Trajectory
from proctor.wire import SessionInfo

_LOG = logging.getLogger("proctor.harness")
AgentOf = Callable[[TrialPlan, SessionInfo], Conversation]
"""Makes the agent of one trial. Raises ConfigError."""


class Engine(Protocol):
    """Whatever runs trials: this machine, or a distributed engine."""

    async def submit(self, plan: TrialPlan) -> TrialDone:
        """Run one trial to its end. Whatever the agent does is an outcome; raises ConfigError, which ends the run."""


@dataclass
class _Tried:
    """What is known of a trial that has ended."""

    talk: Talk | None = None
    seen: SessionSeen | None = None
    broke: ProctorError | None = None
    failed: AgentFailed | None = None
    hit: Limit | None = None
    leaked: int = 0

    @property
    def clean(self) -> bool:
        """The agent answered every turn."""
        return self.broke is None and self.failed is None and self.hit is None


class LocalEngine:
    """Runs trials in sessions of a proxy in this process; agents run where they do."""

    def __init__(
        self,
        sessions: Sessions,
        agent_of: AgentOf,
        settings: Settings,
        effects: ToolEffects,
        llm: frozenset[str],
        tell: Tell,
    ) -> None:
        """`llm` names the services that are LLM APIs; `tell` brings an agent's events to its session."""
        self._sessions = sessions
        self._agent_of = agent_of
        self._settings = settings
        self._effects = effects
        self._llm = llm
        self._tell = tell

    async def submit(self, plan: TrialPlan) -> TrialDone:
        """See Engine."""
        began = time.perf_counter()
        tried = _Tried()
        try:
            session = await self._sessions.open(plan.spec)
        except ConfigError:
            raise
        except ProctorError as error:
            if isinstance(error, CassetteMissing):
                error.fix = f"record it: {plan.spec.recorded_by}"
            tried.broke = error
            return self._done(plan, tried, time.perf_counter() - began)
        plan = replace(plan, case=personal(plan.case, session.info.ids))
        await self._hold(plan, session, tried)
        return self._done(plan, tried, time.perf_counter() - began)

    async def _hold(self, plan: TrialPlan, session: TrialSession, tried: _Tried) -> None:
        """The conversation, and the end of its session whatever comes."""
        tried.talk = Talk(plan, session, self._settings, self._tell)
        try:
            agent = self._agent_of(plan, session.info)
            await _talked(tried.talk, agent, tried)
        except (ConfigError, asyncio.CancelledError):
            await session.close(1)
            raise
        except ProctorError as error:
            tried.broke = error
        except Exception as error:  # one trial that breaks us is no reason to lose the others
            _LOG.exception("a trial failed inside the harness")
            tried.broke = PlatformError("platform_error", f"Proctor failed: {type(error).__name__}: {error}")
        try:
            tried.seen = await session.close(0 if tried.clean else 1)
        except ProctorError as error:
            tried.broke = tried.broke or error

    def _done(self, plan: TrialPlan, tried: _Tried, seconds: float) -> TrialDone:
        held = tried.talk.held if tried.talk else ()
        run = trial_trajectory(plan, held, tried.seen, self._settings, self._llm)
        looked: Sequence[Looked] = ()
        found = Found(tried.seen.summary if tried.seen else None, plan.limits, tried.broke, tried.failed, tried.hit)
        if tried.seen is not None and tried.clean:
            looked = evaluate(plan.case, run, self._effects)
            found = replace(
                found,
                model_error=self._model_error(tried.seen, run),
                missing=missing_fields(run, _required(tried.seen)),
                after_end=untold(tried.talk, tried.seen, self._llm),
                leaked=tried.leaked,
                looked=looked,
            )
        ended = outcome_of(found)
        broken = ended.outcome in ("error", "off_tape") or not tried.clean
        run = run.model_copy(update={"error": ended.message if broken else None, "limits_hit": _limits(tried)})
        return TrialDone(plan, ended, run, tuple(looked), seconds, facts=_facts(tried))

    def _model_error(self, seen: SessionSeen, run: Trajectory) -> str:
        """Nothing where a planned fault spoilt a model's answer: what the agent makes of it is its own conduct."""
        faulted = any(each.service in self._llm for each in seen.summary.faults)
        return "" if faulted else model_broke(seen, run)


def _required(seen: SessionSeen) -> tuple[str, ...]:
    return required_of(seen.summary.llm, stand_in=any(row.stand_in for row in seen.rows))


async def _talked(talk: Talk, agent: Conversation, tried: _Tried) -> None:
    try:
        async with agent:
            await talk.hold(agent)
    except AgentFailed as failed:
        tried.failed = failed
    except LimitHit as hit:
        tried.hit = hit.limit
    finally:
        tried.leaked = getattr(agent, "leaked", 0)


def _limits(tried: _Tried) -> tuple[str, ...]:
    """Every limit that was hit: the one that stopped the trial, and those of tool calls."""
    codes = {each.code for each in tried.seen.summary.guarded} if tried.seen else set()
    calls = ("limit_tool",) if "tool_timeout" in codes else ()
    return (*calls, *((tried.hit,) if tried.hit else ()))


def _facts(tried: _Tried) -> dict[str, Any]:
    summary = tried.seen.summary if tried.seen else None
    if summary is None:
        return {}
    facts: dict[str, Any] = {
        "faults": [fault.planned for fault in summary.faults],
        "faults_unfired": [fault.planned for fault in summary.faults_unfired],
        "sealed": summary.sealed,
        "aside": summary.aside,
        "leaked": tried.leaked,
    }
    return {name: value for name, value in facts.items() if value}
