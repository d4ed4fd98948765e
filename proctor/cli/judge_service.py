"""The service that a command sends its work to: one that runs somewhere, or one of its own while it lasts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from proctor.cli.service_options import service_options, service_token, service_url
from proctor.judge.service.server import Service, start_service
from proctor.judge.service.settings import Limits, Settings
from proctor.judge_client import JudgeClient
from proctor.paths import Layout

__all__ = ["own", "own_service", "remote", "service_options", "service_token"]


@asynccontextmanager
async def remote(url: str, token_file: Path | None) -> AsyncIterator[JudgeClient]:
    """A client of a service that runs. Raises UsageError where no token is told."""
    async with JudgeClient(service_url(url), service_token(token_file)) as client:
        yield client


@asynccontextmanager
async def own(
    layout: Layout, model: str, agent_vendor: str = "", taped: bytes | None = None
) -> AsyncIterator[JudgeClient]:
    """A client of a service on loopback that ends with the command. Raises UsageError where another works there.

    `taped` is the salt of the tape that has its calls: each question is asked then, in an order that repeats.
    """
    async with (
        own_service(layout, (model,), agent_vendor, taped) as service,
        JudgeClient(service.url, service.token) as client,
    ):
        yield client


@asynccontextmanager
async def own_service(
    layout: Layout, models: tuple[str, ...] = (), agent_vendor: str = "", taped: bytes | None = None
) -> AsyncIterator[Service]:
    """That service itself; without models it judges nothing, and what it has can be read and labelled."""
    layout.ensure_state()
    limits = replace(Limits(), requests_a_second=1e6, waiting=10**9, batch_bytes=2**40, batch_lines=2**40)
    settings = Settings(layout.judge, models, agent_vendor, lasting=False, limits=limits, grace=0.0)
    if taped is not None:
        settings = replace(settings, runs_at_once=1)
    service = await start_service(settings, salt=taped, reuse=taped is None)
    try:
        yield service
    finally:
        await service.close()
