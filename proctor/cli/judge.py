"""`proctor judge`."""

from __future__ import annotations

import click

from proctor.cli.lazy import Commands, LazyGroup

_COMMANDS: Commands = {
    "lint": ("proctor.cli.judge_lint:lint", "Say what is wrong with a rubric, before anything is spent on it."),
}


@click.group(cls=LazyGroup, lazy=_COMMANDS)
def judge() -> None:
    """Judge what agents did against a rubric, line by line, and check the rubrics themselves."""
