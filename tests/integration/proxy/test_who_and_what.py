"""Requests that differ only in who asks, or in a header that chooses the operation, never answer for each other."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

import pytest
from aiohttp import web

from proctor.wire import MISS_HEADER
from tests.support import Project, Running, services, serving, session

ALICE = {"Authorization": "Bearer alice-secret-token"}
BOB = {"Authorization": "Bearer bob-secret-token-2"}


NAMES = {ALICE["Authorization"]: "alice", BOB["Authorization"]: "bob"}


async def echo(request: web.Request) -> web.StreamResponse:
    """Says who asked for what."""
    who = NAMES.get(request.headers.get("Authorization", ""), "nobody")
    return web.json_response({"who": who, "op": request.headers.get("X-Amz-Target", "")})


async def ask(run: Running, headers: dict[str, str]) -> tuple[int, dict[str, str]]:
    async with run.http.post(run.url("desk", "/"), data=b"{}", headers=headers) as answer:
        return answer.status, await answer.json()


async def record(project: Project, asked: Sequence[dict[str, str]], extra: str = "") -> None:
    async with serving(echo) as url:
        project.configure(services(desk=url) + extra)
        async with session(project, "t") as run:
            for headers in asked:
                await ask(run, headers)
            assert (await run.close()).sealed


@pytest.mark.parametrize("recorded", [(0, 1), (1, 0)])
@pytest.mark.parametrize("replayed", [(0, 1), (1, 0)])
async def test_requests_that_differ_only_in_their_target_header_get_their_own_answers(
    project: Project, recorded: tuple[int, int], replayed: tuple[int, int]
) -> None:
    operations = [{"X-Amz-Target": "Db_2012.GetItem"}, {"X-Amz-Target": "Db_2012.PutItem"}]
    await record(project, [operations[index] for index in recorded])
    async with session(project, "t", "replay") as run:
        for index in replayed:
            status, body = await ask(run, operations[index])
            assert (status, body["op"]) == (200, operations[index]["X-Amz-Target"])
        assert (await ask(run, {"X-Amz-Target": "Db_2012.DeleteItem"}))[0] == 422
    assert {interaction.tool for interaction in project.tape("t").interactions} == {"GetItem", "PutItem"}


@pytest.mark.parametrize("recorded", [(ALICE, BOB), (BOB, ALICE)])
@pytest.mark.parametrize("replayed", [(0, 1), (1, 0)])
async def test_two_credentials_on_one_path_never_answer_for_each_other(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    recorded: tuple[dict[str, str], dict[str, str]],
    replayed: tuple[int, int],
) -> None:
    monkeypatch.setenv("ALICE", "alice-secret-token")
    monkeypatch.setenv("BOB", "bob-secret-token-2")
    await record(project, recorded, 'identities = { alice = "env:ALICE", bob = "env:BOB" }\n')
    monkeypatch.setenv("ALICE", "another-token-of-alice")
    monkeypatch.setenv("BOB", "another-token-of-bobs")
    people = [("alice", "another-token-of-alice"), ("bob", "another-token-of-bobs")]
    async with session(project, "t", "replay") as run:
        for index in replayed:
            name, token = people[index]
            assert (await ask(run, {"Authorization": f"Bearer {token}"}))[1]["who"] == name
            placeholder = run.info.identities["desk"][name]
            assert (await ask(run, {"X-Api-Key": placeholder}))[1]["who"] == name
        summary = await run.close()
    assert not summary.misses


async def test_where_nothing_says_whose_a_credential_is_it_is_a_miss_that_says_so(project: Project) -> None:
    await record(project, [ALICE, BOB])
    async with session(project, "t", "replay") as run:
        status, body = await ask(run, ALICE)
        assert status == 422
        summary = await run.close()
    assert body["error"] == "identity_unknown"
    assert "2 identities" in summary.misses[0].message
    assert "identities = {" in summary.misses[0].message
    assert "alice-secret-token" not in json.dumps(body) + summary.model_dump_json()


async def test_another_live_key_stands_for_the_only_recorded_one_once_a_session(project: Project) -> None:
    await record(project, [ALICE])
    async with session(project, "t", "replay") as run:
        assert (await ask(run, {"Authorization": "Bearer key-of-today"}))[1]["who"] == "alice"
        assert (await ask(run, {"Authorization": "Bearer key-of-today"}))[0] == 200
        assert (await ask(run, {"Authorization": "Bearer a-second-key"}))[0] == 422
        assert "the first stands for it" in (await run.close()).misses[0].message


async def test_a_credential_and_none_are_two_askers(project: Project) -> None:
    await record(project, [{}])
    async with session(project, "t", "replay") as run:
        assert (await ask(run, {}))[1]["who"] == "nobody"
        assert (await ask(run, ALICE))[0] == 422
    await record(project, [ALICE])
    async with session(project, "t", "replay") as run:
        assert (await ask(run, {}))[0] == 422
        assert "recorded without one" not in (await run.close()).misses[0].message


async def test_two_cookies_are_two_askers(project: Project) -> None:
    await record(project, [{"Cookie": "sid=first-session"}, {"Cookie": "sid=other-session"}])
    headers = [dict(i.request.headers) for i in project.tape("t").interactions]
    assert [each["Cookie"] for each in headers] == ["sid=proctor-redacted-0001", "sid=proctor-redacted-0002"]
    async with session(project, "t", "replay") as run:
        assert (await ask(run, {"Cookie": "sid=proctor-redacted-0002"}))[0] == 200
        assert (await ask(run, {"Cookie": "sid=somebody-else"}))[0] == 422


async def test_every_part_of_a_changed_request_misses_over_http_and_names_what_differs(project: Project) -> None:
    await record(project, [{"X-Amz-Target": "A.Get"}])
    changes = {
        "path": ("POST", "/other", {"X-Amz-Target": "A.Get"}, b"{}"),
        "query q": ("POST", "/?q=1", {"X-Amz-Target": "A.Get"}, b"{}"),
        "method": ("PUT", "/", {"X-Amz-Target": "A.Get"}, b"{}"),
        "header x-amz-target": ("POST", "/", {"X-Amz-Target": "A.Put"}, b"{}"),
        "body /a": ("POST", "/", {"X-Amz-Target": "A.Get"}, b'{"a": 1}'),
    }
    async with session(project, "t", "replay") as run:
        for where, (method, target, headers, data) in changes.items():
            async with run.http.request(method, run.url("desk", target), headers=headers, data=data) as answer:
                told = await answer.json()
                assert (answer.status, answer.headers[MISS_HEADER]) == (422, "not_recorded")
                assert answer.headers["x-should-retry"] == "false"
                assert told["proctor"]["diff"][0].startswith(where)
                assert "proctor record --cassette t" in told["proctor"]["fix"]
        summary = await run.close()
    assert len(summary.misses) == len(changes)
    assert summary.hits == 0


async def send(run: Running, key: str, token: str) -> int:
    async with run.http.post(run.url("desk", f"/x?key={key}"), json={"token": token, "n": 1}) as answer:
        return answer.status


async def record_one(project: Project, key: str, token: str) -> None:
    async with serving(echo) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            assert await send(run, key, token) == 200
            assert (await run.close()).sealed


async def test_a_dummy_stands_for_a_recorded_secret_though_nothing_but_its_name_says_that_it_is_one(
    project: Project,
) -> None:
    await record_one(project, "abcd1234efgh", "tok-9988776655")
    async with session(project, "t", "replay") as run:
        assert await send(run, "dummy", "test") == 200
        assert await send(run, "dummy", "test") == 200
        assert await send(run, "dummy", "other") == 422
        assert await send(run, "test", "dummy") == 422
        assert [miss.code for miss in (await run.close()).misses] == ["identity_unknown"] * 2


async def test_two_words_under_a_secret_name_never_answer_for_each_other(project: Project) -> None:
    await record_one(project, "price", "USDC")
    async with session(project, "t", "replay") as run:
        assert await send(run, "price", "WETH") == 422
        assert await send(run, "title", "USDC") == 422
        assert await send(run, "price", "USDC") == 200


@pytest.mark.parametrize("recorded", ["Zx9-kQ2vB7", "Zx9-kQ2vB7m", "Zx9-kQ2vB7mN"])
async def test_how_base64_is_padded_does_not_hide_whose_a_secret_is(project: Project, recorded: str) -> None:
    async def open_with(run: Running, password: str) -> int:
        word = base64.urlsafe_b64encode(json.dumps({"password": password}).encode()).decode().rstrip("=")
        async with run.http.get(run.url("desk", f"/open/{word}")) as answer:
            return answer.status

    async with serving(echo) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            assert await open_with(run, recorded) == 200
            assert (await run.close()).sealed
    for live in ("another-one-1", "another-one-12", "another-one-123"):
        async with session(project, "t", "replay") as run:
            assert await open_with(run, live) == 200
