"""`proctor env`."""

from __future__ import annotations

import json
import os
import shlex
from typing import get_args

import click

from proctor.cassette import load_cassette
from proctor.cli.project import project_config
from proctor.errors import UsageError
from proctor.identities import dummy_keys
from proctor.launch import NAMES, agent_environment, chosen_modes
from proctor.paths import Layout
from proctor.wire import CURRENT, KEY_MARK, CarrierName, Mode, SessionInfo


@click.command()
@click.option("--format", "style", type=click.Choice(["shell", "docker", "json"]), default="shell", show_default=True)
@click.option("--session-url", envvar="PROCTOR_SESSION_URL", metavar="URL", help="Default: the session around this.")
@click.option("--cassette", metavar="NAME", help="With a tape: its dummy keys too, for replay.")
@click.option(
    "--carrier",
    type=click.Choice(get_args(CarrierName)),
    default="path",
    show_default=True,
    help="What tells the agent's session from others.",
)
def env(style: str, session_url: str | None, cassette: str | None, carrier: CarrierName) -> None:
    """Print the variables that point an agent at a session, for launchers of your own.

    By default each address names the session in its path. The other carriers have addresses that stay the same from
    session to session: `current` (the launcher binds them to one session at a time), `header` (the agent sends
    $PROCTOR_SESSION as x-proctor-session), `key` (the variables of API keys hold the session's key).

    \b
      proctor record --cassette first -- sh              then, inside:
      docker run --network host --env-file <(proctor env --format docker) my-agent
      proctor env --session-url http://127.0.0.1:4711/s/one --carrier key
    """
    if not session_url:
        raise UsageError(
            "no_session",
            "no session: PROCTOR_SESSION_URL is not set",
            "run this inside `proctor record|replay ... -- sh`, or give --session-url",
        )
    around = session_url == os.environ.get("PROCTOR_SESSION_URL") and NAMES in os.environ
    if around and not cassette and carrier == "path":
        click.echo(formatted({name: os.environ[name] for name in os.environ[NAMES].split(",")}, style))
        return
    config = project_config()
    tape = load_cassette(Layout(config.root), cassette) if cassette else None
    mode: Mode = "replay" if tape else "record"
    url = session_url.rstrip("/")
    base, _, session = url.rpartition("/")
    if session == CURRENT and carrier in {"header", "key"}:
        told = f'"{session_url}" names no session, and the {carrier} has to'
        raise UsageError("session_unnamed", told, "give the session's own address: `url` where it was opened")
    info = SessionInfo(
        session=session,
        cassette=cassette or "",
        modes=chosen_modes(config, mode, ()),
        url=url,
        current_url=f"{base}/{CURRENT}",
        key=KEY_MARK + session,
        set_up="",
        recorded_at=tape.recorded_at if tape else "",
        identities=dummy_keys(tape) if tape else {},
    )
    click.echo(formatted(agent_environment(config, info, carrier=carrier), style))


def formatted(variables: dict[str, str], style: str) -> str:
    """Variables as a shell evaluates them, as `docker --env-file` reads them, or as a JSON object."""
    if style == "json":
        return json.dumps(variables, indent=1)
    if style == "docker":
        return "\n".join(f"{name}={value}" for name, value in variables.items())
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())
