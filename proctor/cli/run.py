"""`proctor run`."""

from __future__ import annotations

import asyncio
from typing import Any

import click
from click.core import ParameterSource

from proctor.cli.project import project_config
from proctor.cli.run_doing import do_run
from proctor.cli.run_resumed import resumed_options
from proctor.cli.run_shown import run_json, run_text
from proctor.errors import UsageError
from proctor.harness.planning import RunOptions
from proctor.launch import chosen_modes
from proctor.paths import Layout
from proctor.wire import SEEDS


@click.command()
@click.argument("suite", required=False)
@click.option("--only", multiple=True, metavar="CASE", help="Only this case, or all of a template; * is any part.")
@click.option("--trials", type=click.IntRange(1, 1000), help="Of each case; by default as the suite says.")
@click.option("--seed", type=click.IntRange(0, SEEDS - 1), default=0, show_default=True, help="Of ids, chance, time.")
@click.option("--mode", "modes", multiple=True, metavar="SERVICE=MODE", help="What answers a service, in every case.")
@click.option("--record", is_flag=True, help="Ask the real services, and make each case's tape; one trial a case.")
@click.option(
    "--at-once", type=click.IntRange(1, 512), help="Trials at once; by default 8, 32 of a full suite, 1 with --record."
)
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), metavar="USD", help="Run what fits into it.")
@click.option("--cache", is_flag=True, help="Reuse results of the same agent, case and seed.")
@click.option("--blind", default="", metavar="WHY", help="Run the blind cases, and no others; the use is logged.")
@click.option("--resume", metavar="RUN", help="Go on with a run that was stopped, by its id, or `last`.")
@click.option("--json", "as_json", is_flag=True, help="The run as one JSON object, with every trial.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def run(suite: str | None, modes: tuple[str, ...], resume: str | None, as_json: bool, **asked: Any) -> int:
    """Run an agent through the cases of SUITE, and say what came of each trial.

    The agent is that of [agent] in proctor.toml, or the COMMAND after --. Each trial has a session, a user and ids of
    its own. Services with a world are answered by it, a case's tape answers where it has one, models are live; --mode
    says otherwise. What was kept is in .proctor/runs.db; a run that was stopped goes on with --resume.

    With --record each case makes its tape, one after the other, between the hooks of [record] in proctor.toml.

    \b
    Exit status: 0 all that counts passed; 1 a trial did not; 2 usage or configuration;
    3 a call that nobody recorded, or past the services; 4 Proctor failed.
    Where several hold: 4, 2, 3, 1. Cases that are admitted count; all, as long as none is.

    \b
      proctor run orders
      proctor run orders --only cracked_lamp --trials 3
      proctor run orders --mode llm=replay -- python agent.py
      proctor run orders --record
      proctor run --resume last
    """
    config = project_config()
    if resume is not None:
        _check_alone(click.get_current_context())
        options, run_id = asyncio.run(resumed_options(Layout(config.root), resume, suite))
        return _shown(do_run(config, options, run_id), as_json=as_json)
    if suite is None:
        raise UsageError("suite_missing", "which suite?", "proctor run SUITE; see: proctor suite list")
    wanted = {text.partition("=")[0] for text in modes}
    chosen = {name: mode for name, mode in chosen_modes(config, "live", modes).items() if name in wanted}
    return _shown(do_run(config, RunOptions(suite=suite, modes=chosen, **asked)), as_json=as_json)


def _check_alone(context: click.Context) -> None:
    """Raise UsageError where something is said beside --resume that the run has of its own."""
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE and context.params[name]
        if given and name not in ("resume", "suite", "as_json"):
            told = f"--resume takes everything from the run, and {parameter.opts[0]} says otherwise"
            raise UsageError("resume_with_more", told, f"leave out {parameter.opts[0]}, or begin a new run")


def _shown(done: tuple[Any, int], *, as_json: bool) -> int:
    recorded, status = done
    click.echo(run_json(recorded, status) if as_json else run_text(recorded))
    return status
