"""The commands around a recording: they put staging into a known state before it, and tidy up after it."""

from __future__ import annotations

import asyncio
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeVar

import click

from proctor.cli.child import run_command
from proctor.config import Config
from proctor.errors import EXIT_PLATFORM, HookError, UsageError
from proctor.summary import Ending
from proctor.wire import FROM_TAPE, KEPT, Mode

_TAIL = 10
"""Lines of what a failing hook printed that are told."""
_Result = TypeVar("_Result")


def asks_staging(config: Config, modes: Mapping[str, Mode]) -> bool:
    """Whether a session records from tools: one that only records an LLM over a tape leaves staging alone."""
    recorded = {name for name, mode in modes.items() if mode in KEPT}
    replays = not FROM_TAPE.isdisjoint(modes.values())
    return bool(recorded - config.llm_services if replays else recorded)


def between_hooks(config: Config, work: Callable[[], _Result]) -> tuple[_Result, HookError | None]:
    """Run the hook `before`, then `work`, then in any case the hook `after`; gives the work's result, and its failure.

    Raises HookError, with the work undone, where `before` fails. Where the work raises, the failure of `after` is said.
    """
    try:
        _run(config, "before")
        result = work()
    except BaseException:
        failed = _after(config)
        if failed is not None:
            click.echo(f"proctor: {failed.code}: {failed}", err=True)
        raise
    return result, _after(config)


def with_failure(end: Ending, failed: HookError | None) -> Ending:
    """The ending of a session after which the hook `after` failed."""
    if failed is None:
        return end
    told = str(failed).replace("\n", "\n    ")
    if end.status == EXIT_PLATFORM:
        return Ending(end.status, (*end.reasons, told))
    return Ending(failed.exit_code, (told, *end.reasons))


def _after(config: Config) -> HookError | None:
    try:
        _run(config, "after")
    except HookError as error:
        return error
    return None


def _run(config: Config, which: Literal["before", "after"]) -> None:
    """Run a hook to its end, in the project's folder and without a session's variables. Raises HookError."""
    command: Sequence[str] = getattr(config.record, which)
    if not command:
        return
    with tempfile.TemporaryFile() as output:
        try:
            status = asyncio.run(run_command(command, {}, config.root, output))
        except UsageError as error:
            raise _error(which, command, f"cannot be run: {error.message}", "") from None
        if status:
            output.seek(0)
            lines = output.read().decode("utf-8", "replace").splitlines()
            raise _error(which, command, f"ended with status {status}", "\n".join(lines[-_TAIL:]))


def _error(which: str, command: Sequence[str], what: str, said: str) -> HookError:
    consequence = "nothing was recorded" if which == "before" else "staging may not be as it should be"
    told = f": it said\n{said}" if said else ""
    return HookError(
        "hook_failed",
        f"the hook `{which}` ({shlex.join(command)}) {what}, so {consequence}{told}",
        f"mend it, or `{which}` under [record] in proctor.toml",
    )
