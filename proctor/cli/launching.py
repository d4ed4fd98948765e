"""What `record` and `replay` share: a proxy, a session, the agent's command, the summary."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from proctor.cli.project import project_config
from proctor.cli.report import summary_text
from proctor.client import ControlClient
from proctor.config import Config
from proctor.errors import UsageError, nearest
from proctor.launch import agent_environment
from proctor.proxy.server import start_proxy
from proctor.summary import Ending, ending
from proctor.trace import SessionSummary, row_line
from proctor.wire import MODES, Mode, SessionInfo, SessionSpec

_Command = Callable[..., Any]


def session_options(command: _Command) -> _Command:
    """The options of a command that runs an agent in a session."""
    options = (
        click.option("--cassette", required=True, metavar="NAME", help="The tape: cassettes/NAME.yaml."),
        click.option("--mode", "modes", multiple=True, metavar="SERVICE=MODE", help="Another mode for one service."),
        click.option("--port", default=0, help="Port of the proxy; the system chooses by default."),
        click.option("--allow-unused", is_flag=True, help="A service that is never asked is no failure."),
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
    as_json: bool,
    command: Sequence[str],
) -> int:
    """Run a command in a session of its own; gives the exit status that stands for all that happened."""
    config = project_config()
    if not command:
        raise UsageError("no_command", "no command to run", "put it after --: ... -- python agent.py")
    if shutil.which(command[0]) is None:
        raise UsageError("command_not_found", f'cannot find the command "{command[0]}"', "check its name and PATH")
    spec = SessionSpec(
        cassette=cassette,
        modes=chosen_modes(config, default, modes),
        allow_unused=allow_unused,
        passed=config.pass_hosts if default == "record" else (),
    )
    summary, command_status = asyncio.run(_run(config, spec, command, port))
    end = ending(summary, command_status, allow_unused=allow_unused)
    click.echo(summary_text(summary, end, command_status, config.root), err=True)
    if as_json:
        click.echo(json_line(summary, end, command_status))
    return end.status


def chosen_modes(config: Config, default: Mode, modes: Sequence[str]) -> dict[str, Mode]:
    """Every service with its mode; `modes` are `SERVICE=MODE`. Raises UsageError or ConfigError for unknown ones."""
    chosen: dict[str, Mode] = dict.fromkeys(config.services, default)
    for text in modes:
        name, equals, wanted = text.partition("=")
        config.service(name)
        mode = next((known for known in MODES if known == wanted), None)
        if not equals or mode is None:
            raise UsageError("unknown_mode", f'"{text}" is no SERVICE=MODE', nearest(wanted, MODES))
        chosen[name] = mode
    return chosen


def json_line(summary: SessionSummary, end: Ending, command_status: int) -> str:
    """The summary for scripts: one JSON object on one line."""
    verdict = {"command_status": command_status, "status": end.status, "reasons": end.reasons}
    return row_line({**summary.model_dump(mode="json"), **verdict}).decode().rstrip()


async def _run(config: Config, spec: SessionSpec, command: Sequence[str], port: int) -> tuple[SessionSummary, int]:
    proxy = await start_proxy(config, port=port)
    try:
        async with ControlClient(proxy.url, proxy.token) as control:
            info = await control.open(spec)
            status = await _run_command(config, info, command)
            return await control.close(info.session, status), status
    finally:
        await proxy.close()


async def _run_command(config: Config, info: SessionInfo, command: Sequence[str]) -> int:
    """Run the agent's command with its variables; gives its exit status, 128 + n where signal n ended it."""
    environment = agent_environment(config, info, os.environ)
    for note in environment.notes:
        click.echo(f"proctor: {note}", err=True)
    process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **environment.variables})
    loop = asyncio.get_running_loop()
    interrupts = _Interrupts(process)
    loop.add_signal_handler(signal.SIGINT, interrupts.interrupt)
    loop.add_signal_handler(signal.SIGTERM, interrupts.terminate)
    try:
        status = await process.wait()
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)
    return status if status >= 0 else 128 - status


class _Interrupts:
    """Ctrl-C ends the agent, not the bookkeeping: the session is still closed and told. A second one kills."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._count = 0

    def interrupt(self) -> None:
        self._count += 1
        if self._count > 1:
            self._send(signal.SIGKILL)
        elif not sys.stdin.isatty():  # a terminal sends the signal to the whole group itself
            self._send(signal.SIGINT)

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            self._process.send_signal(number)
