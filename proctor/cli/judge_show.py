"""`proctor judge show`."""

from __future__ import annotations

import asyncio

import click

from proctor import tokens
from proctor.cli.judge_shown import verdict_lines
from proctor.cli.project import optional_project
from proctor.errors import EXIT_FAILED, EXIT_FINE
from proctor.judge.case_record import CaseRecord, replay_case
from proctor.judge.inquiry import Terms
from proctor.judge.record import replay
from proctor.judge.verdict_store import LAST, AnyRecord, VerdictStore


@click.command()
@click.argument("which", metavar="VERDICT", default=LAST)
@click.option("--again", is_flag=True, help="Make the verdict again from its record, without a model, and compare.")
@click.option("--json", "as_json", is_flag=True, help="The verdict as one JSON object; its record with --record.")
@click.option("--record", is_flag=True, help="With --json: also the run, the rubric, and every question and reply.")
def show(which: str, again: bool, as_json: bool, record: bool) -> int:
    """Print a verdict with the evidence for each score.

    VERDICT is the first digits of its id, the id of a trajectory (its latest verdict), or `last`. With --again ends
    with 1 where the verdict comes out otherwise now, and says why.

    \b
      proctor judge show last
      proctor judge show refund-3 --again
    """
    layout, _, _ = optional_project()
    kept = VerdictStore(layout.judge).load(which)
    if as_json:
        click.echo((kept if record else kept.verdict).model_dump_json())
    else:
        click.echo("\n".join(verdict_lines(kept.verdict)))
    return _made_again(kept) if again else EXIT_FINE


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
