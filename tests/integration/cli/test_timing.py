"""`replay --timing`: an agent's time-out meets the silence that the real stream had."""

from __future__ import annotations

import sys

import pytest

from proctor.cassette import Cassette, save_cassette
from proctor.interaction import Interaction, Request, Response
from proctor.pieces import Pieces
from tests.support import Project, services

EVENTS = (b"data: first\n\n", b"data: second\n\n")
HOUR = 3600
AGENT = """\
import os, socket
from urllib.parse import urlsplit
url = urlsplit(os.environ["DESK_URL"])
with socket.create_connection((url.hostname, url.port), timeout=2) as connection:
    connection.sendall(f"GET {url.path}/stream HTTP/1.1\\r\\nHost: desk\\r\\nConnection: close\\r\\n\\r\\n".encode())
    got = b""
    try:
        while data := connection.recv(4096):
            got += data
        print("ended after", got.count(b"data: "))
    except TimeoutError:
        print("gave up after", got.count(b"data: "))
"""


@pytest.mark.parametrize(("options", "told"), [((), "ended after 2"), (("--timing",), "gave up after 1")])
async def test_an_agent_that_waits_two_seconds_gives_up_on_an_hour_s_silence_only_with_timing(
    project: Project, options: tuple[str, ...], told: str
) -> None:
    project.configure(services(desk="http://desk.test"))
    project.script("agent.py", AGENT)
    pieces = Pieces((len(EVENTS[0]), len(EVENTS[1])), (0, HOUR * 1000))
    answer = Response(200, "OK", (("Content-Type", "text/event-stream"),), b"".join(EVENTS), pieces=pieces)
    asked = Request("desk", "GET", "/stream", (), b"")
    made = Interaction(0, asked, answer, "http://desk.test/stream", "read", "method", seconds=HOUR)
    save_cassette(project.layout.cassette("t"), Cassette("t", (made,), {"services": {"desk": "http://desk.test"}}))
    done = await project.proctor("replay", "--cassette", "t", *options, "--", sys.executable, "agent.py")
    assert (done.status, done.stdout.strip()) == (0, told), done.stderr
