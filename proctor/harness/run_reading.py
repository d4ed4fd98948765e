"""What is on record of runs, for people and scripts: runs, trials, checks, and a trial's trajectory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from proctor.errors import StoreError, UsageError, nearest
from proctor.harness.planning import RunOptions
from proctor.harness.run_schema import STEPS
from proctor.harness.run_store import DATABASE, FILE, FOLDER
from proctor.store import Store
from proctor.trajectories.file import json_of, trajectory_of
from proctor.trajectory import Trajectory

if TYPE_CHECKING:
    from proctor.store import Database

LAST = "last"
Row = Mapping[str, Any]
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class Recorded:
    """A run with its trials, in the order in which they ended. Columns are those of `run_schema`."""

    run: Row
    trials: tuple[Row, ...]

    @property
    def options(self) -> RunOptions:
        """What the run was asked for."""
        return RunOptions.model_validate_json(self.run["options_json"])


async def all_runs(state: Path) -> list[Row]:
    """Every run of a project's `.proctor/`, the newest first, each with `outcomes`: how many trials ended how."""
    return await _read(state, _runs)


async def one_run(state: Path, run: str, *, unfinished: bool = False) -> Recorded:
    """A run by its id, or the last one (`last`; of those that are not finished). Raises UsageError."""
    return await _read(state, partial(_run, run=run, unfinished=unfinished))


async def checks_of(state: Path, trial: Row) -> list[Row]:
    """The checks of a trial, in order."""
    return await _read(state, partial(_checks, trial=trial))


def trajectory_at(state: Path, trial: Row) -> Trajectory:
    """The trajectory of a trial. Raises StoreError where the file does not hold it."""
    path = state / FOLDER / trial["run"] / FILE
    try:
        with path.open("rb") as file:
            file.seek(trial["line_at"])
            return trajectory_of(json_of(file.read(trial["line_bytes"])))
    except (OSError, ValueError) as error:
        told = f"{path} does not hold the trajectory of {trial['case_id']}: {error}"
        raise StoreError("trajectory_lost", told, "run it again") from None


async def _read(state: Path, work: Callable[[Database], _Read]) -> _Read:
    path = state / DATABASE
    if not path.exists():
        raise UsageError("no_runs", "there is no run yet", "proctor run SUITE")
    store = await Store.open(path, STEPS)
    try:
        return await store.run(work)
    finally:
        await store.close()


def _runs(database: Database) -> list[Row]:
    outcomes: dict[str, dict[str, int]] = {}
    for row in database.query("SELECT run, outcome, COUNT(*) AS n FROM trials WHERE again = 0 GROUP BY run, outcome"):
        outcomes.setdefault(row["run"], {})[row["outcome"]] = row["n"]
    rows = database.query("SELECT * FROM runs ORDER BY started DESC, id DESC")
    return [{**row, "outcomes": outcomes.get(row["id"], {})} for row in rows]


def _run(database: Database, run: str, *, unfinished: bool) -> Recorded:
    which = "WHERE state != 'finished'" if unfinished else ""
    rows = list(database.query(f"SELECT * FROM runs {which} ORDER BY started, id"))  # noqa: S608
    known = [row["id"] for row in rows]
    wanted = known[-1] if run == LAST and known else run
    found = next((row for row in rows if row["id"] == wanted), None)
    if found is None:
        what = "no run that is not finished" if unfinished else "no run"
        raise UsageError("run_unknown", f"there is {what} {'' if run == LAST else run}".rstrip(), nearest(run, known))
    trials = database.query("SELECT * FROM trials WHERE run = ? ORDER BY rowid", (wanted,))
    return Recorded(found, tuple(trials))


def _checks(database: Database, trial: Row) -> list[Row]:
    which = (trial["run"], trial["case_id"], trial["number"], trial["again"])
    found = database.query(
        "SELECT * FROM checks WHERE run = ? AND case_id = ? AND number = ? AND again = ? ORDER BY place", which
    )
    return [{**row, "evidence": json.loads(row["evidence_json"])} for row in found]


_LOOKED_BACK = 5_000
"""Trials from which tokens are estimated: the last ones."""


def tokens_of(database: Database) -> dict[str, list[tuple[int, int]]]:
    """By case: the tokens (input, output) that its last trials took, where they are known."""
    rows = database.query(
        "SELECT case_id, input_tokens, output_tokens FROM trials WHERE input_tokens IS NOT NULL "
        "AND output_tokens IS NOT NULL AND outcome IN ('pass', 'fail') ORDER BY rowid DESC LIMIT ?",
        (_LOOKED_BACK,),
    )
    found: dict[str, list[tuple[int, int]]] = {}
    for row in rows:
        found.setdefault(row["case_id"], []).append((row["input_tokens"], row["output_tokens"]))
    return found
