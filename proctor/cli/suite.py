"""`proctor suite`."""

from __future__ import annotations

import click

from proctor.cli.lazy import Commands, LazyGroup

_COMMANDS: Commands = {
    "list": ("proctor.cli.suite_show:list_suites", "List the suites of the project, or the cases of one."),
    "lint": ("proctor.cli.suite_lint:lint_suites", "Say which cases show nothing, and what a suite lacks."),
    "expand": (
        "proctor.cli.suite_show:expand_suite",
        "Print every case of a suite as JSON lines, templates made out.",
    ),
    "schema": ("proctor.cli.suite_show:print_schema", "Print the JSON Schema of a suite's file, for editors."),
}


@click.group(cls=LazyGroup, lazy=_COMMANDS)
def suite() -> None:
    """Look at suites: files of cases in `suites/`, each with what the agent is asked and what must come of it."""
