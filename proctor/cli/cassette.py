"""`proctor cassette`."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from proctor.cassette import Cassette, load_cassette
from proctor.cli.cassette_diff import diff
from proctor.cli.cassette_edit import accept, seal, text
from proctor.cli.cassette_scan import scan
from proctor.cli.project import project_layout, shown_path
from proctor.errors import (
    EXIT_FAILED,
    EXIT_FINE,
    EXIT_MISSES,
    EXIT_USAGE,
    CassetteError,
    UsageError,
    nearest,
)
from proctor.journal import is_being_written, read_journal
from proctor.paths import Layout
from proctor.redacted_trace import write_trace
from proctor.sealing import seal as seal_journal
from proctor.stamp import age_text
from proctor.summary import label
from proctor.tape_lock import TapeLock
from proctor.tape_mixes import mixes
from proctor.tape_text import interaction_lines, shown_interactions
from proctor.trace import interaction_fields

_OF_INTEREST = (
    "environment",
    "host",
    "command",
    "services",
    "tool_schemas",
    "judge_salt",
    "extended",
    "edited_at",
    "accepted",
)
"""What a tape's stamp says, in this order, beside its date."""
_PIPED_WIDTH = 200
"""Of a table that no terminal cuts."""


@click.group()
def cassette() -> None:
    """List, show, compare, seal, scan and recover cassettes."""


@cassette.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a tape.")
def ls(as_json: bool) -> int:
    """List every tape of the project. Ends with status 2 where one cannot be believed.

    Warns where the tapes of one folder were made in different environments, against different hosts, or with other
    schemas of a tool.
    """
    layout = project_layout()
    entries = [_entry(layout, name) for name in layout.cassette_names()]
    for entry in entries:
        click.echo(json.dumps(entry, ensure_ascii=False) if as_json else _entry_text(entry))
    for warning in mixes(layout, [entry["name"] for entry in entries]):
        click.echo(f"warning: {warning}", err=True)
    if not entries and not as_json:
        click.echo("no cassettes yet; record one: proctor record --cassette NAME -- COMMAND", err=True)
    return EXIT_USAGE if any("error" in entry for entry in entries) else EXIT_FINE


@cassette.command()
@click.argument("name")
@click.option("--index", type=int, help="One interaction, whole.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an interaction.")
def show(name: str, index: int | None, as_json: bool) -> None:
    """Print a tape: a line an interaction, or one of them whole.

    \b
      proctor cassette show refund
      proctor cassette show refund --index 3
    """
    tape = load_cassette(project_layout(), name)
    if index is not None and not 0 <= index < len(tape.interactions):
        raise UsageError(
            "no_interaction", f"{tape.name} has interactions 0 to {len(tape.interactions) - 1}, not {index}"
        )
    shown = shown_interactions(tape)
    chosen = shown if index is None else (shown[index],)
    if as_json:
        for interaction in chosen:
            click.echo(json.dumps({"index": interaction.index, **interaction_fields(interaction)}, ensure_ascii=False))
    elif index is None:
        _print_table(tape)
    else:
        click.echo("\n".join(interaction_lines(chosen[0])))


cassette.add_command(diff)
cassette.add_command(seal)
cassette.add_command(accept)
cassette.add_command(text)
cassette.add_command(scan)


@cassette.command()
@click.argument("journal", required=False)
def recover(journal: str | None) -> int:
    """Seal what a killed recording left: its journal, by name where there are several.

    The journal is deleted once its exchanges are on a tape, or kept aside with the reasons.
    """
    layout = project_layout()
    path = _journal(layout, journal)
    content = read_journal(path)
    with TapeLock(layout, content.head["cassette"], "proctor cassette recover"):
        result = seal_journal(layout, content)
    write_trace(layout, content.head["session"], result.rows)
    for note in result.notes:
        click.echo(f"note: {note}")
    count = len(result.cassette.interactions)
    if result.sealed:
        click.echo(f"recovered {count} exchanges: sealed {shown_path(result.sealed, layout.root)}")
    elif result.aside:
        click.echo(f"recovered {count} exchanges: kept aside in {shown_path(result.aside, layout.root)}")
    else:
        click.echo("the journal holds no finished exchange: there is nothing to recover")
    for reason in result.reasons:
        click.echo(f"  * not sealed: {reason}")
    path.unlink()
    if result.sealed:
        return EXIT_FINE
    return EXIT_FAILED if result.aside else EXIT_MISSES


def _journal(layout: Layout, name: str | None) -> Path:
    """The journal meant. Raises UsageError where it is unclear, unknown or still being written."""
    known = {path.name: path for path in sorted(layout.journals.glob("*.jsonl"))}
    if not known:
        raise UsageError("no_journal", f"no journal in {layout.journals}: no recording was cut off")
    if name is None and len(known) > 1:
        raise UsageError("which_journal", f"several journals: {', '.join(known)}", "name one of them")
    chosen = name or next(iter(known))
    if chosen not in known:
        raise UsageError("unknown_journal", f'no journal "{chosen}"', nearest(chosen, known))
    if is_being_written(known[chosen]):
        raise UsageError("journal_in_use", f"{chosen} belongs to a recording that is still running", "let it end")
    return known[chosen]


def _entry(layout: Layout, name: str) -> dict[str, Any]:
    path = layout.cassettes / f"{name}.yaml"
    entry: dict[str, Any] = {"name": name, "bytes": path.stat().st_size}
    try:
        tape = load_cassette(layout, name)
    except (CassetteError, UsageError) as error:
        return {**entry, "error": error.as_dict()}
    services = {service: sum(i.request.service == service for i in tape.interactions) for service in tape.services}
    facts = {"by": tape.by, "recorded_at": tape.recorded_at, "age": _age(tape)}
    return {**entry, "interactions": len(tape.interactions), "services": services, **facts}


def _entry_text(entry: dict[str, Any]) -> str:
    if "error" in entry:
        return f"{entry['name']:<32} {entry['error']['code']}: {entry['error']['message']}"
    services = ", ".join(f"{name} {count}" for name, count in entry["services"].items())
    when = f"{entry['recorded_at']} ({entry['age']})" if entry["age"] else f"by {entry['by']}"
    return f"{entry['name']:<32} {entry['interactions']:>4} interactions  {when}  {services}"


def _age(tape: Cassette) -> str:
    return age_text(tape.recorded_at, datetime.now(UTC))


def _print_table(tape: Cassette) -> None:
    from rich.console import Console
    from rich.table import Table

    when = f"recorded {tape.recorded_at} ({_age(tape)})" if tape.recorded_at else f"recorded by {tape.by}"
    table = Table(title=f"{tape.name}, {when}", title_justify="left", box=None)
    for column in ("#", "service", "call", "effect", "status", "took", "bytes"):
        table.add_column(
            column, justify="right" if column in {"#", "status", "took", "bytes"} else "left", no_wrap=True
        )
    for interaction in tape.interactions:
        response = interaction.response
        table.add_row(
            str(interaction.index),
            interaction.request.service,
            label(interaction),
            f"{interaction.effect} ({interaction.effect_why})",
            str(response.status),
            f"{interaction.seconds:.3f} s",
            str(len(response.body)),
        )
    for key in (key for key in _OF_INTEREST if key in tape.stamp):
        click.echo(f"{key.replace('_', ' '):<13} {_stamped(tape.stamp[key])}")
    Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH).print(table)


def _stamped(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)
