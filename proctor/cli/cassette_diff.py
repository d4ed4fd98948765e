"""`proctor cassette diff`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from proctor.cassette import Cassette, load_cassette, parse_cassette
from proctor.cli.project import project_config
from proctor.cli.session import session_rows
from proctor.config import Config
from proctor.errors import EXIT_FAILED, EXIT_FINE, CassetteError, ConfigError, UsageError, nearest
from proctor.paths import Layout, cassette_name
from proctor.tape_bodies import body_folder
from proctor.tape_changes import TapeDiff
from proctor.tape_diff import diff_session, diff_tapes


@click.command()
@click.argument("old")
@click.argument("new")
@click.option("--all", "everything", is_flag=True, help="Every interaction and field, not the first ones.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, with everything.")
def diff(old: str, new: str, everything: bool, as_json: bool) -> int:
    """Say what really changed between two tapes, or between a tape and a session.

    OLD and NEW are tapes, by name or file; NEW may be the id of a session instead. Spelling, dates, times, request ids
    and the values that proctor.toml declares as `ignore` or `volatile` are no change.

    \b
      proctor cassette diff refund refund-new
      proctor cassette diff refund .proctor/aside/refund.yaml
      proctor cassette diff refund 5b3c0f9e1a27

    \b
    ~ changed   + added   - removed   > moved   * the circumstances
    Ends with status 0 where nothing changed, 1 where something did, 2 where they cannot be compared.
    """
    found = _compared(_config(), old, new)
    if as_json:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False))
    else:
        click.echo("\n".join(found.lines(everything=everything)))
    return EXIT_FAILED if found.different else EXIT_FINE


def _compared(config: Config | None, old: str, new: str) -> TapeDiff:
    layout = Layout(config.root) if config else None
    rules = config.services if config else {}
    tape = _tape(layout, old)
    if layout is not None and not _is_tape(layout, new) and new in _sessions(layout):
        return diff_session(tape, session_rows(layout, new), rules)
    return diff_tapes(tape, _tape(layout, new), rules)


def _config() -> Config | None:
    """The project's, or None outside of any, where files can be compared all the same."""
    try:
        return project_config()
    except ConfigError as error:
        if error.code == "config_missing":
            return None
        raise


def _is_tape(layout: Layout, which: str) -> bool:
    try:
        return Path(which).is_file() or cassette_name(which) in layout.cassette_names()
    except UsageError:
        return False


def _tape(layout: Layout | None, which: str) -> Cassette:
    """A tape by its file or its name. Raises CassetteError, or UsageError where there is none."""
    path = Path(which)
    if path.is_file():
        try:
            return parse_cassette(which, path.read_bytes(), body_folder(path))
        except CassetteError as error:
            error.message = f"{path}: {error.message}"
            raise
    if layout is None:
        raise UsageError("no_tape", f"{which} is no file, and there is no project here to have a tape of that name")
    if not _is_tape(layout, which):
        known = nearest(which, [*layout.cassette_names(), *_sessions(layout)])
        raise UsageError("no_tape", f'"{which}" is no tape, file or session of this project', known)
    return load_cassette(layout, which)


def _sessions(layout: Layout) -> list[str]:
    return [path.parent.name for path in layout.sessions.glob("*/trace.jsonl")]
