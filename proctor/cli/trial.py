"""`proctor trial`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence

import click

from proctor.cli.project import project_layout
from proctor.cli.run_shown import name_of, plain_row
from proctor.cli.timeline import timeline
from proctor.errors import EXIT_FINE, UsageError, nearest
from proctor.harness.run_reading import LAST, Recorded, Row, checks_of, one_run, trajectory_at

_MARKS = {"pass": "ok", "fail": "FAIL", "not_assessable": "?"}


@click.group()
def trial() -> None:
    """Look at the trials of a run."""


@trial.command()
@click.argument("case")
@click.option("--run", "run_id", default=LAST, show_default=True, help="The run's id.")
@click.option("--trial", "number", type=click.IntRange(0), default=0, show_default=True, help="Which of its trials.")
@click.option("--again", is_flag=True, help="The one more run of a trial that failed.")
@click.option("--full", is_flag=True, help="Texts and results whole, not cut to a line.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object: the trial, its checks, its trajectory.")
def show(case: str, run_id: str, number: int, again: bool, full: bool, as_json: bool) -> int:
    """Print what one trial of CASE came to: how it ended, its checks, and step by step what was done.

    \b
      proctor trial show cracked_lamp
      proctor trial show cracked_lamp --run 20261203-101502-9f3c --trial 2 --full
    """
    state = project_layout().state
    recorded = asyncio.run(one_run(state, run_id))
    row = _row(recorded, case, number, again)
    checks = asyncio.run(checks_of(state, row))
    found = trajectory_at(state, row)
    if as_json:
        told = {"trial": plain_row(row), "checks": [plain_row(each) for each in checks]}
        click.echo(json.dumps({**told, "trajectory": found.model_dump(mode="json")}, ensure_ascii=False))
    else:
        click.echo("\n".join((*_lines(row, checks), "", *timeline(found, full=full))))
    return EXIT_FINE


def _row(recorded: Recorded, case: str, number: int, again: bool) -> Row:
    here = [row for row in recorded.trials if row["case_id"] == case]
    if not here:
        told = f'the run {recorded.run["id"]} has no trial of "{case}"'
        raise UsageError("trial_unknown", told, nearest(case, {row["case_id"] for row in recorded.trials}))
    found = next((row for row in here if (row["number"], bool(row["again"])) == (number, again)), None)
    if found is None:
        known = ", ".join(name_of(row) for row in here)
        raise UsageError("trial_unknown", f"there is no such trial of {case}", f"there are: {known}")
    return found


def _lines(row: Row, checks: Sequence[Row]) -> Iterator[str]:
    yield from _head(row)
    facts = json.loads(row["facts_json"])
    yield from (f"  attempt {number} failed: {error}" for number, error in enumerate(json.loads(row["errors_json"]), 1))
    yield from (f"  fault that never fired: {fault}" for fault in facts.get("faults_unfired", ()))
    if row["cached_from"]:
        yield f"  taken from the run {row['cached_from']}: nothing that matters has changed"
    if "shown" in facts:
        yield "  the agent printed last:"
        yield from (f"    {line}" for line in facts["shown"].splitlines())
    yield ""
    for each in checks:
        where = "" if each["turn"] is None else f" (turn {each['turn']})"
        yield f"  {_MARKS[each['outcome']]:<4} {each['name']}{where}: {each['message']}"


def _head(row: Row) -> Iterator[str]:
    """How it ended, and in what set-up."""
    why = ", ".join(filter(None, (row["outcome"], row["reason"], row["label"])))
    yield f"{name_of(row)}: {why}"
    yield from (f"  {text}" for text in (row["message"], row["fix"]) if text)
    who = row["account"] or "nobody in particular"
    where = f"{row['set_up'] or 'no session'}, model {row['llm'] or 'none'}"
    yield f"  run {row['run']}, {where}, for {who} as {row['user_id']}"
