"""A live model wants a call that nobody recorded: the tape is extended by exactly that call."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from aiohttp import web

from examples.order_desk import completions, server
from examples.order_desk.history import read_history
from examples.order_desk.plans import Call, Move, next_move
from proctor.interaction import header
from tests.integration.cli.support import PATH, all_files
from tests.integration.order_desk.support import staging
from tests.support import Finished, Project, serving, serving_app

TAPE = "order_desk/refund_zh"
NO_STAGING = {"ORDER_DESK_URL": "http://127.0.0.1:9"}
KEY = {"OPENAI_API_KEY": "sk-a-real-key-of-today-4711-abcdef"}
AGENT = ("python", "examples/order_desk/agent.py", "--conversation", "refund_zh", "--json")
NEW = "--mode", "desk=new_episodes"


async def curious(request: web.Request) -> web.StreamResponse:
    """The stand-in model, which after a refund wants to know where the parcel is, too."""
    body = json.loads(await request.read())
    called = {
        call["id"]: call["function"]["name"] for message in body["messages"] for call in message.get("tool_calls") or ()
    }
    names, last = set(called.values()), body["messages"][-1]
    if last["role"] == "tool" and "create_refund" in names and "query_logistics" not in names:
        move: Move = (Call("query_logistics", {"order_id": "CN1001"}),)
    else:
        others = [each for each in body["messages"] if not _of_logistics(each, called)]
        move = next_move(read_history(others), completions.read(body).offered)
    return web.json_response(completions.whole(move), headers={"x-proctor-stand-in": "order-desk-rules"})


def _of_logistics(message: dict[str, Any], called: dict[str, str]) -> bool:
    ids = [message.get("tool_call_id"), *(call["id"] for call in message.get("tool_calls") or ())]
    return any(called.get(each) == "query_logistics" for each in ids)


def named_command(done: Finished) -> list[str]:
    """The words after `proctor` of the command that a miss names."""
    (fix,) = {miss["fix"] for miss in done.summary["misses"]}
    _, _, command = fix.partition("extend the tape by it: ")
    assert command, fix
    return shlex.split(command)[1:]


def interactions_text(project: Project, tape: str) -> str:
    return project.layout.cassette(tape).read_text(encoding="utf-8").partition("\ninteractions:\n")[2]


async def test_a_new_call_of_a_live_model_ends_as_off_tape_and_the_named_command_extends_the_tape(
    desk_project: Project, tmp_path: Path
) -> None:
    before, old = interactions_text(desk_project, TAPE), desk_project.tape(TAPE)
    async with serving(curious) as model:
        live = {**KEY, **PATH, "ORDER_DESK_LLM_URL": model}
        options = ("replay", "--cassette", TAPE, "--mode", "llm=live", "--json", "--")
        off = await desk_project.proctor(*options, *AGENT, env={**live, **NO_STAGING})
        assert off.status == 3, off.stderr
        assert [miss["code"] for miss in off.summary["misses"]] == ["off_tape"]
        command = named_command(off)
        assert command[command.index("--") + 1 :] == list(AGENT)
        async with staging("ORDER_DESK_URL") as desk:
            extended = await desk_project.proctor(*command, env={**live, **desk})
        assert extended.status == 0, extended.stderr
        assert "1 new episode: orders query_logistics" in extended.stderr
        assert "5 calls of the tape, so that staging is in the same state" in extended.stderr
        assert interactions_text(desk_project, TAPE).startswith(before)
        *kept_as_they_were, new = desk_project.tape(TAPE).interactions
        assert tuple(kept_as_they_were) == old.interactions
        assert (new.tool, new.response.status, new.index) == ("query_logistics", 200, len(old.interactions))
        assert new.after == tuple(each.index for each in old.interactions if each.effect == "write")
        passed = await desk_project.proctor(*options, *AGENT, env={**live, **NO_STAGING})
        assert passed.status == 0, passed.stderr
    told = json.loads(passed.stdout.splitlines()[0])
    assert told["tool_calls"] == json.loads(extended.stdout.splitlines()[0])["tool_calls"]
    assert "query_logistics" in [call["name"] for call in told["tool_calls"]]
    as_before = await desk_project.proctor("replay", "--cassette", TAPE, "--json", "--", *AGENT, env=PATH)
    assert as_before.status == 0, as_before.stderr
    assert as_before.summary["other_states"] == []


async def test_a_tape_extended_by_model_and_tools_replays_with_nothing_running(
    desk_project: Project, tmp_path: Path
) -> None:
    modes = ("--mode", "llm=new_episodes", "--mode", "orders=new_episodes")
    async with serving(curious) as model, staging("ORDER_DESK_URL") as desk:
        env = {**KEY, **PATH, **desk, "ORDER_DESK_LLM_URL": model}
        # The first completion after the refund is new; all that the tape has of the model is answered from it.
        done = await desk_project.proctor(
            "replay", "--cassette", TAPE, *modes, "--allow-unused", "--json", "--", *AGENT, env=env
        )
    assert done.status == 0, done.stderr
    replayed = await desk_project.proctor("replay", "--cassette", TAPE, "--json", "--", *AGENT, env=PATH)
    assert replayed.status == 0, replayed.stderr


async def test_no_secret_of_staging_or_of_the_model_reaches_a_file(desk_project: Project, tmp_path: Path) -> None:
    tokens: list[str] = []
    app = server.create_app()

    async def note(request: web.Request, response: web.StreamResponse) -> None:
        if request.path == "/tools/get_token" and isinstance(response, web.Response) and response.text:
            tokens.append(json.loads(response.text)["token"])

    app.on_response_prepare.append(note)
    modes = ("--mode", "llm=live", "--mode", "orders=new_episodes")
    async with serving(curious) as model, serving_app(app) as url:
        env = {**KEY, **PATH, "ORDER_DESK_URL": url, "ORDER_DESK_LLM_URL": model}
        done = await desk_project.proctor("replay", "--cassette", TAPE, *modes, "--json", "--", *AGENT, env=env)
    assert done.status == 0, done.stderr
    assert len(tokens) == 1
    new = desk_project.tape(TAPE).interactions[-1]
    assert (header(new.request.headers, "authorization") or "").startswith("Bearer proctor-redacted-")
    assert "request.headers" in new.redacted
    files = [path for path in all_files(desk_project.root) if path.name != "staging.db"]
    for secret in (*tokens, KEY["OPENAI_API_KEY"]):
        assert [str(path) for path in files if secret.encode() in path.read_bytes()] == []
        assert secret not in done.stdout + done.stderr
