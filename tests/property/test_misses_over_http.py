"""Over real sockets: what carries no meaning is answered, and every change that may carry some is refused."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict
from yarl import URL

from proctor.cassette import Cassette, save_cassette
from proctor.interaction import Interaction, Request, Response
from proctor.wire import MISS_HEADER
from tests.property.counts import examples
from tests.property.test_keys import REQUEST_CHANGES, changed, objects, post, shuffled
from tests.support import Project, Running, services, session

OF_EACH_BODY = 10


async def ask(run: Running, request: Request) -> tuple[int, str, bytes]:
    """Status, the miss header, body."""
    url = URL(run.url("desk", request.target), encoded=True)
    async with run.http.request(request.method, url, headers=CIMultiDict(request.headers), data=request.body) as answer:
        return answer.status, answer.headers.get(MISS_HEADER, ""), await answer.read()


def project_with(root: Path, recorded: Request) -> Project:
    """A project whose tape `t` answers one request with `recorded`."""
    project = Project(root)
    project.configure(services(desk="http://desk.test") + 'key_headers = ["X-Tenant"]\nreads = ["*"]\n')
    answer = Response(200, "OK", (("Content-Type", "text/plain"),), b"recorded")
    made = Interaction(0, recorded, answer, f"http://desk.test{recorded.target}", "read", "declared")
    save_cassette(project.layout.cassette("t"), Cassette("t", (made,), {"recorded_at": "2026-01-01T00:00:00Z"}))
    return project


async def every_change_misses(root: Path, body: Any, rng: random.Random) -> None:
    recorded = post(body)
    asked = [change(recorded) for change in REQUEST_CHANGES.values()]
    asked += [post(changed(body, rng)) for _ in range(OF_EACH_BODY)]
    async with session(project_with(root, recorded), "t", "replay") as run:
        for request in asked:
            status, code, answer = await ask(run, request)
            assert (status, code) == (422, "not_recorded"), request
            assert json.loads(answer)["proctor"]["diff"], request
        assert (await ask(run, recorded))[::2] == (200, b"recorded")
        summary = await run.close()
    assert sum(miss.count for miss in summary.misses) == len(asked)
    assert (summary.hits, summary.errors) == (1, ())


@given(body=objects, seed=st.integers(0, 2**32))
@examples(ci=8, soak=100, shrink=False)
def test_every_change_of_a_request_is_refused_with_422_and_told(body: Any, seed: int) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(every_change_misses(Path(folder), body, random.Random(seed)))


async def other_spellings_are_answered(root: Path, body: Any, rng: random.Random) -> None:
    recorded = post(body)
    async with session(project_with(root, recorded), "t", "replay") as run:
        for indent in (None, 2):
            headers = [*recorded.headers, ("User-Agent", "other"), ("X-Request-Id", str(rng.random()))]
            rng.shuffle(headers)
            data = json.dumps(shuffled(body, rng), indent=indent).encode()
            other = replace(recorded, headers=tuple(headers), target="/tools/x?a=1&a=0&b=2", body=data)
            assert (await ask(run, other))[::2] == (200, b"recorded")
        assert not (await run.close()).misses


@given(body=objects, seed=st.integers(0, 2**32))
@examples(ci=8, soak=100, shrink=False)
def test_another_spelling_of_a_request_is_answered(body: Any, seed: int) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(other_spellings_are_answered(Path(folder), body, random.Random(seed)))
