"""A client that parses what it got works on placeholders as it did on the real thing."""

from __future__ import annotations

import base64
import json
import uuid
from datetime import date
from typing import Any

import jwt
import pytest

from proctor.placeholders import FAR_EXPIRY
from tests.integration.proxy.oauth_server import USER, OAuthServer
from tests.property.planted import left_in
from tests.support import Project, Running, services, serving, session


async def post(run: Running, path: str, **asked: Any) -> dict[str, Any]:
    async with run.http.post(run.url("desk", path), **asked) as answer:
        body = await answer.read()
        assert answer.status == 200, body
        told: dict[str, Any] = json.loads(body)
        return told


async def agent(run: Running, client_id: str, client_secret: str) -> list[Any]:
    """Logs in, refreshes twice, and reads all that it is given; says what it made of it."""
    basic = base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()
    own = {"Authorization": f"Basic {basic}"}
    tokens = await post(run, "/token", headers=own, data={"grant_type": "client_credentials"})
    seen: list[Any] = []
    for _ in range(2):
        again = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        tokens = await post(run, "/token", headers=own, data=again)
        claims = jwt.decode(tokens["access_token"], options={"verify_signature": False, "verify_exp": False})
        seen += [claims["sub"], claims["scope"], jwt.get_unverified_header(tokens["access_token"])["alg"]]
        bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
        seen.append((await post(run, "/orders", headers=bearer, json={"id": 7}))["who"])
    keys = await post(run, "/keys", headers=bearer)
    seen += [uuid.UUID(keys["api_key"]).version, len(base64.b64decode(keys["encryption_key"], validate=True))]
    seen.append(date.fromisoformat(keys["valid"]).year)
    file = await post(run, "/file", headers=bearer)
    async with run.http.post(run.url("desk", file["url"]), headers=bearer) as answer:
        seen.append((answer.status, await answer.text()))
    return seen


async def recorded(project: Project, server: OAuthServer) -> list[object]:
    """Record the whole flow; gives what the agent read."""
    async with serving(server.handle) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            read = await agent(run, server.client_id, server.client_secret)
            assert (await run.close()).sealed
    return read


@pytest.mark.req(74)
async def test_an_oauth_flow_with_rotating_tokens_replays_with_another_client_secret(project: Project) -> None:
    server = OAuthServer()
    first = await recorded(project, server)
    assert first == [USER, "desk", "HS256", USER, USER, "desk", "HS256", USER, 4, 32, 2027, (200, "the report")]
    async with session(project, "t", "replay") as run:
        assert await agent(run, server.client_id, "another-Secret-0f-Today") == first
        summary = await run.close()
    assert (summary.misses, summary.errors, summary.repeated) == ((), (), 0)
    assert left_in(project, server.client_secret) == []
    assert left_in(project, server.signing_key) == []


async def test_a_replayed_jwt_never_expires(project: Project) -> None:
    await recorded(project, OAuthServer())
    tokens = json.loads(project.tape("t").interactions[0].response.body)
    claims = jwt.decode(tokens["access_token"], options={"verify_signature": False, "verify_exp": True})
    assert claims["exp"] == FAR_EXPIRY


async def test_each_rotated_token_is_a_secret_of_its_own(project: Project) -> None:
    server = OAuthServer()
    await recorded(project, server)
    minted = [each.response.body for each in project.tape("t").interactions if each.request.target == "/token"]
    refreshes = [json.loads(body)["refresh_token"] for body in minted]
    assert len(set(refreshes)) == 3
    async with session(project, "t", "replay") as run:
        basic = base64.b64encode(f"{server.client_id}:x-new-Secret-1".encode()).decode()
        wrong = {"grant_type": "refresh_token", "refresh_token": "an-0ther-refresh-token-that-nobody-minted"}
        async with run.http.post(
            run.url("desk", "/token"), headers={"Authorization": f"Basic {basic}"}, data=wrong
        ) as answer:
            assert answer.status == 422, "a token that the tape never handed out is nobody's"
            assert (await answer.json())["error"] == "identity_unknown"
        assert (await run.close()).misses
