"""The control API refuses what is wrong by a stable code, and leaves nothing half-open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import pytest
from aiohttp import web

from proctor.cassette import load_cassette
from proctor.client import ControlClient
from proctor.errors import PlatformError, UsageError
from proctor.wire import (
    CloseAnswer,
    Current,
    ErrorAnswer,
    HealthAnswer,
    SessionInfo,
    SessionsAnswer,
    SessionSpec,
    TraceAnswer,
)
from tests.integration.cli.support import Desk, kept
from tests.integration.proxy.raw import canned, raw_service, send
from tests.support import Project, Running, services, serving, session

SPEC = {"cassette": "t", "modes": {"desk": "record"}}
LIMIT = 2**20


async def ask(
    run: Running, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
) -> tuple[int, Any, Mapping[str, str]]:
    """Status, JSON and headers of one control answer."""
    told = {"x-proctor-token": run.proxy.token} if headers is None else headers
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    async with run.http.request(method, f"{run.proxy.url}/_proctor{path}", data=data, headers=told) as answer:
        content = await answer.read()
        return answer.status, json.loads(content) if content else None, answer.headers


async def closing_has_begun(run: Running) -> bool:
    """Whether the session is told as open no more."""
    return run.info.session not in {info.session for info in await run.control.sessions()}


def refused(answer: tuple[int, Any, Mapping[str, str]]) -> tuple[int, str]:
    """Status and code of a refusal, which must be a whole ErrorAnswer."""
    status, told, _ = answer
    return status, ErrorAnswer.model_validate(told).code


@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        (b"{", "bad_json", "no JSON"),
        (b"", "bad_json", "no JSON"),
        (b"\xff\xfe", "bad_json", "no JSON"),
        (b"[]", "bad_request", "the body"),
        ({**SPEC, "casette": "t"}, "unknown_field", 'did you mean "cassette"?'),
        ({"cassette": "t"}, "bad_request", "modes"),
        ({**SPEC, "modes": {}}, "bad_request", "modes"),
        ({**SPEC, "modes": {"desk": "rec"}}, "bad_request", "modes.desk"),
        ({**SPEC, "modes": {"desc": "record"}}, "unknown_service", 'did you mean "desk"?'),
        ({**SPEC, "cassette": "../t"}, "cassette_name", "../t"),
        ({**SPEC, "session": "a/b"}, "session_id", "a/b"),
        ({**SPEC, "session": "_current"}, "session_id", "_current"),
        ({**SPEC, "modes": {"desk": "replay"}}, "cassette_missing", "proctor record --cassette t"),
    ],
)
async def test_a_session_that_cannot_be_opened_is_refused_by_name(
    project: Project, body: object, code: str, told: str
) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with session(project, "open") as run:
        before = kept(project)
        answer = await ask(run, "POST", "/sessions", body)
        assert refused(answer) == (400, code)
        assert told in answer[1]["message"] + answer[1]["fix"]
        assert answer[1]["exit_code"] == 2
        assert [info.session for info in await run.control.sessions()] == [run.info.session]
        assert kept(project) == before


async def test_every_answer_is_of_its_model(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with session(project, "t") as run:
        path = f"/sessions/{run.info.session}"
        for method, at, model in (
            ("GET", "/health", HealthAnswer),
            ("GET", "/sessions", SessionsAnswer),
            ("GET", path, SessionInfo),
            ("GET", "/current", Current),
            ("GET", f"{path}/trace", TraceAnswer),
            ("POST", f"{path}/close", CloseAnswer),
        ):
            status, told, _ = await ask(run, method, at)
            assert (status, bool(model.model_validate(told))) == (200, True), at


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/sessions", "GET, HEAD, POST"),
        ("POST", "/health", "GET, HEAD"),
        ("PUT", "/metrics", "GET, HEAD"),
        ("POST", "/sessions/x", "GET, HEAD"),
        ("DELETE", "/current", "GET, HEAD, PUT"),
        ("POST", "/sessions/x/trace", "GET, HEAD"),
        ("GET", "/sessions/x/close", "POST"),
    ],
)
async def test_a_wrong_method_is_told_the_right_ones(project: Project, method: str, path: str, allowed: str) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with session(project, "t") as run:
        answer = await ask(run, method, path)
        assert refused(answer) == (405, "method_not_allowed")
        assert answer[2]["Allow"] == allowed


@pytest.mark.parametrize("path", ["/", "/session", "/sessions/", "/sessions/x/y", "/health/x", "/sessions/x/close/y"])
async def test_an_unknown_route_is_named(project: Project, path: str) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with session(project, "t") as run:
        expected = (404, "unknown_session" if path == "/sessions/" else "unknown_route")
        assert refused(await ask(run, "GET", path)) == expected


async def test_a_session_that_is_not_there_is_404_on_every_route(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with session(project, "t") as run:
        for method, path in (("GET", ""), ("GET", "/trace"), ("POST", "/close")):
            answer = await ask(run, method, f"/sessions/nobody{path}")
            assert refused(answer) == (404, "unknown_session")
            assert run.info.session not in str(answer[1]), "the ids of others are told to nobody"
        async with run.http.head(f"{run.proxy.url}/_proctor/health") as probed:
            assert probed.status == 200


async def test_only_health_answers_without_the_token(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with session(project, "t") as run:
        wrong: tuple[Mapping[str, str], ...] = (
            {},
            {"x-proctor-token": run.proxy.token[:-1]},
            {"x-proctor-token": "tökén"},
            {"Authorization": f"Basic {run.proxy.token}"},
            {"Authorization": run.proxy.token},
            {"x-proctor-token": "", "Authorization": "Bearer "},
        )
        for headers in wrong:
            for method, path in (("GET", "/sessions"), ("GET", "/metrics"), ("POST", "/sessions"), ("GET", "/x")):
                answer = await ask(run, method, path, headers=headers)
                assert refused(answer) == (401, "token_wrong"), headers
                assert answer[2]["WWW-Authenticate"] == "Bearer"
            assert (await ask(run, "GET", "/health", headers=headers))[0] == 200
        bytes_in_token = (
            b"GET /_proctor/sessions HTTP/1.1\r\nHost: x\r\nx-proctor-token: \xff\r\nConnection: close\r\n\r\n"
        )
        assert (await send(run, bytes_in_token)).status == 401
        summary = await run.close()
    assert (summary.errors, summary.misses) == ((), ()), "no session has to do with it"


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_over_the_limit_is_refused_and_one_at_it_is_read(project: Project, announced: bool) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))

    async def pieces(size: int) -> Any:
        for _ in range(size // 2**16):
            yield b" " * 2**16
        yield b" " * (size % 2**16)

    async with session(project, "t") as run:
        for size, expected in ((LIMIT + 1, (413, "body_too_large")), (LIMIT, (400, "bad_json"))):
            data = BytesIO(b" " * size) if announced else pieces(size)
            url, headers = f"{run.proxy.url}/_proctor/sessions", {"x-proctor-token": run.proxy.token}
            async with run.http.post(url, data=data, headers=headers) as answer:
                told = ErrorAnswer.model_validate_json(await answer.read())
                assert (answer.status, told.code) == expected


async def test_of_two_closings_at_once_one_wins_and_any_later_one_is_told(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            async with run.http.get(run.url("desk", "/a")) as answer:
                assert answer.status == 200
            path = f"/sessions/{run.info.session}/close"
            ended = await asyncio.gather(*(ask(run, "POST", path, {"command_status": 0}) for _ in range(5)))
            assert sorted(status for status, _, _ in ended) == [200, 410, 410, 410, 410]
            assert {told["code"] for status, told, _ in ended if status == 410} == {"session_closed"}
            (won,) = [told for status, told, _ in ended if status == 200]
            assert (won["status"], won["summary"]["recorded"]) == (0, 1)
            assert refused(await ask(run, "POST", path)) == (410, "session_closed")
    assert len(project.tape("t").interactions) == 1


async def test_of_two_openings_with_one_id_at_once_one_wins(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            async with run.http.get(run.url("desk", "/a")) as answer:
                assert answer.status == 200
            await run.close()
            spec = {"cassette": "t", "modes": {"desk": "replay"}, "session": "mine"}
            opened = await asyncio.gather(*(ask(run, "POST", "/sessions", spec) for _ in range(5)))
            assert sorted(status for status, _, _ in opened) == [201, 409, 409, 409, 409]
            assert {told["code"] for status, told, _ in opened if status == 409} == {"session_exists"}
            assert [info.session for info in await run.control.sessions()] == ["mine"]


async def test_an_id_whose_opening_failed_is_free_again(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with session(project, "open") as run:
        missing = {"cassette": "t", "modes": {"desk": "replay"}, "session": "mine"}
        for _ in range(2):
            assert refused(await ask(run, "POST", "/sessions", missing)) == (400, "cassette_missing")
        assert (await ask(run, "POST", "/sessions", {**SPEC, "session": "mine"}))[0] == 201


async def test_a_proxy_that_stops_while_a_tape_is_loaded_leaves_no_session_behind(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            async with run.http.get(run.url("desk", "/a")) as answer:
                assert answer.status == 200
            await run.close()
    loading, go_on = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(*arguments: Any) -> Any:
        loop.call_soon_threadsafe(loading.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
        return load_cassette(*arguments)

    monkeypatch.setattr("proctor.proxy.shelf.load_cassette", slow)
    async with session(project, "u") as run:
        spec = SessionSpec(cassette="t", modes={"desk": "replay"}, session="late")
        opening = asyncio.create_task(run.proxy.registry.open(spec))
        await loading.wait()
        left = await run.proxy.close()
        go_on.set()
        with pytest.raises(UsageError, match="being stopped"):
            await opening
    assert [each.session for each in left] == [run.info.session]
    assert not (project.layout.sessions / "late").exists()
    assert run.proxy.registry.sessions == {}


async def test_a_session_that_is_closing_while_the_proxy_stops_is_sealed_and_answered(project: Project) -> None:
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def slow(_: web.Request) -> web.StreamResponse:
        arrived.set()
        await go_on.wait()
        return web.json_response({})

    async with serving(slow) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            asking = asyncio.create_task(run.http.get(run.url("desk", "/a")))
            await arrived.wait()
            closing = asyncio.create_task(run.close())
            while not await closing_has_begun(run):
                pass
            stopping = asyncio.create_task(run.proxy.close())
            go_on.set()
            assert (await closing).sealed == str(project.layout.cassette("t"))
            assert await stopping == ()
            (await asking).release()


async def test_an_id_of_an_earlier_proxy_does_not_show_what_that_one_did(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t", session="mine") as run:
            async with run.http.get(run.url("desk", "/a")) as answer:
                assert answer.status == 200
            await run.close()
        assert (project.layout.sessions / "mine" / "summary.json").exists()
        async with session(project, "u", session="mine") as run:
            assert not list((project.layout.sessions / "mine").iterdir())
    async with session(project, "other", "record") as run:
        with pytest.raises(PlatformError, match="was never closed") as caught:
            await run.control.open(SessionSpec(cassette="u", modes={"desk": "record"}, session="mine"))
        assert "proctor cassette recover u.mine.jsonl" in caught.value.fix


async def test_what_fails_inside_is_told_to_whoever_asked_and_fails_no_session(project: Project) -> None:
    async with raw_service(canned(b"{}", "Content-Type: application/json")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as seed:
            async with seed.http.get(seed.url("desk", "/a")) as answer:
                assert answer.status == 200
            await seed.close()
        async with session(project, "t", "replay") as run:
            async with run.http.get(run.url("desk", "/a")) as answer:
                assert answer.status == 200
            trace = project.layout.sessions / run.info.session / "trace.jsonl"
            content = trace.read_bytes()
            trace.unlink()
            answer_ = await ask(run, "GET", f"/sessions/{run.info.session}/trace")
            assert (refused(answer_), answer_[1]["exit_code"]) == ((500, "platform_error"), 4)
            trace.write_bytes(content)
            assert (await run.close()).errors == ()


async def test_what_is_no_proctor_is_told_from_one_that_refuses(project: Project) -> None:
    async with serving(Desk().answer) as url, ControlClient(url, "x") as control:
        with pytest.raises(PlatformError, match="no proxy of this version"):
            await control.health()
