"""Files of labels and verdicts as the judge commands read them: what is bad is told, and fails the command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from proctor.cli.trajectory_input import file_bytes
from proctor.errors import EXIT_FAILED, EXIT_FINE, UsageError
from proctor.judge.lines import BadLine, parsed
from proctor.judge.table import Scale
from proctor.verdict import Verdict

OF_RUBRICS: tuple[Scale, ...] = ("0-2", "1-5")
Bad = list[tuple[Path, BadLine]]


def read_verdicts(path: Path, bad: Bad) -> list[Verdict]:
    """The verdicts of a file. Raises UsageError where there is none."""
    read = list(parsed(file_bytes(path), Verdict))
    bad += [(path, each) for _, each in read if isinstance(each, BadLine)]
    found = [each for _, each in read if isinstance(each, Verdict)]
    need_some(found, path, bad)
    return found


def scores_in(verdicts: Iterable[Verdict]) -> list[float]:
    """Every score that was given."""
    return [float(each.score) for verdict in verdicts for each in verdict.criteria if each.score is not None]


def need_some(found: Sequence[object], path: Path, bad: Bad) -> None:
    """Raises UsageError where a file held nothing that counts."""
    if not found:
        why = f": {bad[-1][1]}" if bad and bad[-1][0] == path else ""
        raise UsageError(
            "nothing_read", f"{path} holds nothing that counts{why}", "see docs/calibration.md for the form"
        )


def status(bad: Bad, *, fine: bool) -> int:
    """Tell the bad lines; 1 where there is one, or something is not fine."""
    for path, each in bad:
        click.echo(f"proctor: {path}: {each}", err=True)
    return EXIT_FINE if fine and not bad else EXIT_FAILED


def told(bad: Bad) -> list[dict[str, object]]:
    """The bad lines for `--json`."""
    return [{"file": str(path), **each.as_dict()} for path, each in bad]
