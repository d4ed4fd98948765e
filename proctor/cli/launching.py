"""What `record` and `replay` share: a proxy, a session, the agent's command, the summary."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import click

from proctor.cli.child import run_command
from proctor.cli.project import project_config
from proctor.cli.report import summary_text
from proctor.client import ControlClient
from proctor.config import Config
from proctor.errors import UsageError
from proctor.launch import agent_environment, chosen_modes, session_spec
from proctor.proxy.server import start_proxy
from proctor.summary import Ending, ending
from proctor.trace import SessionSummary, row_line
from proctor.wire import Mode, SessionSpec

_Command = Callable[..., Any]


def session_options(command: _Command) -> _Command:
    """The options of a command that runs an agent in a session."""
    options = (
        click.option("--cassette", required=True, metavar="NAME", help="The tape: cassettes/NAME.yaml."),
        click.option("--mode", "modes", multiple=True, metavar="SERVICE=MODE", help="Another mode for one service."),
        click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the proxy; by default any."),
        click.option("--allow-unused", is_flag=True, help="A service that is never asked is no failure."),
        click.option("--strict", is_flag=True, help="An answer recorded in another state is a miss."),
        click.option("--json", "as_json", is_flag=True, help="Print the summary as a JSON line on stdout, last."),
        click.argument("command", nargs=-1, type=click.UNPROCESSED),
    )
    for option in reversed(options):
        command = option(command)
    return command


def launch(
    default: Mode,
    *,
    cassette: str,
    modes: Sequence[str],
    port: int,
    allow_unused: bool,
    strict: bool,
    as_json: bool,
    command: Sequence[str],
) -> int:
    """Run a command in a session of its own; gives the exit status that stands for all that happened."""
    config = project_config()
    if not command:
        raise UsageError("no_command", "no command to run", "put it after --: ... -- python agent.py")
    if shutil.which(command[0]) is None:
        raise UsageError("command_not_found", f'cannot find the command "{command[0]}"', "check its name and PATH")
    chosen = chosen_modes(config, default, modes)
    spec = session_spec(config, cassette, chosen, command=tuple(command), allow_unused=allow_unused, strict=strict)
    summary, command_status = asyncio.run(_run(config, spec, command, port))
    end = ending(summary, command_status, allow_unused=allow_unused)
    click.echo(summary_text(summary, end, command_status, config.root), err=True)
    if as_json:
        click.echo(json_line(summary, end, command_status))
    return end.status


def json_line(summary: SessionSummary, end: Ending, command_status: int) -> str:
    """The summary for scripts: one JSON object on one line."""
    verdict = {"command_status": command_status, "status": end.status, "reasons": end.reasons}
    return row_line({**summary.model_dump(mode="json"), **verdict}).decode().rstrip()


async def _run(config: Config, spec: SessionSpec, command: Sequence[str], port: int) -> tuple[SessionSummary, int]:
    proxy = await start_proxy(config, port=port)
    try:
        async with ControlClient(proxy.url, proxy.token) as control:
            info = await control.open(spec)
            try:
                status = await run_command(command, agent_environment(config, info))
            except UsageError:
                await control.close(info.session)
                raise
            return await control.close(info.session, status), status
    finally:
        await proxy.close()
