"""Whatever would fail `proctor replay` or `record` fails the test, also where the test swallowed it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest
from aiohttp import web

from tests.integration.pytest_plugin.support import ASK, Model, agent_project, folder, run_pytest, tapes
from tests.support import Project, clean_environment, services, serving

SWALLOWS = """
@pytest.fixture
def logged_in(proctor_session):
    if os.environ.get("HOW") == "setup":
        ask_whatever_comes("never recorded")
        raise RuntimeError("no log-in")

def test_it(proctor_session, logged_in):
    how = os.environ.get("HOW")
    if how != "nothing":
        ask("hello")
    if how in ("miss", "miss and fail", "miss and skip"):
        assert ask_whatever_comes("never recorded") is None
        assert len(proctor_session.misses) == 1
    if how == "past":
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen("http://past.test/")
    if how == "miss and fail":
        assert 1 + 1 == 3
    if how == "miss and skip":
        pytest.skip("not today")
"""
MISS = "miss: llm POST /chat/completions: nothing on tape tests/test_agent/test_it answers this request"
AGAIN = "if the change is meant, record again: pytest tests/test_agent.py::test_it --proctor-record"


@pytest.mark.parametrize(
    ("how", "result", "told"),
    [
        ("", "1 passed", ()),
        ("miss", "1 passed, 1 error", (f"proctor: {MISS}", AGAIN, 'recorded "hello", got "never recorded"')),
        ("past", "1 passed, 1 error", ("proctor: GET went to past.test:80, which is no service; refused",)),
        ("nothing", "1 passed, 1 error", ("no request reached the proxy at all",)),
        ("miss and skip", "1 skipped, 1 error", (MISS,)),
        ("miss and fail", "1 failed", ("assert (1 + 1) == 3", MISS)),
        ("setup", "2 errors", ("RuntimeError: no log-in", MISS)),
    ],
)
async def test_what_went_wrong_in_the_session_fails_the_test(
    how: str, result: str, told: tuple[str, ...], project: Project
) -> None:
    async with serving(Model().answer) as url:
        agent_project(project, url, SWALLOWS)
        assert (await run_pytest(project, "--proctor-record")).status == 0
    done = await run_pytest(project, "-rN", HOW=how)
    assert done.status == (1 if told else 0)
    assert done.stdout.splitlines()[-1].startswith(f"{result} in "), done.stdout
    for text in told:
        assert text in done.stdout
    assert "proctor/" not in done.stdout.replace(".proctor/", ""), "a traceback through Proctor"


async def test_a_test_that_was_skipped_before_it_asked_anything_stays_skipped(project: Project) -> None:
    tests = "@pytest.mark.proctor(modes={'llm': 'live'})\ndef test_it():\n    pytest.skip('not today')\n"
    done = await run_pytest(agent_project(project, "http://127.0.0.1:9", tests))
    assert (done.status, "1 skipped in" in done.stdout) == (0, True), done.stdout


RECORDS = """
@pytest.mark.proctor
def test_it():
    ask("hello")
    if os.environ.get("HOW") == "outage":
        assert ask_whatever_comes("fail") is None
    assert os.environ.get("HOW") != "fail"

@pytest.mark.proctor
@pytest.mark.xfail(reason="known")
def test_known():
    ask("hello")
    assert os.environ.get("HOW") == "pass"
"""


@pytest.mark.parametrize(
    ("how", "result", "told"),
    [
        ("fail", "1 failed, 1 xfailed", "proctor cassette accept tests/test_agent/test_it"),
        (
            "outage",
            "1 passed, 1 xfailed, 1 error",
            "not sealed: #1 llm POST /chat/completions: the last answer was 503",
        ),
    ],
)
async def test_a_recording_of_a_failing_test_or_of_an_outage_is_put_aside(
    how: str, result: str, told: str, project: Project
) -> None:
    async with serving(Model().answer) as url:
        agent_project(project, url, RECORDS)
        assert (await run_pytest(project, "--proctor-record", HOW="pass")).status == 0
        files = [project.layout.cassette(name) for name in tapes(project)]
        before = [file.read_bytes() for file in files]
        done = await run_pytest(project, "-rN", "--proctor-record", HOW=how)
    assert done.status == 1
    assert done.stdout.splitlines()[-1].startswith(f"{result} in "), done.stdout
    assert told in done.stdout
    assert "the old tape is as it was" in done.stdout
    assert len(files) == 2
    assert [file.read_bytes() for file in files] == before
    assert [path.name for path in folder(project, "aside")] == ["test_it.yaml", "test_known.yaml"]


STRICT = """
@pytest.mark.proctor(allow_unused=True)
def test_it():
    if os.environ.get("HOW") != "no write":
        urllib.request.urlopen(urllib.request.Request(os.environ["DESK_URL"], b"{}", method="PUT")).close()
    urllib.request.urlopen(os.environ["DESK_URL"]).close()
"""


async def test_strict_makes_an_answer_of_another_state_a_miss(project: Project) -> None:
    async def desk(request: web.Request) -> web.StreamResponse:
        return web.json_response({"method": request.method})

    async with serving(desk) as url:
        agent_project(project, url, STRICT)
        project.configure(services(desk=url, never="http://127.0.0.1:9"))
        recorded = await run_pytest(project, "--proctor-record")
        assert recorded.status == 0, recorded.stdout
    assert (await run_pytest(project, HOW="no write")).status == 0
    strict = await run_pytest(project, "--proctor-strict", HOW="no write")
    assert strict.status == 1
    assert "recorded only in another state" in strict.stdout
    marked = STRICT.replace("allow_unused=True", "allow_unused=True, strict=True")
    (project.root / "tests" / "test_agent.py").write_text(ASK + marked, encoding="utf-8")
    assert "recorded only in another state" in (await run_pytest(project, HOW="no write")).stdout


INTERRUPTED = """
@pytest.mark.proctor
def test_it():
    ask("hello")
    if "ASKED" in os.environ:
        import pathlib, signal
        pathlib.Path(os.environ["ASKED"]).write_text("yes")
        signal.pause()
"""


async def test_ctrl_c_ends_the_session_and_leaves_the_old_tape(project: Project) -> None:
    async with serving(Model().answer) as url:
        agent_project(project, url, INTERRUPTED)
        assert (await run_pytest(project, "--proctor-record")).status == 0
        tape = project.layout.cassette("tests/test_agent/test_it")
        before = tape.read_bytes()
        asked = project.root / "asked"
        os.mkfifo(asked)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pytest", "--proctor-record"),
            cwd=project.root,
            env={**clean_environment(), "ASKED": str(asked)},
            stdout=asyncio.subprocess.PIPE,
        )
        assert await asyncio.to_thread(asked.read_text) == "yes"
        process.send_signal(signal.SIGINT)
        stdout, _ = await process.communicate()
    assert process.returncode == 2, stdout.decode()
    assert b"KeyboardInterrupt" in stdout
    assert tape.read_bytes() == before
    assert folder(project, "journals") == []
    assert [path.name for path in folder(project, "aside")] == ["test_it.yaml"]
