"""What users of the npm SDKs catch when something goes wrong, and what node prints where they do not."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients import environments
from tests.clients.catalogue import CLIENTS, Client
from tests.clients.cutting import cut_model
from tests.clients.running import CLOSED, TAPE, project_for, record, replay, say_something_else, upstreams
from tests.support import Finished, Project

pytestmark = pytest.mark.timeout(300)
NODE = {client.name: client for client in CLIENTS if client.kind == "node"}
MISSED = {
    "npm openai chat": (
        "UnprocessableEntityError",
        "422 Proctor: llm POST /chat/completions: nothing on tape t answers",
    ),
    "npm openai Responses, streamed": (
        "UnprocessableEntityError",
        "422 Proctor: llm POST /responses: nothing on tape t",
    ),
    "ai, @ai-sdk/openai (Responses)": ("APICallError", "Proctor: llm POST /responses: nothing on tape t answers"),
    "ai, @ai-sdk/openai chat": ("APICallError", "Proctor: llm POST /chat/completions: nothing on tape t answers"),
    "fetch of Node": ("Error", "422 Proctor: not_recorded; see the body, or: proctor session show: {"),
}
SAYS_NOTHING = ("ai, @ai-sdk/openai (Responses), streamed", "ai, @ai-sdk/openai chat, streamed")
"""`streamText` prints the error where `onError` is not set, and throws one that says only to look there."""
DOWN = {
    "npm openai Responses": ("InternalServerError", "502 Proctor: ", 1),
    "ai, @ai-sdk/openai (Responses)": ("RetryError", "Failed after 3 attempts. Last error: Proctor: ", 3),
}
CUT = {
    ("npm openai chat, streamed", 2): ("OpenAIError", "terminated", 1),
    ("npm openai Responses, streamed", 2): ("TypeError", "terminated", 1),
    ("ai, @ai-sdk/openai chat, streamed", 2): ("APICallError", "Failed to process successful response", 1),
    ("ai, @ai-sdk/openai (Responses), streamed", 2): ("NoOutputGeneratedError", "No output generated.", 3),
    ("ai, @ai-sdk/openai (Responses), streamed", 6): ("APICallError", "Failed to process successful response", 1),
}
"""By how many events came. `ai` asks once more where Responses breaks off before it has said anything."""


def caught(client: Client) -> Client:
    """The same, within a program that catches its error, tells it as JSON, and lets it fall."""
    if reason := environments.missing(client):
        pytest.skip(f"{client.name}: {reason}")
    return dataclasses.replace(client, program="caught.mjs", options=(client.program, *client.options))


def error_of(finished: Finished) -> dict[str, Any]:
    """What was caught; the last line that the program printed."""
    assert finished.summary["command_status"] == 1, finished.stderr
    told: dict[str, Any] = json.loads(finished.printed[-1])
    return told


def printed(finished: Finished) -> str:
    """What node or the SDK printed of the error, before Proctor's own summary."""
    return finished.stderr.partition("\nproctor: ")[0]


def statuses(project: Project, finished: Finished) -> list[int | None]:
    """What each request for the model was answered."""
    return [row.status for row in project.trace(finished.summary["session"]) if row.service == "llm"]


@pytest.fixture(scope="module")
def tapes() -> dict[str, str]:
    """The tapes of the module as text, by the client that recorded them: each is recorded once."""
    return {}


async def missed(client: Client, folder: Path, tapes: dict[str, str]) -> tuple[Project, Finished]:
    """A replay with another question than the one that this client recorded, unstreamed."""
    failing = caught(client)
    project = project_for(failing, folder)
    tape = project.layout.cassettes / f"{TAPE}.yaml"
    recorder = client.name.removesuffix(", streamed")
    if recorder not in tapes:
        async with upstreams(folder) as addresses:
            made = await record(project, NODE[recorder], addresses)
        assert made.status == 0, made.stderr
        tapes[recorder] = tape.read_text(encoding="utf-8")
    tape.parent.mkdir(exist_ok=True)
    tape.write_text(tapes[recorder], encoding="utf-8")
    say_something_else(project)
    return project, await replay(project, failing)


@pytest.mark.parametrize("name", MISSED)
async def test_the_error_of_a_miss_says_what_changed_and_what_to_do(
    name: str, tmp_path: Path, tapes: dict[str, str]
) -> None:
    kind, start = MISSED[name]
    project, finished = await missed(NODE[name], tmp_path, tapes)
    error = error_of(finished)
    text = error["message"].replace('\\"', '"')
    assert error["class"] == kind
    assert text.startswith(start)
    assert text.splitlines()[0] in printed(finished).replace('\\"', '"'), "node's own words say less"
    assert 'got "Where is my order US2002?"' in text
    assert "proctor record --only llm --over t --cassette t -- node programs/" in text
    if NODE[name].package:
        assert error["status"] == 422
    if NODE[name].package == "openai":
        assert (error["code"], error["type"]) == ("not_recorded", "proctor_error")
    assert statuses(project, finished) == [422]


@pytest.mark.parametrize("name", SAYS_NOTHING)
async def test_a_miss_of_stream_text_is_printed_though_its_error_says_nothing(
    name: str, tmp_path: Path, tapes: dict[str, str]
) -> None:
    project, finished = await missed(NODE[name], tmp_path, tapes)
    assert error_of(finished)["class"] == "NoOutputGeneratedError"
    own = printed(finished)
    assert "APICallError [AI_APICallError]: Proctor: llm POST /" in own
    assert "proctor record --only llm --over t --cassette t -- node programs/" in own
    assert statuses(project, finished) == [422]


@pytest.mark.parametrize("name", DOWN)
async def test_the_error_of_a_service_that_is_down_names_the_service_and_its_setting(name: str, tmp_path: Path) -> None:
    kind, start, attempts = DOWN[name]
    client = caught(NODE[name])
    project = project_for(client, tmp_path)
    async with upstreams(tmp_path) as addresses:
        finished = await record(project, client, {**addresses, "MODELV1": f"{CLOSED}/v1"})
    error = error_of(finished)
    told = f'service "llm" at {CLOSED} did not answer: nobody listens there'
    assert error["class"] == kind
    assert error["message"].startswith(start + told)
    assert "[services.llm]" in error["message"]
    assert f"Proctor: {told}" in printed(finished)
    assert statuses(project, finished) == [502] * attempts
    assert finished.stderr.count(f"not sealed: {told}") == 1


@pytest.mark.parametrize(("name", "events"), CUT)
async def test_a_stream_that_breaks_off_is_an_error_and_proctor_says_whose(
    name: str, events: int, tmp_path: Path
) -> None:
    kind, start, attempts = CUT[name, events]
    client = caught(NODE[name])
    project = project_for(client, tmp_path)
    async with upstreams(tmp_path, cut_model(events)) as addresses:
        finished = await record(project, client, addresses)
    error = error_of(finished)
    assert error["class"] == kind
    assert error["message"].startswith(start)
    assert statuses(project, finished) == [200] * attempts
    assert finished.stderr.count("not sealed: llm POST /") == 1
    assert "the real service broke off" in finished.stderr
    assert finished.summary["aside"]
