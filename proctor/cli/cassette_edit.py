"""`proctor cassette seal`, `accept` and `text`: tapes that people edit, accept and review."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import click

from proctor.cassette import parse_edited
from proctor.cli.project import project_config, shown_path
from proctor.config import find_config, load_config
from proctor.errors import CassetteError, ConfigError
from proctor.paths import Layout, cassette_name
from proctor.redaction.rules import rules_of
from proctor.resealing import Resealed, accept_aside, seal_again
from proctor.tape_bodies import body_folder
from proctor.tape_outline import outline
from proctor.tape_readings import Rules

_as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object.")


@click.command()
@click.argument("name", metavar="TAPE")
@_as_json
def seal(name: str, as_json: bool) -> None:
    """Seal a tape again after an edit that was meant, and show what it changes.

    The diff is against the version that git has. Credentials are replaced by placeholders and Content-Length is made
    true; the tape keeps the date of the edit.

    \b
      proctor cassette seal refund
      proctor cassette seal cassettes/refund.yaml
    """
    config = project_config()
    layout, plain = Layout(config.root), cassette_name(name)
    rules = rules_of(config.redact.model_dump(), config.root)
    done = seal_again(layout, plain, config.cassettes.body_files_over, rules)
    if as_json:
        click.echo(_json(layout, done))
        return
    if done.path is None:
        click.echo(f"{plain} is as it was sealed, {done.interactions} interactions: nothing to do")
        return
    _tell(done, "changed", "git has no version of it to compare with")
    click.echo(f"sealed {shown_path(done.path, layout.root)} with {done.interactions} interactions")


@click.command()
@click.argument("name", metavar="TAPE")
@_as_json
def accept(name: str, as_json: bool) -> None:
    """Make a recording that sealing put aside the tape, for good reasons of your own.

    Prints why it was put aside and what it changes; the tape keeps these reasons.

    \b
      proctor cassette accept refund
    """
    config = project_config()
    layout = Layout(config.root)
    done = accept_aside(layout, cassette_name(name), config.cassettes.body_files_over)
    if as_json:
        click.echo(_json(layout, done))
        return
    assert done.path is not None
    _tell(done, "put aside because", "there was no tape before")
    click.echo(f"accepted {shown_path(done.path, layout.root)} with {done.interactions} interactions")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def text(file: Path) -> None:
    """Print a tape's file as text in which only what counts stands, JSON laid out.

    It is git's diff driver for tapes, and hides what `proctor cassette diff` does not count. `proctor init` names it in
    .gitattributes, and each clone turns it on:

    \b
      git config diff.proctor.textconv "proctor cassette text"
      git diff cassettes/
      git log -p cassettes/refund.yaml
    """
    data = file.read_bytes()
    try:
        edited = parse_edited(file.stem, data, body_folder(file), lenient=True)
    except CassetteError as error:  # a diff driver must show what there is
        click.echo(f"not readable as a tape: {error.message}\n")
        click.echo(data.decode("utf-8", "replace"), nl=False)
        return
    for change in edited.changes:
        click.echo(f"not as sealed: {change}")
    click.echo("\n".join(outline(edited.cassette, _rules())))


def _rules() -> Rules:
    """The project's services. git runs its driver at the top of the repository, and says where the user stands."""
    try:
        return load_config(find_config(Path.cwd() / os.environ.get("GIT_PREFIX", ""))).services
    except ConfigError as error:
        click.echo(f"proctor: nothing is hidden: {error.message}", err=True)
        return {}


def _tell(done: Resealed, why: str, nothing: str) -> None:
    for line in done.diff:
        click.echo(line)
    if not done.compared:
        click.echo(f"({nothing})")
    elif not done.diff:
        click.echo("(reads the same as before)")
    for change in done.changes:
        click.echo(f"{why}: {change}")
    for note in done.notes:
        click.echo(f"note: {note}")


def _json(layout: Layout, done: Resealed) -> str:
    facts: dict[str, str | int | Iterable[str]] = {
        "sealed": shown_path(done.path, layout.root) if done.path else "",
        "interactions": done.interactions,
        "changes": done.changes,
        "diff": done.diff,
        "notes": done.notes,
    }
    return json.dumps(facts, ensure_ascii=False)
