"""What `record` and `replay` share: a proxy, a session, the agent's command, the summary."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from proctor.cli.child import run_command
from proctor.cli.hooks import asks_staging, between_hooks, with_failure
from proctor.cli.isolation import Isolation, check_isolation
from proctor.cli.listening import Listening, listening, listening_options
from proctor.cli.project import project_config
from proctor.cli.report import summary_text
from proctor.client import ControlClient
from proctor.config import Config
from proctor.errors import UsageError
from proctor.fault_file import read_plan
from proctor.launch import agent_environment, chosen_modes, session_spec
from proctor.overlay import Patch
from proctor.proxy.server import start_proxy
from proctor.summary import Ending, ending
from proctor.trace import SessionSummary, row_line
from proctor.wire import Mode, SessionSpec

_Command = Callable[..., Any]


def session_options(*, needs_cassette: bool = True) -> Callable[[_Command], _Command]:
    """The options of a command that runs an agent in a session."""
    options = (
        click.option("--cassette", required=needs_cassette, metavar="NAME", help="The tape: cassettes/NAME.yaml."),
        click.option("--mode", "modes", multiple=True, metavar="SERVICE=MODE", help="Another mode for one service."),
        listening_options,
        click.option("--isolate", is_flag=True, help="COMMAND can reach the proxy and nothing else (Linux)."),
        click.option("--allow-unused", is_flag=True, help="A service that is never asked is no failure."),
        click.option("--faults", default="", metavar="PLAN", help="What goes wrong, and when: a file, or TOOL:2=KIND."),
        click.option("--strict", is_flag=True, help="An answer recorded in another state is a miss."),
        click.option("--json", "as_json", is_flag=True, help="Print the summary as a JSON line on stdout, last."),
        click.argument("command", nargs=-1, type=click.UNPROCESSED),
    )

    def with_options(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return with_options


class Done(NamedTuple):
    """What became of a session that ran a command."""

    summary: SessionSummary
    end: Ending
    command_status: int


def launch(
    default: Mode,
    *,
    cassette: str,
    modes: Sequence[str],
    port: int,
    host: str,
    advertise: str,
    isolate: bool,
    allow_unused: bool,
    faults: str,
    strict: bool,
    as_json: bool,
    command: Sequence[str],
    overlay: tuple[Patch, ...] = (),
    timing: bool = False,
    over: str = "",
    only: Sequence[str] = (),
) -> int:
    """Run a command in a session of its own; gives the exit status that stands for all that happened.

    Where services are named by `only`, these have the default mode, and the tape `over` answers the others.
    """
    config = project_config()
    spec = session_spec(
        config,
        cassette,
        chosen_modes(config, default, modes, only),
        command=tuple(command),
        folder=folder_now(config.root),
        over=over,
        allow_unused=allow_unused,
        faults=read_plan(faults) if faults else None,
        strict=strict,
        timing=timing,
        overlay=overlay,
        isolated=isolate,
    )
    done = run_session(config, spec, listening(port, host, advertise))
    if as_json:
        echo_after_command(json_line(*done))
    return done.end.status


def run_session(config: Config, spec: SessionSpec, where: Listening) -> Done:
    """Run a session's command, with the hooks around it if it records from tools, and print the summary on stderr.

    Raises UsageError where the command is none, or is to be isolated and cannot be; what `ControlClient.open` raises;
    HookError where `before` fails.
    """
    folder = config.root / spec.folder
    _check_command(spec.command, folder)
    if spec.isolated:
        check_isolation(spec, where)

    def work() -> tuple[SessionSummary, int]:
        return asyncio.run(_run(config, spec, where, folder))

    hooked = asks_staging(config, spec.modes)
    (summary, command_status), failed = between_hooks(config, work) if hooked else (work(), None)
    end = with_failure(ending(summary, command_status, allow_unused=spec.allow_unused), failed)
    click.echo(summary_text(summary, end, command_status, config.root), err=True)
    return Done(summary, end, command_status)


def folder_now(root: Path) -> str:
    """The working directory, below the project's folder; empty for that itself."""
    here = Path.cwd().resolve()
    return "" if here == root or not here.is_relative_to(root) else here.relative_to(root).as_posix()


def _check_command(command: Sequence[str], folder: Path) -> None:
    if not command:
        raise UsageError("no_command", "no command to run", "put it after --: ... -- python agent.py")
    if shutil.which(str(folder / command[0]) if "/" in command[0] else command[0]) is None:
        raise UsageError("command_not_found", f'cannot find the command "{command[0]}"', "check its name and PATH")


def echo_after_command(line: str) -> None:
    """Print a line that stands alone, also where the last one of the command has no end: an empty one goes before."""
    click.echo(f"\n{line}")


def json_line(summary: SessionSummary, end: Ending, command_status: int) -> str:
    """The summary for scripts: one JSON object on one line."""
    verdict = {"command_status": command_status, "status": end.status, "reasons": end.reasons}
    return row_line({**summary.model_dump(mode="json"), **verdict}).decode().rstrip()


async def _run(config: Config, spec: SessionSpec, where: Listening, folder: Path) -> tuple[SessionSummary, int]:
    proxy = await start_proxy(config, where.host, where.port, advertised=where.advertised)
    isolation = Isolation(proxy.addressing.port, proxy.listen_at) if spec.isolated else None
    try:
        async with ControlClient(proxy.url, proxy.token) as control:
            info = await control.open(spec)
            try:
                variables = agent_environment(config, info)
                status = await run_command(spec.command, variables, folder, isolation=isolation)
            except UsageError:
                await control.close(info.session)
                raise
            return await control.close(info.session, status), status
    finally:
        await proxy.close()
