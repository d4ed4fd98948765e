"""`proctor runs`."""

from __future__ import annotations

import asyncio
import json

import click

from proctor.cli.project import project_layout
from proctor.cli.run_shown import counted_of, plain_row, run_json, run_line, run_text, trial_lines
from proctor.errors import EXIT_FINE
from proctor.harness.run_reading import all_runs, one_run


@click.command()
@click.argument("run", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def runs(run: str | None, as_json: bool) -> int:
    """List the runs of the project, the newest first; with RUN, the trials of one.

    RUN is an id, or `last`. The same stands in .proctor/runs.db, which any SQLite tool can read.

    \b
      proctor runs
      proctor runs last
    """
    state = project_layout().state
    if run is None:
        found = asyncio.run(all_runs(state))
        if as_json:
            click.echo(json.dumps({"runs": [plain_row(row) for row in found]}, ensure_ascii=False))
        else:
            click.echo("\n".join(map(run_line, found)))
        return EXIT_FINE
    recorded = asyncio.run(one_run(state, run))
    if as_json:
        click.echo(run_json(recorded, counted_of(recorded).status))
        return EXIT_FINE
    click.echo("\n".join((*trial_lines(recorded.trials), "", run_text(recorded, failures=False))))
    return EXIT_FINE
