"""`proctor judge`."""

from __future__ import annotations

import click

from proctor.cli.lazy import Commands, LazyGroup

_COMMANDS: Commands = {
    "lint": ("proctor.cli.judge_lint:lint", "Say what is wrong with a rubric, before anything is spent on it."),
    "run": ("proctor.cli.judge_run:run", "Judge trajectories against a rubric."),
    "serve": ("proctor.cli.judge_serve:serve", "Judge what others send, over HTTP, and lose nothing of it."),
    "show": ("proctor.cli.judge_show:show", "Print a verdict with its evidence, or make it again."),
    "retest": ("proctor.cli.judge_retest:repeat_judgement", "Tell how far a judge repeats itself."),
    "calibrate": ("proctor.cli.judge_calibrate:calibrate_labels", "Measure how far a judge agrees with people."),
    "drift": ("proctor.cli.judge_drift:find_drift", "Tell whether a judge changed behind its name."),
}


@click.group(cls=LazyGroup, lazy=_COMMANDS)
def judge() -> None:
    """Judge what agents did against a rubric, line by line, and check the rubrics themselves."""
