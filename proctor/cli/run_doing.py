"""A run from its begin to its end: the proxy, the record, the trials, and what is told on the way."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import aiohttp
import click

from proctor.agents.making import settings_of
from proctor.cases.case import Case
from proctor.cases.suite import CAPS
from proctor.cli.hooks import between_hooks
from proctor.cli.run_agents import agents_of
from proctor.cli.run_cost import affordable
from proctor.cli.run_progress import Progress
from proctor.cli.run_ready import Ready, new_run, ready
from proctor.cli.run_resumed import check_same
from proctor.cli.run_shown import counted_of
from proctor.cli.run_telling import telling
from proctor.cli.tool_effects import tool_effects
from proctor.cli.trial_sessions import trial_sessions
from proctor.config import Config
from proctor.errors import EXIT_PLATFORM, not_writable
from proctor.harness.blind import note_use
from proctor.harness.engine import LocalEngine
from proctor.harness.masking import Masking, account_secrets
from proctor.harness.planning import RunOptions
from proctor.harness.purse import Budget
from proctor.harness.result_cache import ResultCache
from proctor.harness.run_reading import Recorded, Row, one_run
from proctor.harness.run_schema import STEPS
from proctor.harness.run_store import DATABASE, RunStore
from proctor.harness.running import Run
from proctor.harness.sessions import Sessions
from proctor.harness.throttle import Throttle
from proctor.harness.trial import Outcome, TrialKey, TrialPlan
from proctor.paths import Layout
from proctor.store import Store

Wait = Callable[[float], Awaitable[None]]


def do_run(config: Config, options: RunOptions, resumed: str = "") -> tuple[Recorded, int]:
    """Run a suite, or go on with the run of that id; gives what is on record, and the exit status.

    Raises ProctorError where the run cannot begin or go on, KeyboardInterrupt where it is stopped by a signal.
    """
    given = ready(config, options)

    def work() -> Recorded:
        try:
            return asyncio.run(run_suite(given, resumed))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    recorded, failed = between_hooks(config, work) if given.asks_staging else (work(), None)
    status = _status(recorded)
    if failed is not None:
        click.echo(f"proctor: {failed.code}: {failed}", err=True)
        status = status if status == EXIT_PLATFORM else failed.exit_code
    return recorded, status


async def run_suite(given: Ready, resumed: str = "", wait: Wait = asyncio.sleep) -> Recorded:
    """The run itself; `wait` is how it waits before it tries a trial again."""
    layout = Layout(given.config.root)
    try:
        layout.ensure_state()
    except OSError as error:
        raise not_writable(layout.state, error) from None
    store = await Store.open(layout.state / DATABASE, STEPS)
    run = resumed or new_run()
    try:
        record = RunStore(store, layout.state, run)
        try:
            cases, there = await (_resumed(given, record, layout) if resumed else _begun(given, record, store))
            purse = _purse(given, (await one_run(layout.state, run)).trials)
            await _trials(given, record, store, given.plans(run, cases), there, purse, wait)
        finally:
            record.close()
    finally:
        await store.close()
    return await one_run(layout.state, run)


async def _begun(given: Ready, record: RunStore, store: Store) -> tuple[Sequence[Case], dict[TrialKey, Outcome]]:
    """A new run: its cases, and no trial yet."""
    cases, left_out = await affordable(given, store)
    planned = len(given.plans(record.run, cases))  # what cannot be planned leaves no run behind
    if given.options.blind:
        note_use(given.read, cases, datetime.now(UTC), given.options.blind, record.run)
    await record.begin(given.head(record.run, planned, left_out))
    return cases, {}


async def _resumed(given: Ready, record: RunStore, layout: Layout) -> tuple[Sequence[Case], dict[TrialKey, Outcome]]:
    """A run that goes on: the cases that it began with, and the trials that are there. Raises UsageError."""
    before = (await one_run(layout.state, record.run)).run
    check_same(before, given.project.suite_version, given.project.agent_version)
    left_out = set(json.loads(before["left_out_json"]))
    return [case for case in given.cases if case.id not in left_out], await record.resume()


async def _trials(
    given: Ready,
    record: RunStore,
    store: Store,
    plans: Sequence[TrialPlan],
    there: Mapping[TrialKey, Outcome],
    purse: Budget | None,
    wait: Wait,
) -> None:
    """Every trial that is not there."""
    began, state = time.monotonic(), "stopped"
    progress = Progress(len(plans), sum(not key.again for key in there))
    cap = _cap(given)
    for case, why in given.others.items():
        click.echo(f"{case} is not recorded: {why}", err=True)
    click.echo(f"{given.read.suite.name}: {len(plans)} trials, {cap} at once; run {record.run}", err=True)
    try:
        secrets = account_secrets(given.project.accounts, {plan.identity.account for plan in plans})
        async with (
            trial_sessions(given.config, secrets=secrets) as sessions,
            aiohttp.ClientSession(trust_env=False) as http,
        ):
            run = Run(
                Masking(_engine(given, sessions, http), secrets),
                record,
                Throttle(cap),
                progress,
                sessions.late,
                cache=_cache(given, store),
                purse=purse,
                wait=wait,
            )
            with stopped_by_term():
                await run.go(plans, there)
        state = "finished"
    finally:
        progress.over()
        if purse is not None and purse.untold:
            click.echo(f"{purse.untold} trials cost something that nobody could count: no usage was told", err=True)
        if state == "stopped":
            click.echo(f"stopped; what is done is kept: proctor run --resume {record.run}", err=True)
        await asyncio.shield(record.end(state, time.monotonic() - began))


def _cap(given: Ready) -> int:
    """How many trials run at once. Those that are recorded would find each other's traces in the real services."""
    return given.options.at_once or (1 if given.options.keeps else CAPS[given.read.suite.size])


def _engine(given: Ready, sessions: Sessions, http: aiohttp.ClientSession) -> LocalEngine:
    return LocalEngine(
        sessions,
        agents_of(given.config, given.project.accounts),
        settings_of(given.config.agent),
        tool_effects(given.config),
        given.config.llm_services,
        telling(http),
    )


def _cache(given: Ready, store: Store) -> ResultCache | None:
    return ResultCache(store, Layout(given.config.root).state, given.project) if given.options.cache else None


def _purse(given: Ready, made: Sequence[Row]) -> Budget | None:
    """What may still be spent, where these trials have been made already."""
    if given.options.max_cost is None:
        return None
    purse = Budget(given.options.max_cost, given.config.agent.model)
    purse.spent(made)
    return purse


def _status(recorded: Recorded) -> int:
    """The exit status, and what it comes from where no trial says so."""
    found = counted_of(recorded)
    if found.missing:
        click.echo(f"--max-cost is spent: {found.missing} trials were not begun", err=True)
    if found.silent:
        fix = "the agent must use the addresses of its task, or the variables that `proctor env` prints"
        click.echo(f"no trial made any request that Proctor saw\n  {fix}", err=True)
    return found.status


@contextmanager
def stopped_by_term() -> Iterator[None]:
    """Let SIGTERM end the task as Ctrl-C does: agents are ended, and what is done is kept."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
