"""Every npm program, recorded in one process and replayed in another with its services stopped."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from proctor.cassette import Cassette
from proctor.interaction import Interaction, header
from tests.clients import npm_programs
from tests.clients.npm_files import EVENTS, PICTURE
from tests.clients.npm_programs import PROGRAMS, Program
from tests.clients.npm_running import KEY, configure, printed, record, replay, upstreams
from tests.support import Project

needs_npm = pytest.mark.skipif(bool(npm_programs.missing()), reason=npm_programs.missing() or "all is there")
LAST = (b"data: [DONE]\n\n", b'"type": "response.completed"')
FOUR = {(tool, order) for order in ("US2001", "US2002") for tool in ("query_order", "query_logistics")}
TOOLS = ["get_token", *(tool for tool, _ in FOUR), "query_order", "calc_refund", "create_refund"]
ANSWERS = 7
SESSIONS_OF_LLM = [program for program in PROGRAMS if program.service == "llm"]


@needs_npm
@pytest.mark.parametrize("program", SESSIONS_OF_LLM, ids=lambda program: program.name)
async def test_an_agent_says_in_replay_what_it_said_when_recorded(program: Program, project: Project) -> None:
    configure(project, program)
    async with upstreams(project.root) as addresses:
        recorded = await record(project, addresses, *program.command())
    assert recorded.status == 0, recorded.stderr
    check_tape(program, project.tape("t"))
    replayed = await replay(project, *program.command())
    assert replayed.status == 0, replayed.stderr
    assert printed(replayed) == printed(recorded)
    assert "The refund is made: 84.90 USD, refund number RF-" in replayed.stdout
    summary = replayed.summary
    assert (summary["hits"], summary["exchanges"]) == (len(TOOLS) + ANSWERS,) * 2
    assert not summary["misses"]
    assert not summary["unused"]
    assert not summary["forgiven"]


def check_tape(program: Program, tape: Cassette) -> None:
    """Each call stands under its service, every tool once, every answer whole, and no key."""
    by_service: dict[str, list[Interaction]] = {"orders": [], "llm": []}
    for interaction in tape.interactions:
        by_service[interaction.request.service].append(interaction)
    assert Counter(each.tool for each in by_service["orders"]) == Counter(TOOLS)
    looked_up = [(each.tool, json.loads(each.request.body)["order_id"]) for each in by_service["orders"][1:5]]
    assert set(looked_up) == FOUR
    assert len(by_service["llm"]) == ANSWERS
    path = "/responses" if "Responses" in program.name else "/chat/completions"
    for each in by_service["llm"]:
        assert each.request.target == path
        kind = header(each.response.headers, "content-type") or ""
        assert kind.startswith("text/event-stream") == program.streams
        assert not program.streams or any(mark in each.response.body for mark in LAST)
        assert not any(KEY in value for _, value in each.request.headers)


@needs_npm
async def test_a_fetch_gets_in_replay_what_it_got_when_recorded(project: Project) -> None:
    [program] = [each for each in PROGRAMS if each.service == "files"]
    configure(project, program)
    async with upstreams(project.root) as addresses:
        recorded = await record(project, addresses, *program.command())
    assert recorded.status == 0, recorded.stderr
    replayed = await replay(project, *program.command())
    assert replayed.status == 0, replayed.stderr
    assert printed(replayed) == printed(recorded)
    assert "name: '底座.png'" in replayed.stdout
    summary = replayed.summary
    assert (summary["hits"], summary["exchanges"], summary["misses"]) == (7, 7, [])
    bodies = {each.request.target: each.response.body for each in project.tape("t").interactions[:6]}
    assert bodies["/events"] == b"".join(EVENTS)
    assert bodies["/photos/1"] == PICTURE
    assert summary["forgiven"] == []


def test_no_registry_is_named_in_the_lock_file() -> None:
    lock = (npm_programs.FOLDER / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in lock
    assert "registry" not in lock


def test_every_version_is_exact() -> None:
    manifest = json.loads((npm_programs.FOLDER / "package.json").read_text(encoding="utf-8"))
    assert all(version[0].isdigit() for version in manifest["dependencies"].values())
