"""Any exchange that aiohttp can carry survives record, seal, load and replay, over real sockets."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict
from yarl import URL

from proctor.interaction import Headers, Interaction
from tests.property.counts import examples
from tests.property.exchanges import carried_headers, interactions
from tests.support import Project, Running, services, serving, session

BODILESS = frozenset({204, 304})
SOME = st.lists(interactions(carried_headers), min_size=1, max_size=6)


@dataclass
class Scripted:
    """An upstream that gives the n-th answer to the request that says it is the n-th."""

    made: list[Interaction]
    seen: dict[int, tuple[str, str, Headers, bytes]] = field(default_factory=dict)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        number = int(request.headers["X-Number"])
        self.seen[number] = (request.method, request.raw_path, mine(request.headers.items()), await request.read())
        planned = self.made[number].response
        body = b"" if planned.status in BODILESS else planned.body
        response = web.Response(
            status=planned.status, reason=planned.reason, headers=CIMultiDict(planned.headers), body=body
        )
        if number % 2 and body:
            response.enable_chunked_encoding()
        return response


def mine(headers: object) -> Headers:
    """The headers that the test made, in order, with their case."""
    return tuple((str(name), value) for name, value in headers if str(name).startswith("X-T-"))  # type: ignore[attr-defined]


def unified(headers: Headers) -> Headers:
    """As aiohttp sends a request's: one spelling a name."""
    spelled: dict[str, str] = {}
    return tuple((spelled.setdefault(name.lower(), name), value) for name, value in headers)


async def ask(run: Running, number: int, interaction: Interaction) -> tuple[int, str | None, Headers, bytes]:
    request = interaction.request
    headers = CIMultiDict([("X-Number", str(number)), *unified(request.headers)])
    url = URL(run.url("desk", request.target), encoded=True)
    async with run.http.request(
        request.method, url, headers=headers, data=request.body or None, allow_redirects=False
    ) as answer:
        raw = tuple((n.decode(), v.decode("utf-8", "surrogateescape")) for n, v in answer.raw_headers)
        return answer.status, answer.reason, mine(raw), await answer.read()


async def record_and_replay(root: Path, made: list[Interaction]) -> None:
    project, upstream = Project(root), Scripted(made)
    async with serving(upstream.answer) as url:
        expected = sorted({401, 403, 429, *(each.response.status for each in made if each.response.status >= 500)})
        project.configure(services(desk=url) + f'key_headers = ["X-Number"]\nexpected_status = {expected}\n')
        async with session(project, "all") as run:
            first = [await ask(run, number, interaction) for number, interaction in enumerate(made)]
            summary = await run.close()
    assert summary.sealed, summary
    for number, interaction in enumerate(made):
        asked, planned = interaction.request, interaction.response
        assert upstream.seen[number] == (asked.method, asked.target, unified(asked.headers), asked.body)
        body = b"" if planned.status in BODILESS else planned.body
        assert (first[number][0], *first[number][2:]) == (planned.status, planned.headers, body)
    async with session(project, "all", "replay") as run:
        again = [await ask(run, number, interaction) for number, interaction in enumerate(made)]
        summary = await run.close()
    assert again == first
    assert (summary.hits, summary.misses, summary.unused) == (len(made), (), ())


@given(made=SOME)
@examples(ci=30, soak=600, shrink=False)
def test_any_exchange_is_relayed_and_replayed_as_it_was(made: list[Interaction]) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(record_and_replay(Path(folder), made))
