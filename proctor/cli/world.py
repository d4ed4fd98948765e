"""`proctor world`."""

from __future__ import annotations

import click

from proctor.cli.lazy import Commands, LazyGroup

_COMMANDS: Commands = {
    "list": ("proctor.cli.world_show:list_worlds", "List the services that have a world."),
    "show": ("proctor.cli.world_show:show_world", "Print the tools of a world and its state at the start."),
    "call": ("proctor.cli.world_call:call_world", "Call tools of a world, one after the other, and tell what changed."),
    "serve": ("proctor.cli.world_serve:serve_worlds", "Serve the project's worlds over HTTP, until it is stopped."),
}


@click.group(cls=LazyGroup, lazy=_COMMANDS)
def world() -> None:
    """See and try the worlds of the project: tools with a state of their own, in place of real services."""
