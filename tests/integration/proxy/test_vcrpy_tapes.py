"""Tapes that vcrpy recorded are served: services by host, order by position, and all that is not known is said."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable

import httpx
import pytest
import requests
import vcr
from aiohttp import web

from proctor.errors import CassetteError, UsageError
from tests.integration.cli.support import agent, error_of, record, replay
from tests.support import Handler, Project, services, serving, session

SECRET = "sk-live-0123456789abcdef"


def tape_of(project: Project, url: str, *asks: tuple[str, str, str]) -> None:
    """Record with vcrpy and requests: method, path, JSON body."""
    project.layout.cassettes.mkdir(exist_ok=True)
    path = project.layout.cassette("old")
    path.unlink(missing_ok=True)
    with vcr.use_cassette(str(path), record_mode="all"):
        for method, target, body in asks:
            requests.request(method, url + target, data=body, headers=SENT, timeout=10)


SENT = {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"}
JSON = {"Content-Type": "application/json"}
ASKS = (
    ("POST", "/api/query_order", '{"id":1}'),
    ("GET", "/api/orders?b=2&a=1", ""),
    ("GET", "/api/orders?b=2&a=1", ""),
)


@pytest.fixture
async def recorded(project: Project) -> tuple[Project, str]:
    """A project whose only tape vcrpy recorded; the service is gone."""
    async with serving(_counting()) as url:
        await asyncio.to_thread(tape_of, project, url, *ASKS)
    project.configure(services(desk=f"{url}/api"))
    return project, url


def _counting() -> Handler:
    seen = iter(range(100))

    async def answer(request: web.Request) -> web.StreamResponse:
        body = (await request.read()).decode()
        return web.json_response({"path": request.path, "said": body, "n": next(seen)})

    return answer


async def test_answers_come_in_recorded_order_by_meaning_and_without_credentials(recorded: tuple[Project, str]) -> None:
    project, _ = recorded
    async with session(project, "old", "replay") as run:
        async with run.http.post(run.url("desk", "/query_order"), data=b'{ "id": 1 }', headers=JSON) as answer:
            assert (answer.status, (await answer.json())["n"]) == (200, 0)
        for turn in (1, 2, 2):
            async with run.http.get(
                run.url("desk", "/orders?a=1&b=2"), headers={"Authorization": "Bearer any"}
            ) as answer:
                assert (answer.status, (await answer.json())["n"]) == (200, turn), await answer.text()
        async with run.http.post(run.url("desk", "/query_order"), data=b'{"id":2}', headers=JSON) as answer:
            assert answer.status == 422
        summary = await run.close()
    assert (summary.hits, summary.repeated, len(summary.misses)) == (4, 1, 1)
    assert summary.misses[0].diff == ("body /id: recorded 1, got 2",)
    (note,) = summary.notes
    for said in ("recorded by vcrpy", "by host", "recorded order", "effects are guessed", "not compared", "no seal"):
        assert said in note
    assert [guess.name for guess in summary.guessed] == ["POST /query_order"]


async def test_no_secret_of_the_tape_reaches_trace_summary_or_the_agents_variables(
    recorded: tuple[Project, str],
) -> None:
    project, _ = recorded
    project.configure((project.root / "proctor.toml").read_text() + '[services.llm]\npreset = "openai"\n')
    source = 'print(json.dumps(dict(os.environ))); call(DESK + "/query_order", {"id": 2})'
    ended = await replay(project, source, tape="old")
    assert ended.status == 3
    shown = await project.proctor("cassette", "show", "old", "--index", "0")
    text = await project.proctor("cassette", "text", str(project.layout.cassette("old")))
    left = b"".join(path.read_bytes() for path in project.layout.state.rglob("*") if path.is_file())
    for said in (ended.stdout + ended.stderr, shown.stdout, text.stdout, left.decode()):
        assert SECRET not in said
    assert "proctor-redacted-0001" in shown.stdout


async def test_a_tape_with_hosts_of_no_service_says_so_and_serves_the_others(project: Project) -> None:
    async with serving(_counting()) as url, serving(_counting()) as other:
        await asyncio.to_thread(tape_of, project, url, *ASKS)
        text = project.layout.cassette("old").read_text()
        project.layout.cassette("old").write_text(text.replace(f"{url}/api/query_order", f"{other}/x", 1))
    project.configure(services(desk=url))
    async with session(project, "old", "replay") as run:
        async with run.http.get(run.url("desk", "/api/orders?b=2&a=1")) as answer:
            assert answer.status == 200
        summary = await run.close()
    assert f"never served, since no service has such a url: 1 of {other}" in summary.notes
    assert summary.services_unused == ()


async def test_a_tape_of_no_service_at_all_is_refused_with_the_line_to_write(recorded: tuple[Project, str]) -> None:
    project, url = recorded
    project.configure(services(desk="https://elsewhere.test"))
    ended = await replay(project, "", tape="old")
    error = error_of(ended)
    assert (ended.status, error["code"]) == (2, "cassette_no_service")
    assert f'[services.NAME] url = "{url}"' in error["fix"]


async def test_the_longest_url_wins_and_a_prefix_ends_at_a_slash(project: Project) -> None:
    async with serving(_counting()) as url:
        asks = (("GET", "/api/v2/x", ""), ("GET", "/api/x", ""), ("GET", "/apix", ""))
        await asyncio.to_thread(tape_of, project, url, *asks)
    project.configure(services(api=f"{url}/api", v2=f"{url}/api/v2"))
    async with session(project, "old", "replay") as run:
        for service in ("v2", "api"):
            async with run.http.get(run.url(service, "/x")) as answer:
                assert answer.status == 200
        summary = await run.close()
    assert summary.interactions == 3
    assert f"never served, since no service has such a url: 1 of {url}" in summary.notes


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda text: text[: len(text) // 2], "cassette_"),
        (lambda text: text.replace("uri: http://", "uri: ", 1), "cassette_item"),
        (lambda text: text.replace("response:", "answer:", 1), "cassette_item"),
        (lambda text: "version: 1\ninteractions: []\n", "cassette_empty"),
        (lambda text: text.replace("version: 1", "version: 2"), "cassette_version"),
        (lambda text: text.replace("interactions:", "interactions:\n<<<<<<< HEAD"), "cassette_conflict"),
    ],
    ids=["torn", "no url", "no response", "empty", "version", "conflict"],
)
async def test_a_damaged_one_is_refused_by_name(
    recorded: tuple[Project, str], damage: Callable[[str], str], code: str
) -> None:
    project, _ = recorded
    path = project.layout.cassette("old")
    path.write_text(damage(path.read_text()))
    with pytest.raises((CassetteError, UsageError)) as caught:
        async with session(project, "old", "replay"):
            pass
    assert caught.value.code.startswith(code)


async def test_it_has_no_seal_to_renew(recorded: tuple[Project, str]) -> None:
    project, _ = recorded
    ended = await project.proctor("cassette", "seal", "old")
    assert (ended.status, "cassette_vcrpy" in ended.stderr) == (2, True)
    listed = await project.proctor("cassette", "ls", "--json")
    entry = json.loads(listed.stdout)
    assert (entry["by"], entry["interactions"], entry["recorded_at"]) == ("vcrpy", 3, "")


async def test_the_sdk_variables_of_a_preset_get_a_dummy_key(project: Project) -> None:
    async with serving(_counting()) as url:
        await asyncio.to_thread(tape_of, project, url, ("GET", "/models", ""))
    project.configure(f'[services.llm]\npreset = "openai"\nurl = "{url}"\n')
    source = 'print(os.environ["OPENAI_API_KEY"], call(os.environ["OPENAI_BASE_URL"] + "/models")[0])'
    command = agent(source)
    ended = await project.proctor("replay", "--cassette", "old", "--", *command, env={"OPENAI_API_KEY": SECRET})
    assert (ended.status, ended.stdout) == (0, "proctor-dummy-key 200\n")


async def test_recording_over_it_makes_a_tape_of_ours(recorded: tuple[Project, str]) -> None:
    project, _ = recorded
    async with serving(_counting()) as url:
        project.configure(services(desk=url))
        assert (await record(project, 'call(DESK + "/a")', tape="old")).status == 0
    assert project.tape("old").by == "proctor"


async def test_compressed_answers_that_vcrpy_kept_decoded_have_a_true_length(project: Project) -> None:
    async def zipped(request: web.Request) -> web.StreamResponse:
        return web.Response(body=gzip.compress(b"plain " * 100), headers={"Content-Encoding": "gzip"})

    def taped(url: str) -> None:
        project.layout.cassettes.mkdir(exist_ok=True)
        with vcr.use_cassette(str(project.layout.cassette("old")), decode_compressed_response=True):
            assert httpx.get(f"{url}/zip").text == "plain " * 100

    async with serving(zipped) as url:
        await asyncio.to_thread(taped, url)
    project.configure(services(desk=url))
    async with session(project, "old", "replay") as run, run.http.get(run.url("desk", "/zip")) as answer:
        assert await answer.text() == "plain " * 100
