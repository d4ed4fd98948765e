"""A proxy whose services are all in replay makes no connection and no look-up, whatever is asked.

The real command runs with an audit hook that writes down every connect and every name look-up of its process. The
launcher's own control client, which talks to the proxy's own port, is the only one allowed.
"""

from __future__ import annotations

import json
import sys

import pytest
from aiohttp import web

from tests.support import Finished, Project, run, serving, session

TRAP = """
import json, os, sys
def trap(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}:
        where = arguments[1] if event in {"socket.connect", "socket.sendto"} else arguments[:2]
        with open(os.environ["TRAP_LOG"], "a") as log:
            log.write(json.dumps([event, repr(where)]) + "\\n")
sys.addaudithook(trap)
from proctor.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
HIT_AND_MISS = """
import os, urllib.error, urllib.request
desk = os.environ["DESK_URL"]
print(urllib.request.urlopen(desk + "/known").read())
for path in ("/unknown", "/once", "/once"):
    method = "DELETE" if path == "/once" else "GET"
    try:
        urllib.request.urlopen(urllib.request.Request(desk + path, method=method))
    except urllib.error.HTTPError as error:
        print(path, error.code, error.headers["x-proctor-miss"])
"""
REDIRECTED = """
import os, urllib.request
print(urllib.request.urlopen(os.environ["DESK_URL"] + "/moved").read())
"""
LED_AWAY = """
import json, os, urllib.error, urllib.request
away = json.load(urllib.request.urlopen(os.environ["DESK_URL"] + "/known"))["self"]
try:
    urllib.request.urlopen(away)
except urllib.error.HTTPError as refused:
    print(refused.code)
"""
SDK = """
import openai
client = openai.OpenAI()
try:
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "changed"}])
except openai.UnprocessableEntityError as error:
    print("ONE ERROR", error)
"""


async def upstream(request: web.Request) -> web.StreamResponse:
    if request.path == "/moved":
        raise web.HTTPFound(f"http://{request.host}/known")
    if request.path.endswith("/completions"):
        message = {"role": "assistant", "content": "hello"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response(
            {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        )
    return web.json_response({"path": request.path, "self": f"http://{request.host}{request.path}"})


@pytest.fixture
async def recorded(project: Project) -> Project:
    """A project whose tape was recorded from a service that is gone now."""
    async with serving(upstream) as url:
        project.configure(
            f'[services.desk]\nurl = "{url}"\nenv = ["DESK_URL"]\n[services.llm]\npreset = "openai"\nurl = "{url}/v1"\n'
        )
        async with session(project, "gone") as runner:
            await runner.http.get(runner.url("desk", "/known"))
            await runner.http.delete(runner.url("desk", "/once"))
            await runner.http.get(runner.url("desk", "/moved"), allow_redirects=False)
            body = {"messages": [{"role": "user", "content": "recorded"}], "model": "m"}
            await runner.http.post(
                runner.url("llm", "/chat/completions"), json=body, headers={"Authorization": "Bearer sk-recorded"}
            )
            assert (await runner.close()).sealed
    return project


async def trapped(project: Project, agent: str) -> tuple[Finished, list[str]]:
    """Run an agent in replay; gives what it came to, and every connection and look-up of Proctor's process."""
    project.script("trap.py", TRAP)
    script = project.script("agent.py", agent)
    log = project.root / "trap.log"
    log.touch()
    python = sys.executable
    command = (python, "trap.py", "replay", "--cassette", "gone", "--allow-unused", "--json", "--", python, str(script))
    done = await run(*command, cwd=project.root, env={"TRAP_LOG": str(log)})
    return done, [json.loads(line)[1] for line in log.read_text().splitlines()]


def assert_only_itself(done: Finished, tried: list[str]) -> None:
    """Every connection went to the proxy's own port, none to a name."""
    assert tried, "the trap saw not even the control client: it does not work"
    ports = {where.rpartition(",")[2].strip(" )") for where in tried}
    assert len(ports) == 1, tried
    assert all("127.0.0.1" in where for where in tried), tried


async def test_hits_misses_and_a_used_up_write_reach_nobody(recorded: Project) -> None:
    done, tried = await trapped(recorded, HIT_AND_MISS)
    assert done.status == 3, done.stderr
    assert "/unknown 422 not_recorded" in done.stdout
    assert done.stdout.count("/once 422 used_up") == 1
    assert_only_itself(done, tried)


async def test_a_recorded_redirect_to_staging_is_followed_on_the_tape_and_reaches_nobody(recorded: Project) -> None:
    done, tried = await trapped(recorded, REDIRECTED)
    assert done.status == 0, done.stderr
    assert '"path": "/known"' in done.stdout
    assert (done.summary["hits"], done.summary["hosts"]) == (2, [])
    assert_only_itself(done, tried)


async def test_an_address_of_staging_that_an_answer_just_tells_reaches_nobody(recorded: Project) -> None:
    done, tried = await trapped(recorded, LED_AWAY)
    assert done.status == 3, done.stderr
    assert done.stdout.splitlines()[0] == "403"
    assert done.summary["hosts"][0]["service"] == "desk"
    assert_only_itself(done, tried)


async def test_an_sdk_meets_one_readable_error_and_does_not_retry(recorded: Project) -> None:
    done, tried = await trapped(recorded, SDK)
    assert done.status == 3, done.stderr
    assert done.stdout.count("ONE ERROR") == 1
    assert "Proctor: llm POST /chat/completions" in done.stdout
    assert 'body /messages/0/content: recorded "recorded", got "changed"' in done.summary["misses"][0]["diff"]
    assert [miss["count"] for miss in done.summary["misses"]] == [1]
    assert_only_itself(done, tried)
