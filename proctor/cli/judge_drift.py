"""`proctor judge drift`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from proctor.cli.judge_files import OF_RUBRICS, Bad, read_verdicts, scores_in, status, told
from proctor.judge.anchors import drift
from proctor.judge.intervals import percent
from proctor.judge.pairs import scale_of
from proctor.judge.table import Scale


@click.command("drift")
@click.argument("frozen", type=click.Path(path_type=Path))
@click.argument("fresh", type=click.Path(path_type=Path))
@click.option("--scale", type=click.Choice(OF_RUBRICS), help="Of the scores, where they do not tell it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def find_drift(frozen: Path, fresh: Path, scale: Scale | None, as_json: bool) -> int:
    """Find out whether a judge changed: hold its verdicts on kept runs (anchors) against those of today.

    FROZEN and FRESH hold verdicts on the same runs, a JSON object a line. What is unequal between the two judges is
    told first: a new prompt is no drift of the model. Ends with status 1 where passes and fails changed more one way
    than chance would (McNemar's exact test, 5 %), or a criterion has no score any more.

    \b
      proctor judge drift anchors.jsonl today.jsonl
    """
    bad: Bad = []
    then, now = read_verdicts(frozen, bad), read_verdicts(fresh, bad)
    found = drift(then, now, scale_of([*scores_in(then), *scores_in(now)], OF_RUBRICS, scale))
    if as_json:
        more = {"drifted": found.drifted, "message": found.message, "unread": told(bad)}
        click.echo(json.dumps(found.model_dump(mode="json") | more, ensure_ascii=False))
    else:
        click.echo(found.message)
        for change in found.changes:
            click.echo(f"  {change.trajectory}, {change.criterion}: {change.before}, now {change.now}")
        if found.at_most is not None:
            click.echo(f"  no change at all; so few anchors still allow that {percent(found.at_most)} of all changed")
    return status(bad, fine=not found.drifted and not found.unanswered)
