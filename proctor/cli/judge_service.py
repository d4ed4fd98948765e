"""The service that a command sends its work to: one that runs somewhere, or one of its own while it lasts."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from proctor.cli.control_token import VARIABLE
from proctor.errors import UsageError
from proctor.judge.service.server import start_service
from proctor.judge.service.settings import Limits, Settings
from proctor.judge_client import JudgeClient
from proctor.paths import Layout

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


@asynccontextmanager
async def remote(url: str, token_file: Path | None) -> AsyncIterator[JudgeClient]:
    """A client of a service that runs. Raises UsageError where no token is told."""
    async with JudgeClient(_checked(url), service_token(token_file)) as client:
        yield client


@asynccontextmanager
async def own(
    layout: Layout, model: str, agent_vendor: str = "", taped: bytes | None = None
) -> AsyncIterator[JudgeClient]:
    """A client of a service on loopback that ends with the command. Raises UsageError where another works there.

    `taped` is the salt of the tape that has its calls: each question is asked then, in an order that repeats.
    """
    layout.ensure_state()
    limits = replace(Limits(), requests_a_second=1e6, waiting=10**9, batch_bytes=2**40)
    settings = Settings(layout.judge, (model,), agent_vendor, lasting=False, limits=limits, grace=0.0)
    if taped is not None:
        settings = replace(settings, runs_at_once=1)
    service = await start_service(settings, salt=taped, reuse=taped is None)
    try:
        async with JudgeClient(service.url, service.token) as client:
            yield client
    finally:
        await service.close()


def service_token(token_file: Path | None) -> str:
    """The token of a service that runs. Raises UsageError where nothing tells it."""
    token = token_file.read_text(encoding="utf-8").strip() if token_file else os.environ.get(VARIABLE, "")
    if not token:
        told = "nothing tells the service's token"
        raise UsageError("token_missing", told, f"set {VARIABLE}, or give --token-file")
    return token


def _checked(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise UsageError("bad_service", f'--service: "{url}" is no address', "for example http://127.0.0.1:8080")
    return url
