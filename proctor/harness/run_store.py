"""Where runs are kept: `.proctor/runs.db`, and for each run its trajectories as JSON lines in `.proctor/runs/RUN/`.

A trial's line is on disk before its row is: what has a row is whole, and what a kill left behind has none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor import __version__
from proctor.agents.contract import Settings
from proctor.errors import UsageError, not_writable
from proctor.folder_lock import FolderLock
from proctor.harness.planning import RunOptions
from proctor.harness.trial import Ended, Label, Outcome, TrialDone, TrialKey
from proctor.store import Store
from proctor.tool_calls import calls_of
from proctor.trajectories.file import line_of

if TYPE_CHECKING:
    from proctor.store import Database

DATABASE = "runs.db"
"""In `.proctor/`."""
FOLDER = "runs"
FILE = "trajectories.jsonl"
_LOCK = "run.lock"


@dataclass(frozen=True)
class RunHead:
    """A run as it begins."""

    id: str
    suite: str
    title: str
    planned: int
    suite_version: str
    agent_version: str
    settings: Settings
    options: RunOptions
    left_out: tuple[str, ...] = ()
    """Cases that did not fit into --max-cost."""


class RunStore:
    """The record of one run, open for writing: one process at a time."""

    def __init__(self, store: Store, state: Path, run: str) -> None:
        """`state` is the project's `.proctor/`. Raises UsageError where the run is going on already."""
        self._store = store
        self.run = run
        folder = state / FOLDER / run
        self._lock = FolderLock(folder, _LOCK, partial(_busy, run))
        try:
            self._file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            self._lock.let_go()
            raise not_writable(folder / FILE, error) from None
        self._end = 0
        self.path = folder / FILE

    async def begin(self, head: RunHead) -> None:
        """Note the run, as going on."""
        await self._store.run(partial(_begin, head=head))

    async def resume(self) -> dict[TrialKey, Outcome]:
        """Go on with a run: drop what a kill left behind the last whole trial; gives the trials that are there."""
        whole = await self._store.run(partial(_whole, run=self.run))
        self._end = max((end for _, _, end in whole), default=0)
        os.ftruncate(self._file, self._end)
        return {key: outcome for key, outcome, _ in whole}

    async def keep(self, done: TrialDone, *, key: str = "", cached_from: str = "") -> None:
        """Keep a trial: its line, its row, its checks, and what it says of the trial that it repeats.

        Raises StoreError, and nothing of it is kept.
        """
        line = line_of(done.trajectory)
        row = {**trial_row(done), "key": key, "cached_from": cached_from, "line_bytes": len(line)}
        checks = check_rows(done)
        await self._store.run(partial(self._keep, line=line, row=row, checks=checks, label=done.label))

    async def overrule(self, key: TrialKey, ended: Ended) -> None:
        """Let a trial that passed end otherwise, for what came to light after its end."""
        await self._store.run(partial(_overrule, run=self.run, key=key, ended=ended))

    async def end(self, state: str, seconds: float) -> None:
        """Note that the run is over: `finished`, or `stopped` before that."""
        await self._store.run(partial(_end, run=self.run, state=state, seconds=seconds))

    def close(self) -> None:
        """Let others have it."""
        os.close(self._file)
        self._lock.let_go()

    def _keep(
        self, database: Database, line: bytes, row: dict[str, Any], checks: Sequence[dict[str, Any]], label: Label
    ) -> None:
        """In the store's thread: lines are in the order of rows. What is undone leaves a line that no row names."""
        at = self._end
        self._end += os.pwrite(self._file, line, at)
        if self._end < at + len(line):
            raise OSError(28, "No space left on device")
        os.fdatasync(self._file)
        database.table("trials").insert({**row, "line_at": at})
        database.table("checks").insert_all(checks)
        if label:
            first = (row["run"], row["case_id"], row["number"], 0)
            database.execute(f"UPDATE trials SET label = ? WHERE {_THIS}", (label, *first))  # noqa: S608


def trial_row(done: TrialDone) -> dict[str, Any]:
    """A trial as its row, without its place in the file."""
    plan, run, ended = done.plan, done.trajectory, done.ended
    case = plan.case
    return {
        "run": plan.run,
        "case_id": case.id,
        "number": plan.number,
        "again": int(plan.again),
        "outcome": ended.outcome,
        "reason": ended.reason,
        "message": ended.message,
        "fix": ended.fix,
        "label": "",
        "admitted": int(case.admitted),
        "category": case.category,
        "priority": case.priority,
        "difficulty": case.difficulty,
        "set_up": run.set_up,
        "llm": run.llm,
        "session": run.session,
        "seed": plan.seed,
        "account": plan.identity.account,
        "user_id": plan.identity.user_id,
        "seconds": round(done.seconds, 3),
        "turns": 1 + max((step.turn for step in run.steps), default=-1),
        "steps": len(run.steps),
        "tool_calls": len(calls_of(run)),
        "input_tokens": run.tokens.input if run.tokens else None,
        "output_tokens": run.tokens.output if run.tokens else None,
        "attempts": done.attempts,
        "ended": now(),
        "tags_json": case.tags.model_dump_json(exclude_defaults=True),
        "limits_json": json.dumps(run.limits_hit),
        "errors_json": json.dumps(done.errors, ensure_ascii=False),
        "facts_json": json.dumps({**done.facts, **({"shown": ended.shown} if ended.shown else {})}, ensure_ascii=False),
    }


def check_rows(done: TrialDone) -> list[dict[str, Any]]:
    """The checks of a trial as rows, in order."""
    key = {"run": done.plan.run, "case_id": done.plan.case.id, "number": done.plan.number}
    return [
        {
            **key,
            "again": int(done.plan.again),
            "place": place,
            "turn": each.turn,
            "name": each.result.check,
            "outcome": each.result.outcome,
            "message": each.result.message,
            "needs": each.result.needs,
            "evidence_json": json.dumps(
                [evidence.model_dump(exclude_defaults=True) for evidence in each.result.evidence], ensure_ascii=False
            ),
        }
        for place, each in enumerate(done.looked)
    ]


def now() -> str:
    """This moment, ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _begin(database: Database, head: RunHead) -> None:
    settings = head.settings
    database.table("runs").insert(
        {
            "id": head.id,
            "suite": head.suite,
            "title": head.title,
            "state": "running",
            "planned": head.planned,
            "seed": head.options.seed,
            "started": now(),
            "ended": None,
            "seconds": 0.0,
            "proctor": __version__,
            "suite_version": head.suite_version,
            "agent_version": head.agent_version,
            "model": settings.model,
            "prompt_version": settings.prompt_version,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "model_seed": settings.seed,
            "left_out_json": json.dumps(head.left_out),
            "options_json": head.options.model_dump_json(exclude_defaults=True),
        }
    )


def _whole(database: Database, run: str) -> list[tuple[TrialKey, Outcome, int]]:
    database.execute("UPDATE runs SET state = 'running' WHERE id = ?", (run,))
    rows = database.query("SELECT *, line_at + line_bytes AS line_end FROM trials WHERE run = ?", (run,))
    return [
        (TrialKey(row["case_id"], row["number"], bool(row["again"])), row["outcome"], row["line_end"]) for row in rows
    ]


_THIS = "run = ? AND case_id = ? AND number = ? AND again = ?"


def _overrule(database: Database, run: str, key: TrialKey, ended: Ended) -> None:
    what = (ended.outcome, ended.reason, ended.message, ended.fix)
    database.execute(
        f"UPDATE trials SET outcome = ?, reason = ?, message = ?, fix = ? WHERE {_THIS} AND outcome = 'pass'",  # noqa: S608
        (*what, run, key.case, key.number, int(key.again)),
    )


def _end(database: Database, run: str, state: str, seconds: float) -> None:
    database.execute(
        "UPDATE runs SET state = ?, ended = ?, seconds = seconds + ? WHERE id = ?", (state, now(), seconds, run)
    )


def _busy(run: str, holder: str) -> UsageError:
    told = f"the run {run} is going on{f' ({holder})' if holder else ''}"
    return UsageError("run_busy", told, "wait for it, or stop that process")
