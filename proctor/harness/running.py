"""A run: every trial submitted under a cap, tried again where we failed, kept as soon as it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from proctor.harness.engine import Engine
from proctor.harness.outcome import after_end
from proctor.harness.run_store import RunStore
from proctor.harness.throttle import Throttle
from proctor.harness.trial import Label, Outcome, TrialDone, TrialKey, TrialPlan

ATTEMPTS = 3
"""Of a trial in which we failed, not the agent."""
FIRST_WAIT = 1.0
"""Seconds before the second attempt; twice as many before the third."""


class Watcher(Protocol):
    """Is told what happens, as it happens."""

    def began(self, plan: TrialPlan) -> None:
        """A trial begins."""

    def attempt_failed(self, done: TrialDone) -> None:
        """We failed in a trial, which is tried again."""

    def ended(self, done: TrialDone, cached_from: str) -> None:
        """A trial is kept."""

    def slowed(self, cap: int) -> None:
        """Errors of ours in a row: from now on only so many trials run at once."""

    def labelled(self, key: TrialKey, label: Label) -> None:
        """A failed trial was run once more."""


class Cache(Protocol):
    """Results of earlier runs, by all that matters of a trial."""

    def key(self, plan: TrialPlan) -> str:
        """The key of a trial; empty where its result is not to be reused."""

    async def find(self, plan: TrialPlan, key: str) -> tuple[TrialDone, str] | None:
        """The result of an earlier run and that run's id, if there is one."""


class Purse(Protocol):
    """What a run may still spend."""

    def spend(self, done: TrialDone) -> None:
        """Count what a trial cost."""

    @property
    def empty(self) -> bool:
        """No further trial may begin."""


@dataclass
class Run:
    """A run under way."""

    engine: Engine
    store: RunStore
    throttle: Throttle
    watcher: Watcher
    late: Callable[[], Mapping[str, int]]
    """By session that has ended: requests that still named it."""
    cache: Cache | None = None
    purse: Purse | None = None
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def go(self, plans: Sequence[TrialPlan], there: Mapping[TrialKey, Outcome] | None = None) -> list[TrialPlan]:
        """Run what is not `there` already, with how it ended; gives the plans that were left for want of money.

        Raises ConfigError, which no trial can do without. Cancelled, it ends what is under way and keeps the rest.
        """
        waiting = iter(to_do(plans, there or {}))
        self._passed: dict[str, TrialKey] = {}
        self._left: list[TrialPlan] = []
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.throttle.cap):
                    group.create_task(self._work(waiting))
        except* Exception as errors:
            raise errors.exceptions[0] from None
        await self._overrule()
        return self._left

    async def _work(self, waiting: Iterable[TrialPlan]) -> None:
        for plan in waiting:
            async with self.throttle.turn() as under:
                if self.purse is not None and self.purse.empty:
                    self._left.append(plan)
                elif plan.again:
                    await self._again(plan, under)
                else:
                    await self._trial(plan, under)

    async def _trial(self, plan: TrialPlan, under: int) -> None:
        done = await self._kept(plan, under)
        if done.ended.outcome == "fail" and not plan.keeps:
            await self._again(plan.once_more(), under)

    async def _again(self, plan: TrialPlan, under: int) -> None:
        """Run a failed trial once more, which only labels it: the first result is the measurement."""
        done = await self._kept(plan, under)
        self.watcher.labelled(plan.key._replace(again=False), done.label)

    async def _kept(self, plan: TrialPlan, under: int) -> TrialDone:
        key = self.cache.key(plan) if self.cache and not plan.again else ""
        found = await self.cache.find(plan, key) if self.cache and key else None
        done, cached_from = found or (await self._tried(plan, under), "")
        await self.store.keep(done, key=key, cached_from=cached_from)
        if done.ended.outcome == "pass":
            self._passed[done.trajectory.session] = plan.key
        self.watcher.ended(done, cached_from)
        return done

    async def _tried(self, plan: TrialPlan, under: int) -> TrialDone:
        """The trial, tried again where the failure is ours."""
        self.watcher.began(plan)
        errors: list[str] = []
        for attempt in range(1, ATTEMPTS + 1):
            done = await self.engine.submit(plan.attempt(attempt))
            if self.purse is not None:
                self.purse.spend(done)
            failed = done.ended.outcome == "error"
            if self.throttle.ended(failed, under):
                self.watcher.slowed(self.throttle.cap)
            done = replace(done, attempts=attempt, errors=tuple(errors))
            if not failed or not done.ended.again or plan.keeps or attempt == ATTEMPTS:
                break
            errors.append(f"{done.ended.reason}: {done.ended.message}")
            self.watcher.attempt_failed(done)
            await self.wait(FIRST_WAIT * 2 ** (attempt - 1))
        return _with_errors(done)

    async def _overrule(self) -> None:
        """A trial whose agent still called when all was over did not pass."""
        for session, calls in self.late().items():
            key = self._passed.get(session)
            ended = next(after_end(calls), None)
            if key is not None and ended is not None:
                await self.store.overrule(key, ended)


def to_do(plans: Sequence[TrialPlan], there: Mapping[TrialKey, Outcome]) -> list[TrialPlan]:
    """What is left of a run: trials that are not there, and for one that failed its one more run."""
    left: list[TrialPlan] = []
    for plan in plans:
        again = plan.once_more()
        if plan.key not in there:
            left.append(plan)
        elif there[plan.key] == "fail" and not plan.keeps and again.key not in there:
            left.append(again)
    return left


def _with_errors(done: TrialDone) -> TrialDone:
    """The attempts that failed stand in the trajectory too."""
    notes = tuple(f"attempt {number} failed inside: {error}" for number, error in enumerate(done.errors, 1))
    run = done.trajectory
    return replace(done, trajectory=run.model_copy(update={"notes": (*run.notes, *notes)})) if notes else done
