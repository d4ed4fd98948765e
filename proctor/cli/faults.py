"""`proctor faults`."""

from __future__ import annotations

import json
import os

import click

from proctor.cassette import load_cassette
from proctor.cli.project import project_config
from proctor.fault_file import read_plan
from proctor.fault_schedule import calls_on
from proctor.fault_told import explained, explained_lines
from proctor.paths import Layout, cassette_name
from proctor.proxy.playback import indexed


@click.group()
def faults() -> None:
    """Look at fault plans: what goes wrong, and when."""


@faults.command()
@click.argument("plan")
@click.option("--cassette", metavar="NAME", help="The tape that will be replayed: shows which of its calls are meant.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def explain(plan: str, cassette: str | None, as_json: bool) -> None:
    """Print what a plan does to which call, before it is used.

    PLAN is a file (.toml, .yaml, .json) or a text, TOOL[:CALL|:early|:mid|:late]=KIND[@SECONDS][*TIMES], several with
    commas between. Positions are thirds of the plan's reference or of the tape, so these need one of the two. With a
    tape, a fault that may not fire is told.

    \b
      proctor faults explain refund:2=timeout
      proctor faults explain plan.toml --cassette refund
    """
    spec = read_plan(plan)
    calls = None
    if cassette is not None:
        config = project_config()
        tape = indexed(load_cassette(Layout(config.root), cassette_name(cassette)), config, os.environ)
        calls = calls_on(tape.cassette.interactions, config.services)
    told = explained(spec, calls)
    if as_json:
        facts = {"seed": spec.seed, "by_header": spec.by_header, "faults": told}
        click.echo(json.dumps(facts, ensure_ascii=False))
        return
    click.echo("\n".join(explained_lines(spec, told)))
