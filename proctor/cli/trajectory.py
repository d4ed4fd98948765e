"""`proctor trajectory`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from proctor.cli.project import project_layout
from proctor.cli.timeline import timeline
from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_USAGE, UsageError, nearest
from proctor.paths import Layout
from proctor.trace import SessionSummary, TraceRow
from proctor.trajectories.file import BadLine, json_of, line_of, read_trajectories, write_trajectories
from proctor.trajectories.from_messages import from_messages
from proctor.trajectories.from_records import from_record
from proctor.trajectories.from_session import from_session
from proctor.trajectories.from_spans import from_spans
from proctor.trajectory import Trajectory

LAST = "last"
SOURCES = ("records", "messages", "spans", "session")


@click.group()
def trajectory() -> None:
    """Show and convert trajectories: what a run of an agent did, step by step."""


@trajectory.command()
@click.argument("which", metavar="FILE[:ID]")
@click.option("--full", is_flag=True, help="Texts and results whole, not cut to a line.")
@click.option("--json", "as_json", is_flag=True, help="The trajectories as JSON lines.")
def show(which: str, full: bool, as_json: bool) -> int:
    """Print the timeline of a file's trajectories, or of one of them.

    \b
      proctor trajectory show runs.jsonl
      proctor trajectory show runs.jsonl:refund-3 --full
    """
    path, run_id = _file_and_id(which)
    found, bad = read_file(path)
    chosen = [run for run in found if run_id is None or run.id == run_id]
    if run_id is not None and not chosen:
        raise UsageError("no_trajectory", f'{path} has no "{run_id}"', nearest(run_id, [run.id for run in found]))
    for number, run in enumerate(chosen):
        if as_json:
            click.echo(line_of(run).decode(), nl=False)
        else:
            click.echo(("\n" if number else "") + "\n".join(timeline(run, full=full)))
    return _status(path, found, bad)


@trajectory.command()
@click.argument("source", metavar="INPUT")
@click.option("--from", "kind", type=click.Choice(SOURCES), required=True, help="What INPUT is.")
@click.option("--out", "-o", type=click.Path(path_type=Path), help="A JSONL file; by default stdout.")
@click.option("--log", type=click.Path(exists=True, path_type=Path), help="The agent's own messages, to compare with.")
def convert(source: str, kind: str, out: Path | None, log: Path | None) -> int:
    """Make trajectories of INPUT, one JSON line each.

    \b
    INPUT is, after --from:
      session    the id of a session of this project, or `last`
      messages   a JSON file with a list of messages (OpenAI's or Anthropic's)
      spans      an OTLP JSON export (GenAI conventions or OpenInference)
      records    a JSONL file of labelled records

    \b
      proctor trajectory convert --from session last -o run.jsonl
      proctor trajectory convert --from spans trace.json | jq .final_answer
    """
    if log is not None and kind != "session":
        raise UsageError("log_without_session", "--log is compared with what the proxy saw: --from session")
    found, bad = _converted(source, kind, log)
    if out is None:
        for run in found:
            click.echo(line_of(run).decode(), nl=False)
    else:
        try:
            count = write_trajectories(out, found)
        except OSError as error:
            raise UsageError("not_writable", f"{out} cannot be written: {error.strerror}") from None
        click.echo(f"wrote {count} trajectories to {out}", err=True)
    return _status(Path(source), found, bad)


def read_file(path: Path) -> tuple[list[Trajectory], list[BadLine]]:
    """The trajectories of a file, and its bad lines. Raises UsageError where it cannot be read."""
    lines = list(read_trajectories(_bytes(path)))
    return [each for each in lines if isinstance(each, Trajectory)], [
        each for each in lines if isinstance(each, BadLine)
    ]


def _converted(source: str, kind: str, log: Path | None) -> tuple[list[Trajectory], list[BadLine]]:
    if kind == "session":
        return list(_session(project_layout(), source, _json(log) if log else None)), []
    path = Path(source)
    if kind == "records":
        return _records(path)
    if kind == "messages":
        return [from_messages(_messages(_json(path)), path.stem)], []
    return list(from_spans(_spans(path), path.stem)), []


def _records(path: Path) -> tuple[list[Trajectory], list[BadLine]]:
    found: list[Trajectory] = []
    bad: list[BadLine] = []
    for number, line in enumerate(_bytes(path).split(b"\n"), 1):
        if line.strip():
            try:
                found.append(from_record(json_of(line)))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                reason = str(error).splitlines()[0]
                bad.append(BadLine(number, getattr(error, "code", "not_a_record"), f"{type(error).__name__}: {reason}"))
    return found, bad


def _session(layout: Layout, session_id: str, log: Any) -> Iterable[Trajectory]:
    known = {path.parent.name: path.stat().st_mtime_ns for path in layout.sessions.glob("*/summary.json")}
    if session_id == LAST and known:
        session_id = max(known, key=lambda each: known[each])
    folder = layout.sessions / Path(session_id).name
    if folder.name not in known:
        raise UsageError("unknown_session", f'no session "{session_id}" has ended here', nearest(session_id, known))
    try:
        summary = SessionSummary.model_validate_json((folder / "summary.json").read_bytes())
        rows = [TraceRow.model_validate_json(line) for line in (folder / "trace.jsonl").read_bytes().splitlines()]
    except (OSError, ValueError) as error:
        raise UsageError("session_damaged", f"{folder} cannot be read: {error}", "run the session again") from None
    return from_session(summary, rows, log=None if log is None else _messages(log))


def _messages(value: Any) -> Any:
    """A list of messages, or an object that holds one under `messages` or `input`."""
    return value.get("messages", value.get("input")) if isinstance(value, dict) else value


def _spans(path: Path) -> Any:
    """One export, or one a line."""
    data = _bytes(path)
    try:
        return json_of(data)
    except ValueError as error:
        try:
            return [json_of(line) for line in data.split(b"\n") if line.strip()]
        except ValueError:
            raise _no_json(path, error) from None


def _json(path: Path) -> Any:
    try:
        return json_of(_bytes(path))
    except ValueError as error:
        raise _no_json(path, error) from None


def _no_json(path: Path, error: ValueError) -> UsageError:
    return UsageError(getattr(error, "code", "not_json"), f"{path}: {error}", "give a JSON file")


def _bytes(path: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise UsageError("unreadable", f"{path} cannot be read: {error.strerror}") from None


def _file_and_id(which: str) -> tuple[Path, str | None]:
    """`FILE:ID`, where a file may have a colon in its own name."""
    if Path(which).exists() or ":" not in which:
        return Path(which), None
    name, _, run_id = which.partition(":")
    return Path(name), run_id


def _status(path: Path, found: list[Trajectory], bad: list[BadLine]) -> int:
    for each in bad:
        click.echo(f"proctor: {path}: {each}", err=True)
    if not found:
        click.echo(f"proctor: {path}: no trajectory in it", err=True)
        return EXIT_USAGE
    return EXIT_FAILED if bad else EXIT_FINE
