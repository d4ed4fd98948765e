"""How a command is told which judge service it talks to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from proctor.cli.control_token import VARIABLE
from proctor.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--service", metavar="URL", help="A running judge service; else one of the command's own is used."),
    click.option(
        "--token-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help=f"Holds the service's token; by default {VARIABLE} does.",
    ),
)


def service_options(command: Command) -> Command:
    """`--service` and `--token-file`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def service_token(token_file: Path | None) -> str:
    """The token of a service that runs. Raises UsageError where nothing tells it."""
    token = token_file.read_text(encoding="utf-8").strip() if token_file else os.environ.get(VARIABLE, "")
    if not token:
        told = "nothing tells the service's token"
        raise UsageError("token_missing", told, f"set {VARIABLE}, or give --token-file")
    return token


def service_url(url: str) -> str:
    """The address given. Raises UsageError for what is none."""
    if not url.startswith(("http://", "https://")):
        raise UsageError("bad_service", f'--service: "{url}" is no address', "for example http://127.0.0.1:8080")
    return url
