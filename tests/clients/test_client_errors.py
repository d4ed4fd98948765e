"""What users of each Python client read when something goes wrong: it names Proctor, says what to do, comes soon.

The npm clients are in test_npm_errors.py.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients import environments
from tests.clients.catalogue import CLIENTS, Client
from tests.clients.cutting import cut_model
from tests.clients.running import (
    CLOSED,
    project_for,
    record,
    replay,
    run_one,
    say_something_else,
    upstreams,
)
from tests.support import Finished, Project

pytestmark = pytest.mark.timeout(300)
KEPT = ("sh", "-c", 'exec "$@" 2>client.err', "sh")
RECORDERS = {"openai": "urllib", "anthropic": "anthropic"}
HEAVY = frozenset({"litellm", "openai-agents", "langgraph", "pydantic-ai-slim"})
"""These take seconds to start: their errors are tried by `make clients` and `make soak` only."""
ALL = bool(os.environ.get("PROCTOR_SOAK"))
PYTHON = tuple(client for client in CLIENTS if client.kind == "python")
ONCE_EACH = tuple(c for c in PYTHON if "async" not in c.name and c.name != "openai Responses, streamed")
STREAMED = tuple(client for client in PYTHON if client.streams)


@dataclass(frozen=True)
class Failed:
    """A client that failed: what it printed itself, what Proctor said, and how often it asked the model."""

    own: str
    finished: Finished
    asked: int


@pytest.fixture(scope="session")
def tapes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of tapes for each API, which some client of it recorded."""
    made = {}
    for preset, name in RECORDERS.items():
        [client] = [each for each in CLIENTS if each.name == name]
        if not environments.missing(client):
            folder = tmp_path_factory.mktemp(preset)
            assert run_one(client, folder).was_recorded
            made[preset] = folder / "cassettes"
    return made


def needs(client: Client) -> None:
    """Skip, visibly, where the client cannot run."""
    reason = environments.missing(client)
    if reason:
        pytest.skip(f"{client.name}: {reason}")
    if client.package in HEAVY and not ALL:
        pytest.skip(f"{client.name}: slow to start; make clients")


def failure(project: Project, finished: Finished) -> Failed:
    """How a run failed; it must have."""
    rows = project.trace(finished.summary["session"])
    own = (project.root / "client.err").read_text(encoding="utf-8")
    assert finished.summary["command_status"] not in (0, None), finished.stderr
    return Failed(own, finished, sum(row.service == "llm" for row in rows))


@pytest.mark.parametrize("client", ONCE_EACH, ids=lambda client: client.name)
async def test_a_miss_names_proctor_and_what_to_do_and_is_not_retried(
    client: Client, tmp_path: Path, tapes: dict[str, Path]
) -> None:
    needs(client)
    project = project_for(client, tmp_path)
    shutil.copytree(tapes[client.preset], project.layout.cassettes)
    say_something_else(project)
    failed = failure(project, await replay(project, client, KEPT))
    assert failed.finished.status == 3
    assert "Proctor: " in failed.own
    assert "proctor " in failed.own, "no command that helps"
    assert "not_recorded" in failed.own or "nothing on tape t answers this request" in failed.own
    assert failed.asked == 1


@pytest.mark.parametrize("client", ONCE_EACH, ids=lambda client: client.name)
async def test_a_service_that_is_down_is_named_by_proctor_and_not_asked_for_ever(
    client: Client, tmp_path: Path
) -> None:
    needs(client)
    project = project_for(client, tmp_path)
    async with upstreams(tmp_path) as addresses:
        down = {**addresses, "MODEL": CLOSED, "MODELV1": f"{CLOSED}/v1"}
        failed = failure(project, await record(project, client, down, KEPT))
    assert "Proctor: " in failed.own
    assert "upstream_unreachable" in failed.own or "did not answer" in failed.own
    assert failed.asked == 1
    assert f'service "llm" at {CLOSED} did not answer' in failed.finished.stderr


@pytest.mark.parametrize("client", STREAMED, ids=lambda client: client.name)
async def test_a_cut_stream_fails_the_client_and_proctor_says_who_broke_off(client: Client, tmp_path: Path) -> None:
    needs(client)
    project = project_for(client, tmp_path)
    async with upstreams(tmp_path, cut_model(5)) as addresses:
        failed = failure(project, await record(project, client, addresses, KEPT))
    assert failed.own.strip()
    assert failed.asked == 1
    assert "broke off" in failed.finished.stderr
    assert any(error["code"] == "answer_cut" for error in failed.finished.summary["errors"])
    assert failed.finished.summary["aside"]
