"""Who is told the salt of a judge's prompts, which one it is, and where it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from proctor.cassette import load_cassette, save_cassette
from proctor.errors import CassetteTorn, ProctorError, UsageError
from proctor.journal import read_journal
from proctor.judge.tape_salt import SESSION_URL, salt_under
from proctor.proxy.server import start_proxy
from proctor.tape_diff import diff_tapes
from proctor.tape_outline import outline
from proctor.tape_text import tape_diff
from tests.support import Project, Running, services, serving, session

TWO = '[services.llm]\npreset = "openai"\nurl = "{url}"\n[services.desk]\nurl = "{url}"\n'


@pytest.fixture
async def two(project: Project) -> AsyncIterator[Project]:
    """A project with an LLM service and a tool."""

    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"path": request.path})

    async with serving(answer) as url:
        project.configure(TWO.format(url=url))
        yield project


async def salt(running: Running) -> bytes | None:
    return await salt_under({SESSION_URL: running.info.url}, ["openai/gpt-4o"])


async def ask(running: Running, body: str, service: str = "llm") -> None:
    async with running.http.post(running.url(service, "/ask"), data=body) as response:
        assert response.status == 200


async def recorded(project: Project, tape: str = "judged", body: str = "one", **spec: Any) -> bytes:
    """A tape with a judge's salt, which is given."""
    async with session(project, tape, allow_unused=True, **spec) as running:
        found = await salt(running)
        await ask(running, body)
        assert not (await running.close()).errors
    assert found is not None
    return found


async def refused(running: Running) -> str:
    with pytest.raises(ProctorError) as raised:
        await salt(running)
    return raised.value.code


async def test_a_recording_draws_a_salt_once_and_seals_it_and_a_replay_has_the_same(two: Project) -> None:
    async with session(two, "judged", allow_unused=True) as running:
        first, second = await asyncio.gather(salt(running), salt(running))
        await ask(running, "one")
        summary = await running.close()
    assert first is not None
    assert first == second
    assert two.tape("judged").stamp["judge_salt"] == first.hex()
    assert (summary.exchanges, summary.misses) == (1, ())
    assert len(two.trace(summary.session)) == 1
    async with session(two, "judged", "replay") as running:
        assert await salt(running) == first
    assert await recorded(two, "other") != first


async def test_a_tape_keeps_its_salt_when_it_is_extended_recorded_again_or_taken_over(two: Project) -> None:
    first = await recorded(two)
    async with session(two, "judged", "new_episodes", allow_unused=True) as running:
        assert await salt(running) == first
        await ask(running, "one")
        await ask(running, "two")
        assert (await running.close()).episodes
    assert two.tape("judged").stamp["judge_salt"] == first.hex()
    assert await recorded(two, again=True) == first
    modes: dict[str, Any] = {"llm": "replay", "desk": "record"}
    async with session(two, "taken", modes=modes, over="judged", allow_unused=True) as running:
        assert await salt(running) == first
        await ask(running, "one")
        await ask(running, "look", "desk")
        assert not (await running.close()).errors
    assert two.tape("taken").stamp["judge_salt"] == first.hex()


async def test_a_tape_without_a_judge_gets_a_salt_when_one_extends_it(two: Project) -> None:
    async with session(two, "plain", allow_unused=True) as running:
        await ask(running, "one")
        await running.close()
    assert "judge_salt" not in two.tape("plain").stamp
    found = await recorded(two, "plain", "two", mode="new_episodes")
    assert two.tape("plain").stamp["judge_salt"] == found.hex()


async def test_a_replay_of_a_tape_of_no_judge_says_so(two: Project) -> None:
    async with session(two, "plain", allow_unused=True) as running:
        await ask(running, "one")
        await running.close()
    async with session(two, "plain", "replay") as running:
        with pytest.raises(UsageError, match="was not recorded by a judge") as raised:
            await salt(running)
        assert (raised.value.code, "proctor judge run" in raised.value.fix) == ("judge_salt_missing", True)
        assert await salt_under({SESSION_URL: running.info.url}, ["stand-in/obedient"]) is None
        summary = await running.close()
    assert (summary.exchanges, summary.misses, summary.errors) == (0, (), ())
    async with session(two, "plain", "replay") as running:  # asking for a salt is no request of the agent's
        await running.http.post(f"{running.info.url}/_judge/salt")
        await running.close()
    assert running.proxy.registry.statuses == {3}


@pytest.mark.parametrize("modes", [{"llm": "live", "desk": "record"}, {"llm": "live", "desk": "live"}])
async def test_a_judge_whose_model_is_asked_live_has_no_tape(two: Project, modes: dict[str, Any]) -> None:
    async with session(two, "judged", modes=modes) as running:
        assert await salt(running) is None


async def test_a_session_without_a_model_is_not_the_judge_s(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    async with session(project, "judged") as running:
        assert await salt(running) is None


async def test_what_is_no_resource_is_refused_and_a_closed_session_tells_nothing(two: Project) -> None:
    async with session(two, "judged", allow_unused=True) as running:
        for method, path, status in (("GET", "/_judge/salt", 405), ("POST", "/_judge/pepper", 404)):
            async with running.http.request(method, running.info.url + path) as response:
                assert response.status == status
        assert (await running.control.trace(running.info.session)) == []
        async with running.http.post(f"{running.info.url}/_other/salt") as response:
            assert response.status == 404
        assert len((await running.close()).misses) == 1, "no service begins so: it is a stray as any other"
        assert await refused(running) == "session_closed"
    proxy = await start_proxy(running.proxy.registry.config)
    await proxy.close()
    with pytest.raises(ProctorError, match="no proxy answers") as raised:
        await salt_under({SESSION_URL: proxy.session_url("gone")}, ["openai/gpt-4o"])
    assert "PROCTOR_SESSION_URL" in raised.value.fix


async def test_the_journal_has_the_salt_before_anybody_is_told(two: Project) -> None:
    async with session(two, "judged", allow_unused=True) as running:
        found = await salt(running)
        [journal] = two.layout.journals.glob("*.jsonl")
        assert found is not None
        assert read_journal(journal).judge_salt == found.hex()


async def test_a_changed_salt_is_shown_wherever_tapes_are_compared_and_is_no_leak(two: Project) -> None:
    found = (await recorded(two)).hex()
    tape, other = two.tape("judged"), "5a" * 32
    changed = replace(tape, stamp={**tape.stamp, "judge_salt": other})
    assert [each.where for each in diff_tapes(tape, changed).head] == ["judge salt"]
    assert f"-judge_salt: {found}" in tape_diff(tape, changed)
    assert f"judge salt: {found}" in list(outline(tape, {}))
    path = two.layout.cassettes / "judged.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace(found, other), encoding="utf-8")
    with pytest.raises(CassetteTorn):
        load_cassette(two.layout, "judged")
    sealed = await two.proctor("cassette", "seal", "judged")
    assert (sealed.status, two.tape("judged").stamp["judge_salt"]) == (0, other)
    toml = (two.root / "proctor.toml").read_text(encoding="utf-8")
    two.configure(f'{toml}[redact]\npatterns = ["[0-9a-f]{{64}}"]\n')
    scanned = await two.proctor("cassette", "scan", "cassettes")
    assert scanned.status == 0, scanned.stdout + scanned.stderr
    assert await recorded(two, again=True) == bytes.fromhex(other)
    save_cassette(path, replace(tape, stamp={**tape.stamp, "judge_salt": "no salt"}))
    async with session(two, "judged", "replay") as running:
        assert await refused(running) == "judge_salt_missing"
