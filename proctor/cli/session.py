"""`proctor session`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from proctor.cli.project import project_layout
from proctor.cli.report import summary_text
from proctor.errors import SessionError, nearest
from proctor.events import EventRow, row_of, trace_of
from proctor.paths import Layout
from proctor.summary import ending
from proctor.trace import SessionSummary, TraceRow


@click.group()
def session() -> None:
    """Read what a session did."""


@session.command()
@click.argument("session_id", required=False)
@click.option("--trace", "with_trace", is_flag=True, help="Every exchange, with arguments and results.")
@click.option("--json", "as_json", is_flag=True, help="The summary, or with --trace its rows, as JSON lines.")
def show(session_id: str | None, with_trace: bool, as_json: bool) -> None:
    """Print the summary of a session, by default the last one.

    \b
      proctor session show
      proctor session show --trace --json | jq 'select(.source == "refused")'
    """
    layout = project_layout()
    folder = _folder(layout, session_id)
    try:
        summary = SessionSummary.model_validate_json((folder / "summary.json").read_bytes())
        rows = (folder / "trace.jsonl").read_bytes().splitlines() if with_trace else []
    except (OSError, ValueError) as error:
        raise _damaged(folder, error) from None
    if as_json:
        click.echo("\n".join(row.decode() for row in rows) if with_trace else summary.model_dump_json())
        return
    status = summary.command_status or 0
    click.echo(summary_text(summary, ending(summary, status, allow_unused=summary.allow_unused), status, layout.root))
    for row in rows:
        click.echo(_row_text(row_of(row)))


def session_rows(layout: Layout, session_id: str) -> list[TraceRow]:
    """The exchanges of a closed session. Raises SessionError where there is none, or a damaged one."""
    folder = _folder(layout, session_id)
    try:
        return trace_of((folder / "trace.jsonl").read_bytes()).exchanges
    except (OSError, ValueError) as error:
        raise _damaged(folder, error) from None


def _damaged(folder: Path, error: Exception) -> SessionError:
    return SessionError("session_damaged", f"{folder} cannot be read: {error}", "run the session again")


def _folder(layout: Layout, session_id: str | None) -> Path:
    """The folder of a closed session; SessionError where there is none."""
    known = {path.parent.name: path for path in layout.sessions.glob("*/summary.json")}
    if not known:
        raise SessionError("no_sessions", f"no session has ended in {layout.root}", "run one first")
    if session_id is None:
        return max(known.values(), key=lambda path: path.stat().st_mtime_ns).parent
    if session_id not in known:
        raise SessionError("unknown_session", f'no session "{session_id}" has ended here', nearest(session_id, known))
    return known[session_id].parent


def _row_text(row: TraceRow | EventRow) -> str:
    """One exchange in three lines: what was asked, with what, and what came; then each address that was rewritten.

    What the agent told is one line.
    """
    if isinstance(row, EventRow):
        facts = (f" turn {row.turn}" if row.turn is not None else "") + (f" {row.when}" if row.when else "")
        told = json.dumps(row.data, ensure_ascii=False)
        return f"{row.index:>4} {row.started:8.3f} s  the agent told: {row.kind}{facts}  {told}"
    how = f"tape #{row.matched} {row.match}{' again' if row.repeated else ''}" if row.source == "replay" else row.source
    if row.fault:
        how = f"fault: {row.fault}" if row.source == "fault" else f"{how}, {row.fault}"
    came = row.status or "no answer"
    head = f"{row.index:>4} {row.started:8.3f} s  {row.service} {row.method} {row.target}  -> {came} ({how})"
    lines = [head]
    for name, value in (("arguments", row.arguments), ("result", row.result), ("error", row.error)):
        if value is not None:
            lines.append(f"       {name:<9} {json.dumps(value, ensure_ascii=False)}")
    lines += [f"       rewrote   {text}" for text in row.rewrites]
    return "\n".join(lines)
