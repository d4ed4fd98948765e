"""`proctor trajectory`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from proctor.cli.project import project_layout
from proctor.cli.session_worlds import world_states
from proctor.cli.timeline import timeline
from proctor.cli.trajectory_check import check
from proctor.cli.trajectory_input import chosen, file_bytes, json_file, no_json, read_status
from proctor.errors import UsageError, nearest
from proctor.events import trace_of
from proctor.paths import Layout
from proctor.trace import SessionSummary
from proctor.trajectories.file import BadLine, json_of, line_of, write_trajectories
from proctor.trajectories.from_messages import from_messages
from proctor.trajectories.from_records import from_record
from proctor.trajectories.from_session import from_session
from proctor.trajectories.from_spans import from_spans
from proctor.trajectory import Trajectory

LAST = "last"
SOURCES = ("records", "messages", "spans", "session")


@click.group()
def trajectory() -> None:
    """Show, check and convert trajectories: what a run of an agent did, step by step."""


trajectory.add_command(check)


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
    path, found, picked, bad = chosen(which)
    for number, run in enumerate(picked):
        if as_json:
            click.echo(line_of(run).decode(), nl=False)
        else:
            click.echo(("\n" if number else "") + "\n".join(timeline(run, full=full)))
    return read_status(path, found, bad)


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
    return read_status(Path(source), found, bad)


def _converted(source: str, kind: str, log: Path | None) -> tuple[list[Trajectory], list[BadLine]]:
    if kind == "session":
        return list(_session(project_layout(), source, json_file(log) if log else None)), []
    path = Path(source)
    if kind == "records":
        return _records(path)
    if kind == "messages":
        return [from_messages(_messages(json_file(path)), path.stem)], []
    return list(from_spans(_spans(path), path.stem)), []


def _records(path: Path) -> tuple[list[Trajectory], list[BadLine]]:
    found: list[Trajectory] = []
    bad: list[BadLine] = []
    for number, line in enumerate(file_bytes(path).split(b"\n"), 1):
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
        trace = trace_of((folder / "trace.jsonl").read_bytes())
        worlds = world_states(folder)
    except (OSError, ValueError) as error:
        raise UsageError("session_damaged", f"{folder} cannot be read: {error}", "run the session again") from None
    messages = None if log is None else _messages(log)
    return from_session(summary, trace.exchanges, told=trace.events, worlds=worlds, log=messages)


def _messages(value: Any) -> Any:
    """A list of messages, or an object that holds one under `messages` or `input`."""
    return value.get("messages", value.get("input")) if isinstance(value, dict) else value


def _spans(path: Path) -> Any:
    """One export, or one a line."""
    data = file_bytes(path)
    try:
        return json_of(data)
    except ValueError as error:
        try:
            return [json_of(line) for line in data.split(b"\n") if line.strip()]
        except ValueError:
            raise no_json(path, error) from None
