"""Where a command's proxy listens: the options for it, the same for each command that starts one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from proctor.errors import UsageError
from proctor.service_config import checked_url

LOOPBACK = "127.0.0.1"

_Command = Callable[..., Any]


@dataclass(frozen=True)
class Listening:
    """Port 0 lets the system choose. `advertised` begins agents' addresses, where it is not empty."""

    port: int = 0
    host: str = LOOPBACK
    advertised: str = ""


def listening_options(command: _Command) -> _Command:
    """`--port`, `--host` and `--advertise`; see `listening`."""
    options = (
        click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the proxy; by default any."),
        click.option("--host", default=LOOPBACK, show_default=True, help="Another one opens the proxy to machines."),
        click.option(
            "--advertise", metavar="URL", default="", help="What agents' addresses begin with: in containers."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def listening(port: int, host: str, advertise: str) -> Listening:
    """What the options say. Raises UsageError for an address that cannot be advertised."""
    return Listening(port, host, _checked_advertise(advertise))


def _checked_advertise(url: str) -> str:
    if not url:
        return ""
    try:
        plain = checked_url(url)
    except ValueError as error:
        raise UsageError(
            "bad_advertise", f"--advertise: {error}", "for example http://host.docker.internal:4711"
        ) from None
    if plain.count("/") > 2:
        raise UsageError("bad_advertise", f'--advertise: "{url}" must end with host and port: no path')
    return plain
