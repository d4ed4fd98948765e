"""What large recordings took goes back to the system: a standing proxy does not stay as large as its largest hour."""

from __future__ import annotations

import asyncio
import platform

import pytest
from aiohttp import ClientSession, web

from proctor.client import ControlClient
from proctor.wire import SessionSpec
from tests.integration.serve.support import TOKEN, memory, serve
from tests.support import Project, services, serving

LARGE = 2 * 2**20
AT_ONCE = 3
KEPT = 32 * 1024
"""KiB that may stay: caches and what is loaded when first used, not a body's worth for each thread."""


async def answer(request: web.Request) -> web.StreamResponse:
    """A body of so many zeros as the path says."""
    return web.Response(body=bytes(int(request.path.strip("/"))))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries keep memory in their own way")
async def test_a_proxy_is_as_small_after_large_recordings_as_before(project: Project) -> None:
    async with serving(answer) as url, ClientSession() as http:
        project.configure(services(desk=url))
        async with serve(project) as on, ControlClient(on.ready["control"], TOKEN) as control:

            async def recorded(tape: str, size: int) -> None:
                info = await control.open(SessionSpec(cassette=tape, modes={"desk": "record"}))
                async with http.get(f"{info.url}/desk/{size}") as got:
                    assert len(await got.read()) == size
                assert (await control.close(info.session, 0)).sealed

            await recorded("small", 10)
            before = memory(on.process.pid, "VmRSS")
            await asyncio.gather(*(recorded(f"large{number}", LARGE) for number in range(AT_ONCE)))
            grown = memory(on.process.pid, "VmRSS") - before
    assert grown < KEPT
