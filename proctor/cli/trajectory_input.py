"""What the trajectory commands read: files of trajectories, JSON files, stdin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_USAGE, UsageError, nearest
from proctor.trajectories.file import BadLine, json_of, read_trajectories
from proctor.trajectory import Trajectory


def chosen(which: str) -> tuple[Path, list[Trajectory], list[Trajectory], list[BadLine]]:
    """`FILE[:ID]`: the file, all of its trajectories, the chosen ones, the bad lines. Raises UsageError."""
    path, run_id = _file_and_id(which)
    found, bad = read_file(path)
    picked = [run for run in found if run_id is None or run.id == run_id]
    if run_id is not None and not picked:
        raise UsageError("no_trajectory", f'{path} has no "{run_id}"', nearest(run_id, [run.id for run in found]))
    return path, found, picked, bad


def read_file(path: Path) -> tuple[list[Trajectory], list[BadLine]]:
    """The trajectories of a file, and its bad lines. Raises UsageError where it cannot be read."""
    lines = list(read_trajectories(file_bytes(path)))
    return [each for each in lines if isinstance(each, Trajectory)], [
        each for each in lines if isinstance(each, BadLine)
    ]


def json_file(path: Path) -> Any:
    """The JSON of a file. Raises UsageError."""
    try:
        return json_of(file_bytes(path))
    except ValueError as error:
        raise no_json(path, error) from None


def no_json(path: Path, error: ValueError) -> UsageError:
    """The error for a file that is no JSON."""
    return UsageError(getattr(error, "code", "not_json"), f"{path}: {error}", "give a JSON file")


def file_bytes(path: Path) -> bytes:
    """A file, or stdin for `-`. Raises UsageError."""
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


def read_status(path: Path, found: list[Trajectory], bad: list[BadLine]) -> int:
    """Tell bad lines; 2 where nothing could be read, 1 where not all."""
    for each in bad:
        click.echo(f"proctor: {path}: {each}", err=True)
    if not found:
        click.echo(f"proctor: {path}: no trajectory in it", err=True)
        return EXIT_USAGE
    return EXIT_FAILED if bad else EXIT_FINE
