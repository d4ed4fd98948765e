"""`proctor cassette scan`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import click

from proctor.cli.project import shown_path
from proctor.cli.scan_report import ScanReport, report_json, report_lines
from proctor.config import CONFIG_NAME, Config, find_config, load_config
from proctor.errors import CassetteError, ConfigError, UsageError
from proctor.interaction import readable
from proctor.paths import Layout
from proctor.scanning.allow import ALLOW_NAME, AllowList, judged, load_allow
from proctor.scanning.files import Chosen, chosen
from proctor.scanning.finds import TapeScan
from proctor.scanning.rules import ProjectRules, project_rules
from proctor.scanning.tape import scan_tape
from proctor.tape_bodies import body_folder


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--allow",
    "allow_file",
    type=click.Path(path_type=Path),
    help=f"What may stand on a tape, each with a reason; else {ALLOW_NAME} of the project, if there.",
)
@click.option("--explain", is_flag=True, help="Also what is kept or a placeholder already, and which rule decides.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def scan(paths: tuple[str, ...], allow_file: Path | None, explain: bool, as_json: bool) -> int:
    """Look for secrets on tapes, Proctor's or vcrpy's: files, folders, or names of the project's tapes.

    The rules are those of recording, with [redact] of proctor.toml and the secrets of this environment as they are now.
    A find is told by its place, kind and fingerprint, never by its value. Ends with status 1 where something is found,
    2 where something could not be looked at. docs/scanning.md says what to do about a find.

    \b
      proctor cassette scan cassettes/
      proctor cassette scan refund --explain
    """
    config = _config()
    root = config.root if config else Path.cwd()
    rules = project_rules(config.redact.model_dump() if config else {}, root, os.environ)
    allowed = _allowed(allow_file, root)
    found = chosen(_path(each, root) for each in paths)
    scans = _scans(found, root, rules, explain=explain)
    done = judged(scans, allowed, [shown_path(each, root) for each in found.folders], all_read=not found.errors)
    errors = tuple((shown_path(path, root), error) for path, error in found.errors)
    report = ScanReport(done, tuple(found.skipped), errors, rules.own(), root, has_config=config is not None)
    if as_json:
        click.echo(readable(json.dumps(report_json(report, explain=explain), ensure_ascii=False)))
    else:
        click.echo(readable("\n".join(report_lines(report, explain=explain))))
    return report.status


def _config() -> Config | None:
    """The project's configuration, or None outside of any project. Raises ConfigError for one that is wrong."""
    try:
        path = find_config(Path.cwd())
    except ConfigError:
        return None
    return load_config(path)


def _allowed(given: Path | None, root: Path) -> AllowList:
    """The allow list; an empty one where none is named and the project has none. Raises ConfigError."""
    if given is None and not (root / ALLOW_NAME).exists():
        return AllowList()
    return load_allow(root / ALLOW_NAME if given is None else given)


def _path(given: str, root: Path) -> Path:
    """A path as it stands, else the project's tape of that name."""
    path = Path(given).absolute()
    if path.exists() or not (root / CONFIG_NAME).is_file():
        return path
    try:
        tape = Layout(root).cassette(given)
    except UsageError:
        return path
    return tape if tape.exists() else path


def _scans(found: Chosen, root: Path, rules: ProjectRules, *, explain: bool) -> Iterable[TapeScan]:
    """Each tape's scan. What cannot be read as a tape is noted, and the rest goes on."""
    scans = []
    for path, data in found.tapes.items():
        try:
            scans.append(scan_tape(shown_path(path, root), data, body_folder(path), rules, explain=explain))
        except CassetteError as error:
            shown = shown_path(path, root)
            error.message, error.fix = f"{shown}: {error.message}", error.fix.replace(" FILE", f" {shown}")
            found.errors.append((path, error))
    return scans
