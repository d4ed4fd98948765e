"""What only JavaScript clients do: fetch with uploads, downloads and events. Its LLM clients are in test_clients.py."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tests.clients import environments, npm_files
from tests.clients.catalogue import CLIENTS
from tests.clients.running import NO_KEYS, TAPE, project_for
from tests.support import Finished, Project, serving_app

[FETCH] = [dataclasses.replace(each, program="plain_fetch.mjs") for each in CLIENTS if each.program == "fetch_chat.mjs"]
FILES = """
[services.files]
url = "env:FILES"
env = ["FILES_URL"]
writes = ["POST /*", "DELETE /*"]
"""
COMMAND = ("--", "node", "programs/plain_fetch.mjs")


async def recorded(folder: Path) -> tuple[Project, Finished]:
    """A project with a tape of plain_fetch.mjs, whose service has stopped; and what it said."""
    if reason := environments.missing(FETCH):
        pytest.skip(f"{FETCH.name}: {reason}")
    project = project_for(FETCH, folder)
    project.configure(FILES)
    async with serving_app(npm_files.create_app()) as url:
        said = await project.proctor("record", "--cassette", TAPE, "--json", *COMMAND, env={"FILES": url})
    assert said.status == 0, said.stderr
    return project, said


async def replayed(project: Project, **env: str) -> Finished:
    """The same program again, by the tape."""
    return await project.proctor("replay", "--cassette", TAPE, "--json", *COMMAND, env={**NO_KEYS, **env})


async def test_fetch_gets_in_replay_what_it_got_when_recorded(tmp_path: Path) -> None:
    project, before = await recorded(tmp_path)
    after = await replayed(project)
    assert after.status == 0, after.stderr
    assert after.printed == before.printed
    assert "name: '底座.png'" in after.stdout
    summary = after.summary
    counts = (summary["hits"], summary["exchanges"], summary["misses"], summary["unused"])
    assert counts == (7, 7, [], [])
    assert summary["forgiven"] == [], "the boundary of an upload is no difference"
    tape = project.tape(TAPE).interactions
    assert {each.request.service for each in tape} == {"files"}
    answers = {(each.request.method, each.request.target): each.response.body for each in tape}
    assert answers["GET", "/events"] == b"".join(npm_files.EVENTS)
    assert answers["GET", "/photos/1"] == npm_files.PICTURE
    assert answers["DELETE", "/photos/1"] == b""


@pytest.mark.parametrize(
    ("env", "difference", "asked"),
    [
        ({"SEARCH": "dented lamp"}, 'query q: recorded "cracked base", got "dented lamp"', 1),
        (
            {"PHOTO_NAME": "lamp.png"},
            'part photo content-disposition: recorded "form-data; name="photo"; filename="底座',
            4,
        ),
    ],
    ids=["query", "upload"],
)
async def test_a_changed_argument_of_fetch_is_a_miss_that_its_user_reads(
    env: dict[str, str], difference: str, asked: int, tmp_path: Path
) -> None:
    project, _ = await recorded(tmp_path)
    missed = await replayed(project, **env)
    assert missed.status == 3
    rows = project.trace(missed.summary["session"])
    assert [row.status for row in rows].count(422) == 1
    assert len(rows) == asked
    own = missed.stderr.partition("\nproctor: ")[0].replace("\\", "")
    assert "Error: 422 Proctor: not_recorded; see the body, or: proctor session show: {" in own
    assert difference in own
    assert "proctor record --cassette t -- node programs/plain_fetch.mjs" in own
