"""`proctor judge show`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from proctor import tokens
from proctor.cli.judge_service import remote, service_options
from proctor.cli.judge_shown import verdict_lines
from proctor.cli.project import optional_project
from proctor.errors import EXIT_FAILED, EXIT_FINE, UsageError
from proctor.judge.case_record import CaseRecord, replay_case
from proctor.judge.inquiry import Terms
from proctor.judge.record import replay
from proctor.judge.service.records import LAST, AnyRecord, find_record, read_record
from proctor.judge.service.schema import STEPS
from proctor.judge.service.server import DATABASE
from proctor.store import Store


@click.command()
@click.argument("which", metavar="VERDICT", default=LAST)
@click.option("--again", is_flag=True, help="Make the verdict again from its record, without a model, and compare.")
@click.option("--json", "as_json", is_flag=True, help="The verdict as one JSON object; its record with --record.")
@click.option("--record", is_flag=True, help="With --json: also the run, the rubric, and every question and reply.")
@service_options
def show(which: str, again: bool, as_json: bool, record: bool, service: str | None, token_file: Path | None) -> int:
    """Print a verdict with the evidence for each score.

    VERDICT is the first digits of its id, the id of a trajectory (its latest verdict), or `last`. With --again ends
    with 1 where the verdict comes out otherwise now, and says why.

    \b
      proctor judge show last
      proctor judge show refund-3 --again
    """
    kept = asyncio.run(_from_service(service, token_file, which) if service else _own(which))
    if as_json:
        click.echo((kept if record else kept.verdict).model_dump_json())
    else:
        click.echo("\n".join(verdict_lines(kept.verdict)))
    return _made_again(kept) if again else EXIT_FINE


async def _own(which: str) -> AnyRecord:
    """From this project's database. Raises UsageError where there is no such verdict."""
    layout, _, _ = optional_project()
    path = layout.judge / DATABASE
    if not path.exists():
        raise UsageError("no_verdict", f'no verdict "{which}" here', "make one with: proctor judge run")
    store = await Store.open(path, STEPS)
    try:
        return await store.run(lambda database: find_record(database, which))
    finally:
        await store.close()


async def _from_service(service: str, token_file: Path | None, which: str) -> AnyRecord:
    async with remote(service, token_file) as client:
        return read_record(await client.record(which))


def _made_again(record: AnyRecord) -> int:
    model = record.verdict.judge.model
    terms = Terms(b"", lambda text: tokens.count(text, model))
    again = replay_case(record, terms) if isinstance(record, CaseRecord) else replay(record, terms)
    replayed = asyncio.run(again)
    if not replayed.differences:
        click.echo("made again from its record, without a model: the same verdict", err=True)
        return EXIT_FINE
    click.echo("made again from its record, the verdict is another one:", err=True)
    for each in replayed.differences:
        click.echo(f"  {each}", err=True)
    return EXIT_FAILED
