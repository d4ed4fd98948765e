"""`proctor env`."""

from __future__ import annotations

import json
import os
import shlex

import click

from proctor.cassette import load_cassette
from proctor.cli.project import project_config
from proctor.errors import UsageError
from proctor.identities import dummy_keys
from proctor.launch import NAMES, agent_environment
from proctor.paths import Layout
from proctor.wire import Mode, SessionInfo


@click.command()
@click.option("--format", "style", type=click.Choice(["shell", "docker", "json"]), default="shell", show_default=True)
@click.option("--session-url", envvar="PROCTOR_SESSION_URL", metavar="URL", help="Default: the session around this.")
@click.option("--cassette", metavar="NAME", help="With a tape: its dummy keys too, for replay.")
def env(style: str, session_url: str | None, cassette: str | None) -> None:
    """Print the variables that point an agent at a session, for launchers of your own.

    \b
      proctor record --cassette first -- sh              then, inside:
      docker run --network host --env-file <(proctor env --format docker) my-agent
    """
    if not session_url:
        raise UsageError(
            "no_session",
            "no session: PROCTOR_SESSION_URL is not set",
            "run this inside `proctor record|replay ... -- sh`, or give --session-url",
        )
    if session_url == os.environ.get("PROCTOR_SESSION_URL") and NAMES in os.environ and not cassette:
        click.echo(formatted({name: os.environ[name] for name in os.environ[NAMES].split(",")}, style))
        return
    config = project_config()
    tape = load_cassette(Layout(config.root), cassette) if cassette else None
    mode: Mode = "replay" if tape else "record"
    info = SessionInfo(
        session=session_url.rpartition("/")[2],
        cassette=cassette or "",
        modes=dict.fromkeys(config.services, mode),
        url=session_url.rstrip("/"),
        set_up="",
        recorded_at=tape.recorded_at if tape else "",
        identities=dummy_keys(tape) if tape else {},
    )
    click.echo(formatted(agent_environment(config, info), style))


def formatted(variables: dict[str, str], style: str) -> str:
    """Variables as a shell evaluates them, as `docker --env-file` reads them, or as a JSON object."""
    if style == "json":
        return json.dumps(variables, indent=1)
    if style == "docker":
        return "\n".join(f"{name}={value}" for name, value in variables.items())
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())
