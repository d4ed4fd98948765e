"""The trace on disk: every line once, a full disk kept as failed, and an end that can be asked for twice."""

from __future__ import annotations

import os
import resource
import stat
from pathlib import Path

import pytest
from aiohttp import web

from proctor.errors import PlatformError
from proctor.proxy.tracing import TraceWriter
from tests.support import Project, services, serving, session


async def test_every_line_is_in_the_file_in_order_once_it_is_closed(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "s" / "trace.jsonl")
    lines = [b"%d\n" % number for number in range(1000)]
    for line in lines:
        writer.write(line)
    writer.close()
    assert writer.path.read_bytes() == b"".join(lines)
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o600
    assert writer.failed is None


async def test_what_waits_is_written_by_a_flush(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "trace.jsonl")
    writer.write(b"1\n")
    writer.flush()
    assert writer.path.read_bytes() == b"1\n"
    writer.flush()
    writer.close()
    assert writer.path.read_bytes() == b"1\n"


async def test_a_full_disk_is_kept_as_failed_and_raises_nothing(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "trace.jsonl")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        writer.write(b"123\n")
        writer.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    writer.write(b"more\n")
    writer.close()
    assert writer.failed is not None
    assert writer.failed.code == "platform_error"
    assert writer.path.read_bytes() == b"1"


async def test_closing_twice_never_closes_the_file_of_another(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "trace.jsonl")
    writer.close()
    other = os.open(tmp_path / "other", os.O_WRONLY | os.O_CREAT)  # takes the number that has become free
    try:
        writer.close()
        assert os.write(other, b"mine") == 4
    finally:
        try:
            os.close(other)
        except OSError:
            pytest.fail("the second close closed a file that is not the trace's")


async def answer(request: web.Request) -> web.StreamResponse:
    return web.Response(text="x")


async def test_a_summary_that_cannot_be_written_is_told_as_proctors_own_failure(project: Project) -> None:
    async with serving(answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            await run.http.get(run.url("desk", "/"))
            await run.close()
    async with session(project, "t", "replay") as run:
        await run.http.get(run.url("desk", "/"))
        (project.layout.sessions / run.info.session / "summary.json").mkdir()
        with pytest.raises(PlatformError) as caught:
            await run.close()
    assert "summary.json" in caught.value.message
