"""Workers side by side: each test has its own tape's answers, whoever runs it."""

from __future__ import annotations

import asyncio
import json

from aiohttp import web

from tests.integration.pytest_plugin.support import Model, agent_project, folder, run_pytest, tapes
from tests.property.counts import count
from tests.support import Project, serving

TESTS = 40
WORKERS = count(ci=4, soak=8)
EQUAL_FIRST_PROMPTS = f"""
import pathlib

@pytest.mark.parametrize("n", range({TESTS}))
def test_talk(n, proctor_session):
    first = ask("hello")
    last = ask("hello", first)
    assert last == "the end of " + first
    told = {{"worker": os.environ["PYTEST_XDIST_WORKER"], "url": proctor_session.urls["llm"], "first": first}}
    pathlib.Path(os.environ["TOLD"], str(n)).write_text(json.dumps(told))
"""


async def told_in(project: Project, name: str, *options: str) -> list[dict[str, str]]:
    """Run the tests on several workers; gives what each of the forty wrote."""
    place = project.root / name
    place.mkdir()
    done = await run_pytest(project, "-n", str(WORKERS), *options, TOLD=str(place))
    assert (done.status, f"{TESTS} passed" in done.stdout) == (0, True), done.stdout
    return [json.loads((place / str(n)).read_text()) for n in range(TESTS)]


async def test_forty_tests_with_equal_first_prompts_on_several_workers_never_mix(project: Project) -> None:
    model = Model()
    async with serving(model.answer) as url:
        agent_project(project, url, EQUAL_FIRST_PROMPTS)
        recorded = await told_in(project, "recorded", "--proctor-record")
    firsts = [told["first"] for told in recorded]
    assert len(set(firsts)) == TESTS
    assert model.asked == 2 * TESTS
    assert tapes(project) == sorted(f"tests/test_agent/test_talk-{n}" for n in range(TESTS))
    for n, first in enumerate(firsts):
        tape = project.tape(f"tests/test_agent/test_talk-{n}")
        assert [json.loads(each.response.body)["text"] for each in tape.interactions] == [first, f"the end of {first}"]
    replayed = await told_in(project, "replayed", "--dist", "load")
    assert [told["first"] for told in replayed] == firsts
    ports = {(told["worker"], told["url"].split("/")[2]) for told in replayed}
    assert len(ports) == len({port for _, port in ports}) == len({worker for worker, _ in ports}) > 1
    assert folder(project, "journals") == []


ONE = """
def test_it(proctor_session):
    ask("hello")
"""
TELLS = """
import os, urllib.request

def pytest_runtest_logreport(report):
    if report.failed and "PYTEST_XDIST_WORKER" in os.environ:
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        direct.open(os.environ["REFUSED"], data=b"").close()
"""


class Waiting(Model):
    """Answers a prompt only when it was told that somebody was refused."""

    def __init__(self) -> None:
        super().__init__()
        self._refused = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/refused":
            self._refused.set()
            return web.Response()
        await self._refused.wait()
        return await super().answer(request)


async def test_two_workers_never_write_one_tape(project: Project) -> None:
    """With `--dist each` both run the test; the model answers the one that records only when the other was refused."""
    async with serving(Waiting().answer) as url:
        agent_project(project, url, ONE)
        (project.root / "conftest.py").write_text(TELLS, encoding="utf-8")
        options = ("--proctor-record", "-n", "2", "--dist", "each")
        done = await run_pytest(project, *options, REFUSED=f"{url}/refused")
    assert "1 passed, 1 error" in done.stdout
    assert "proctor: cassette_busy: tape tests/test_agent/test_it is being written by" in done.stdout
    assert project.tape("tests/test_agent/test_it").services == ("llm",)
