"""An answer that is too large to be kept passes in pieces: the proxy's memory stays flat, and a recording says no."""

from __future__ import annotations

import sys

import pytest
from aiohttp import ClientSession, web

from proctor.client import ControlClient
from proctor.wire import Mode, SessionSpec
from tests.integration.serve.support import TOKEN, memory, serve
from tests.property.counts import count
from tests.support import Project, services, serving

BLOCK = bytes(2**20)
BLOCKS = count(256, 1024)
FLAT = 180 * 1024
"""KiB that the proxy may grow by: 64 MiB are kept until the body proves too large. More of it must not matter."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


async def large(request: web.Request) -> web.StreamResponse:
    """A service that sends so many blocks."""
    response = web.StreamResponse(headers={"Content-Length": str(BLOCKS * len(BLOCK))})
    await response.prepare(request)
    for _ in range(BLOCKS):
        await response.write(BLOCK)
    return response


@pytest.mark.parametrize("mode", ["live", "record"])
@pytest.mark.timeout(600)
async def test_it_passes_whole_in_flat_memory(project: Project, mode: Mode) -> None:
    async with serving(large) as url:
        project.configure(services(desk=url))
        async with serve(project) as on, ControlClient(on.ready["control"], TOKEN) as control, ClientSession() as http:
            before = memory(on.process.pid, "VmHWM")
            info = await control.open(SessionSpec(cassette="t", modes={"desk": mode}))
            received = 0
            async with http.get(f"{info.url}/desk/large") as got:
                while part := await got.content.readany():
                    received += len(part)
            summary = await control.close(info.session, 0)
            grown = memory(on.process.pid, "VmHWM") - before
    assert received == BLOCKS * len(BLOCK)
    assert grown < FLAT
    codes = [error.code for error in summary.errors]
    assert codes == (["body_too_large"] if mode == "record" else [])
    assert not summary.sealed
    (row,) = project.trace(info.session)
    assert row.unkept == received
