"""Recording and replaying an npm program as its users do: by the real command, against servers that then stop."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from examples.order_desk import server, stand_in_model
from tests.clients import npm_files
from tests.clients.npm_programs import Program
from tests.integration.order_desk.support import serving
from tests.support import Finished, Project

TAPE = "t"
CLOSED = "http://127.0.0.1:9"
"""Nothing listens there."""
KEY = "sk-npm-clients-4711-of-a-team-0815"
CONFIG = """
[services.orders]
url = "env:DESK"
env = ["ORDERS_URL"]
tools = "POST /tools/{tool}"
reads = ["query_*", "calc_*"]
writes = ["get_token", "create_refund"]
"""
SERVICES = {
    "llm": '[services.llm]\npreset = "openai"\nurl = "env:MODEL"\n',
    "files": '[services.files]\nurl = "env:FILES"\nenv = ["FILES_URL"]\nwrites = ["POST /*", "DELETE /*"]\n',
}


def configure(project: Project, program: Program) -> None:
    """A `proctor.toml` with the services of this program."""
    project.configure((CONFIG if program.service == "llm" else "") + SERVICES[program.service])


@asynccontextmanager
async def upstreams(
    folder: Path, model: web.Application | None = None, files: web.Application | None = None
) -> AsyncIterator[dict[str, str]]:
    """The order desk, fresh, the model and the files while they run; gives the variables of their addresses."""
    async with (
        serving(server.create_app(folder / "desk.db")) as desk,
        serving(model or stand_in_model.create_app()) as llm,
        serving(files or npm_files.create_app()) as store,
    ):
        yield {"DESK": desk, "MODEL": f"{llm}/v1", "FILES": store}


def cut(app: web.Application, pieces: int = 2) -> web.Application:
    """The same servers, but a streamed answer breaks off after so many pieces."""

    async def shorten(request: web.Request, response: web.StreamResponse) -> None:
        write, left = response.write, iter(range(pieces))

        async def until_cut(data: bytes | bytearray | memoryview) -> None:
            if next(left, None) is not None:
                await write(data)
            elif request.transport is not None:
                request.transport.abort()

        response.write = until_cut  # type: ignore[method-assign]

    app.on_response_prepare.append(shorten)
    return app


async def record(project: Project, env: Mapping[str, str], *command: str) -> Finished:
    """`proctor record`; the summary is the last line of stdout."""
    told = ("record", "--cassette", TAPE, "--json", "--", *command)
    return await project.proctor(*told, env={"OPENAI_API_KEY": KEY, **env})


async def replay(project: Project, *command: str, **env: str) -> Finished:
    """`proctor replay` without a key and with no address of a service."""
    told = ("replay", "--cassette", TAPE, "--json", "--", *command)
    return await project.proctor(*told, env={"OPENAI_API_KEY": "", **env})


def printed(finished: Finished) -> list[str]:
    """What the program printed itself."""
    return finished.stdout.splitlines()[:-1]


def caught(finished: Finished) -> dict[str, Any]:
    """The error that its user caught, of a program that was run by caught.mjs."""
    told: dict[str, Any] = json.loads(printed(finished)[-1])
    return told
