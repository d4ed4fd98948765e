"""What users of npm clients read when something goes wrong: the error that they catch, and what node prints of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from examples.order_desk import stand_in_model
from proctor.trace import TraceRow
from tests.clients import npm_files, npm_programs
from tests.clients.npm_programs import FOLDER, PROGRAMS, Program
from tests.clients.npm_running import CLOSED, caught, configure, cut, record, replay, upstreams
from tests.support import Finished, Project

pytestmark = pytest.mark.skipif(bool(npm_programs.missing()), reason=npm_programs.missing() or "all is there")
CAUGHT = str(FOLDER / "caught.mjs")
HIDES = ("streamText",)
"""`streamText` logs what went wrong and throws an error of its own, which only says that it did."""
OTHER_WORDS = {"FIRST_QUESTION": "Where is my order US2002?", "SEARCH": "something else"}
MISSED = {
    "openai": ("UnprocessableEntityError", "422 Proctor: ", "not_recorded"),
    "ai": ("APICallError", "Proctor: ", None),
    "": ("Error", "422 ", None),
}
DOWN = {
    "openai": ("InternalServerError", "502 Proctor: ", 1),
    "ai": ("RetryError", "Failed after 3 attempts. Last error: Proctor: ", 3),
    "": ("Error", "502 ", 1),
}
"""Class and start of what is caught, and how often the client asked: `ai` does not know x-should-retry."""
CUT: tuple[tuple[int, dict[str, int]], ...] = ((2, {"ai, streamText, Responses": 3}), (4, {}))
"""After how many pieces it breaks off, and who then asks how often; all others ask once."""
STREAMED = [program for program in PROGRAMS if program.streams]


@pytest.fixture(scope="module")
def tapes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The tapes that were recorded so far, by program."""
    return {}


async def with_tape(program: Program, project: Project, tapes: dict[str, Path]) -> None:
    """The project has this program's tape, which is recorded once."""
    configure(project, program)
    if program.name not in tapes:
        async with upstreams(project.root) as addresses:
            recorded = await record(project, addresses, *program.command())
        assert recorded.status == 0, recorded.stderr
        tapes[program.name] = project.layout.cassettes
    else:
        shutil.copytree(tapes[program.name], project.layout.cassettes)


def asked(project: Project, finished: Finished, service: str) -> list[TraceRow]:
    """What the client asked of a service."""
    return [row for row in project.trace(finished.summary["session"]) if row.service == service]


def dumped(finished: Finished) -> str:
    """What node or the client printed of the error, without what Proctor adds at the end."""
    return finished.stderr.partition("\nproctor: ")[0]


def hides(program: Program) -> bool:
    return any(word in program.name for word in HIDES)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
async def test_a_miss_is_told_in_full_and_asked_once(
    program: Program, project: Project, tapes: dict[str, Path]
) -> None:
    await with_tape(program, project, tapes)
    missed = await replay(project, *program.command(CAUGHT), **OTHER_WORDS)
    assert missed.status == 3
    rows = asked(project, missed, program.service)
    assert [row.status for row in rows] == [422]
    words = dumped(missed)
    for part in ("Proctor: ", "nothing on tape t answers this request", "recorded", "proctor record ", "not_recorded"):
        assert part in words, part
    if not hides(program):
        name, start, code = MISSED[program.package]
        error = caught(missed)
        assert error["class"] == name
        assert error["message"].startswith(start)
        assert "Proctor: " in error["message"]
        assert "proctor record " in error["message"]
        assert error.get("code") == code


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
async def test_a_service_that_is_down_is_named_by_its_error(program: Program, project: Project) -> None:
    configure(project, program)
    down = {"MODEL": f"{CLOSED}/v1", "FILES": CLOSED}
    async with upstreams(project.root) as addresses:
        finished = await record(project, {**addresses, **down}, *program.command(CAUGHT))
    name, start, attempts = DOWN[program.package]
    assert finished.summary["command_status"] == 1
    assert [row.status for row in asked(project, finished, program.service)] == [502] * attempts
    told = f'service "{program.service}" at {CLOSED} did not answer: nobody listens there'
    words = dumped(finished).replace('\\"', '"')
    assert f"Proctor: {told}" in words
    assert f"[services.{program.service}] has its address" in words
    assert finished.stderr.count(f"not sealed: {told}") == 1
    if not hides(program):
        error = caught(finished)
        assert error["class"] == name
        assert error["message"].startswith(start)


@pytest.mark.parametrize(("pieces", "attempts"), CUT, ids=["early", "late"])
@pytest.mark.parametrize("program", STREAMED, ids=lambda program: program.name)
async def test_a_stream_that_breaks_off_fails_the_client_and_proctor_says_who_broke_off(
    program: Program, pieces: int, attempts: dict[str, int], project: Project
) -> None:
    configure(project, program)
    model, files = cut(stand_in_model.create_app(), pieces), cut(npm_files.create_app(), pieces)
    async with upstreams(project.root, model, files) as addresses:
        finished = await record(project, addresses, *program.command(CAUGHT))
    rows = [row for row in asked(project, finished, program.service) if row.cut]
    assert len(rows) == attempts.get(program.name, 1)
    assert finished.summary["command_status"] == 1
    assert any(word in dumped(finished) for word in ("terminated", "Failed to process successful response"))
    row = rows[0]
    told = f"{program.service} {row.method} {row.target}: the real service broke off"
    assert finished.stderr.count(f"not sealed: {told}") == 1
    assert finished.summary["aside"]
    assert not (project.layout.cassettes / "t.yaml").exists()
