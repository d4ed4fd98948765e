"""The trap of `test_no_network_in_replay` proves itself on a recording, and watches sessions of mixed modes."""

from __future__ import annotations

import json
import sys
from urllib.parse import urlsplit

from aiohttp import web

from tests.integration.proxy.test_no_network_in_replay import TRAP
from tests.support import Finished, Project, run, serving

AGENT = """
import json, os, urllib.error, urllib.request
said = {"proxy": os.environ["PROCTOR_SESSION_URL"]}
for name in ("DESK_URL", "HELPER_URL"):
    for path in ("/known", "/unknown"):
        try:
            said[name + path] = urllib.request.urlopen(os.environ[name] + path).read().decode()
        except urllib.error.HTTPError as error:
            said[name + path] = error.code
print(json.dumps(said))
"""
FIRST = AGENT.replace('("/known", "/unknown")', '("/known",)')


async def trapped(project: Project, agent: str, *arguments: str) -> tuple[Finished, dict[str, object], set[int]]:
    """Run an agent under the trap; gives what it said, and the ports that Proctor's process connected to."""
    log = project.root / "trap.log"
    log.write_text("")
    project.script("trap.py", TRAP)
    command = (sys.executable, "trap.py", *arguments, "--", sys.executable, str(project.script("agent.py", agent)))
    done = await run(*command, cwd=project.root, env={"TRAP_LOG": str(log)})
    seen = [json.loads(line) for line in log.read_text().splitlines()]
    assert all(event == "socket.connect" for event, _ in seen), seen  # addresses are numbers: nothing to look up
    said = json.loads(done.stdout.splitlines()[0])
    own = urlsplit(str(said["proxy"])).port
    ports = {int(where.rpartition(",")[2].strip(" )")) for _, where in seen}
    assert own in ports
    return done, said, ports - {own}


async def hello(request: web.Request) -> web.StreamResponse:
    return web.Response(text=f"hello from {request.host}{request.path}")


def port_of_url(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


async def test_a_recording_reaches_its_services_and_a_replayed_service_is_not_reached_beside_a_live_one(
    project: Project,
) -> None:
    async with serving(hello) as desk, serving(hello) as helper:
        project.configure(
            f'[services.desk]\nurl = "{desk}"\nenv = ["DESK_URL"]\n'
            f'[services.helper]\nurl = "{helper}"\nenv = ["HELPER_URL"]\n'
        )
        done, _, reached = await trapped(project, FIRST, "record", "--cassette", "t")
        assert (done.status, reached) == (0, {port_of_url(desk), port_of_url(helper)}), done.stderr
        done, said, reached = await trapped(project, AGENT, "replay", "--cassette", "t", "--mode", "helper=live")
    assert done.status == 3
    assert reached == {port_of_url(helper)}
    assert (said["DESK_URL/unknown"], said["HELPER_URL/unknown"]) == (422, f"hello from {helper[7:]}/unknown")
