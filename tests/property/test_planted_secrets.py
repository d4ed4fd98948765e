"""Wherever a secret is planted, it is in no file afterwards, and the conversation replays with another one."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict
from yarl import URL

from tests.property import planted
from tests.property.counts import count, examples
from tests.property.planted import CARRIERS, CODINGS, ECHOES, HEADER_CARRIERS, IN_HEADERS, KINDS, Plan, left_in
from tests.support import Project, Running, services, serving, session


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any secret in any place that can carry it."""
    carrier = draw(st.sampled_from(sorted(CARRIERS)))
    kind = draw(st.sampled_from(sorted(IN_HEADERS if carrier in HEADER_CARRIERS else KINDS)))
    return Plan(
        kind,
        carrier,
        draw(st.sampled_from(sorted(CODINGS))),
        draw(st.sampled_from(sorted(ECHOES))),
        draw(st.integers(0, 2**32)),
    )


async def call(run: Running, sent: planted.Sent, coding: str) -> tuple[int, bytes]:
    """Send a request; status and body of the answer, decoded."""
    headers = [*sent.headers, ("Content-Type", sent.media)]
    if coding:
        headers.append(("Content-Encoding", coding))
    url = URL(run.url("desk", sent.target), encoded=True)
    body = CODINGS[coding](sent.body)
    async with run.http.post(url, headers=CIMultiDict(headers), data=body) as answer:
        return answer.status, await answer.read()


async def converse(run: Running, plan: Plan, secret: str) -> list[bytes]:
    """Log in with a secret, get a token, use both: in a header, a path, and a sentence."""
    status, body = await call(run, CARRIERS[plan.carrier](secret), plan.coding)
    assert status == 200, body
    minted = await call(run, planted.Sent(target="/tools/mint"), "")
    assert minted[0] == 200, minted[1]
    token = json.loads(minted[1])["access_token"]
    said = json.dumps({"note": f"my token is {token}"}).encode()
    used = await call(run, planted.Sent(f"/tools/use/{token}", (("Authorization", f"Bearer {token}"),), said), "")
    assert used[0] == 200, used[1]
    return [body, minted[1], used[1]]


async def nothing_is_left(root: Path, plan: Plan) -> None:
    project = Project(root)
    secrets = plan.secrets()
    recorded, live = next(secrets), next(secrets)
    minted = planted.KINDS["urlsafe"](random.Random(plan.seed + 1))

    async def handler(request: web.Request) -> web.StreamResponse:
        await request.read()
        if request.path == "/tools/mint":
            return web.json_response({"access_token": minted, "expires_in": 3600})
        if request.path.startswith("/tools/use/"):
            return web.json_response({"yours": request.headers["Authorization"]})
        coding = plan.coding
        headers = {"Content-Encoding": coding} if coding else {}
        return web.Response(body=CODINGS[coding](ECHOES[plan.echo](recorded)), headers=headers)

    async with serving(handler) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            await converse(run, plan, recorded)
            summary = await run.close()
    assert summary.sealed, summary
    told = summary.model_dump_json().encode()
    for secret in (recorded, minted):
        assert left_in(project, secret, told) == [], (plan, secret)
    async with session(project, "t", "replay") as run:
        answers = await converse(run, plan, live)
        summary = await run.close()
    assert (summary.hits, summary.misses, summary.errors) == (3, (), ()), summary
    assert left_in(project, live, *answers, summary.model_dump_json().encode()) == [], (plan, live)


@pytest.mark.req(74)
@given(plan=plans())
@examples(ci=100, soak=1000, shrink=False)
def test_no_planted_secret_is_left_anywhere_and_each_conversation_replays_with_another(plan: Plan) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(nothing_is_left(Path(folder), plan))


@pytest.mark.parametrize("carrier", sorted(CARRIERS))
def test_every_place_is_tried_at_least_once(carrier: str) -> None:
    kinds = sorted(IN_HEADERS if carrier in HEADER_CARRIERS else KINDS)
    for number, kind in enumerate(kinds[: count(ci=2, soak=len(kinds))]):
        plan = Plan(kind, carrier, sorted(CODINGS)[number % len(CODINGS)], sorted(ECHOES)[number % len(ECHOES)], number)
        with TemporaryDirectory() as folder:
            asyncio.run(nothing_is_left(Path(folder), plan))
