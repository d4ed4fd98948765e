"""`proctor record --again`: tapes recorded once more, each compared with what it was before it is replaced."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import click

from proctor.again import Rerun, rerun, spec_again, tapes_meant
from proctor.cassette import Cassette, load_cassette, parse_cassette
from proctor.cli.launching import Done, echo_after_command, folder_now, run_session
from proctor.cli.listening import Listening
from proctor.cli.project import project_config, shown_path
from proctor.config import Config
from proctor.errors import (
    EXIT_FAILED,
    EXIT_FINE,
    EXIT_MISSES,
    EXIT_PLATFORM,
    EXIT_USAGE,
    ProctorError,
    UsageError,
)
from proctor.paths import Layout
from proctor.resealing import accept_aside
from proctor.sealing import forget_aside
from proctor.tape_bodies import body_folder
from proctor.tape_changes import TapeDiff
from proctor.tape_diff import diff_tapes

What = Literal["unchanged", "replaced", "kept aside", "failed", "not run"]
_SIGNALLED = frozenset({130, 143})
"""Statuses of a command that somebody stopped: the tapes that follow are not run."""


@dataclass
class Outcome:
    """What became of one tape."""

    tape: str
    what: What
    status: int = EXIT_FINE
    reasons: tuple[str, ...] = ()
    diff: TapeDiff | None = None
    stopped: bool = False
    """Somebody stopped it by a signal."""
    error: dict[str, str] = field(default_factory=dict)
    """Of what was refused before it ran."""

    @property
    def counted(self) -> str:
        """How much changed, for people."""
        return f"{self.diff.changed} of {self.diff.total} changed" if self.diff else ""

    def as_json(self) -> dict[str, Any]:
        """One object; keys that say nothing are left out."""
        facts = {"reasons": self.reasons, "diff": self.diff.as_json() if self.diff else None, "error": self.error}
        said = {key: value for key, value in facts.items() if value}
        return {"tape": self.tape, "outcome": self.what, "status": self.status, **said}


@dataclass(frozen=True)
class Recorder:
    """Records tapes again, one after the other."""

    config: Config
    where: Listening
    isolated: bool
    allow_unused: bool
    replaces: bool
    """Without asking."""
    command: tuple[str, ...] = ()
    """Instead of the one in the stamp."""

    @property
    def layout(self) -> Layout:
        """Where the project's files lie."""
        return Layout(self.config.root)

    def record(self, name: str) -> Outcome:
        """Record one tape again. Whatever is wrong with it is in the outcome."""
        try:
            old = load_cassette(self.layout, name)
            made = self._made(old)
            click.echo(f"proctor: recording {name} again: {old.stamp.get('command', '')}", err=True)
            spec = spec_again(self.config, old, made, allow_unused=self.allow_unused, isolated=self.isolated)
            return self._judged(old, run_session(self.config, spec, self.where))
        except ProctorError as error:
            click.echo(f"proctor: {name}: {error.code}: {error}", err=True)
            return Outcome(name, "failed", error.exit_code, (error.message,), error=error.as_dict())

    def _made(self, old: Cassette) -> Rerun:
        if self.command:
            return Rerun(self.command, folder_now(self.config.root))
        return rerun(old, os.environ)

    def _judged(self, old: Cassette, done: Done) -> Outcome:
        """Compare a recording that is aside with the old tape, and replace that or not."""
        if done.end.status:
            stopped = done.command_status in _SIGNALLED
            return Outcome(old.name, "failed", done.end.status, done.end.reasons, stopped=stopped)
        aside = self.layout.aside / f"{old.name}.yaml"
        new = parse_cassette(old.name, aside.read_bytes(), body_folder(aside))
        diff = diff_tapes(old, new, self.config.services)
        for line in diff.lines():
            click.echo(f"  {line}", err=True)
        if not diff.changed:
            forget_aside(self.layout, old.name)
            click.echo(f"  unchanged   {old.name}; the tape stays as it is", err=True)
            return Outcome(old.name, "unchanged", diff=diff)
        if self.replaces or _agreed(old.name):
            done_now = accept_aside(self.layout, old.name, self.config.cassettes.body_files_over)
            assert done_now.path is not None
            click.echo(f"  replaced    {shown_path(done_now.path, self.config.root)}", err=True)
            return Outcome(old.name, "replaced", diff=diff)
        click.echo(f"  take it     proctor cassette accept {old.name}", err=True)
        reason = f"{diff.changed} of {diff.total} interactions really changed; the old tape is as it was"
        return Outcome(old.name, "kept aside", EXIT_FAILED, (reason,), diff)


def record_again(
    named: Sequence[str],
    *,
    command: Sequence[str],
    where: Listening,
    isolate: bool,
    allow_unused: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Record the named tapes again; gives the exit status that stands for all of them."""
    config = project_config()
    names = tapes_meant(Layout(config.root), named)
    if command and len(names) > 1:
        raise UsageError("one_command", f"one command for {len(names)} tapes", "name one tape, or leave it out")
    recorder = Recorder(config, where, isolate, allow_unused, yes, tuple(command))
    outcomes = list(_each(recorder, names))
    status = _status([outcome.status for outcome in outcomes])
    if len(outcomes) > 1:
        for line in _table(outcomes):
            click.echo(line, err=True)
    if as_json:
        told = {"tapes": [outcome.as_json() for outcome in outcomes], "status": status}
        echo_after_command(json.dumps(told, ensure_ascii=False))
    return status


def _each(recorder: Recorder, names: Sequence[str]) -> Iterator[Outcome]:
    """One after the other; after a signal the rest is not run."""
    stopped = False
    for number, name in enumerate(names, 1):
        if stopped:
            yield Outcome(name, "not run", EXIT_FAILED, ("an earlier one was stopped",))
            continue
        if len(names) > 1:
            click.echo(f"\n[{number}/{len(names)}] {name}", err=True)
        outcome = recorder.record(name)
        stopped = outcome.stopped
        yield outcome


def _agreed(name: str) -> bool:
    """Whether the person at the terminal wants the tape replaced; nobody there is a no."""
    return sys.stdin.isatty() and click.confirm(f"Replace cassettes/{name}.yaml?", err=True)


def _status(statuses: Sequence[int]) -> int:
    """That of the only tape; of several 4, 2, 3 or 1, the first that one of them has."""
    if len(statuses) == 1:
        return statuses[0]
    known = (EXIT_PLATFORM, EXIT_USAGE, EXIT_MISSES)
    return next((status for status in known if status in statuses), EXIT_FAILED if any(statuses) else EXIT_FINE)


def _table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    width = max(len(outcome.tape) for outcome in outcomes)
    yield f"\nproctor: {len(outcomes)} tapes recorded again"
    for outcome in outcomes:
        why = outcome.reasons[0].split("\n")[0] if outcome.reasons and not outcome.diff else outcome.counted
        yield f"  {outcome.tape:<{width}}  {outcome.what:<10}  {why}".rstrip()
    waiting = [outcome.tape for outcome in outcomes if outcome.what == "kept aside"]
    if waiting:
        yield f"  take them   {'; '.join(f'proctor cassette accept {shlex.quote(name)}' for name in waiting)}"
