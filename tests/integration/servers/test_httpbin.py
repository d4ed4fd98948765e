"""Httpbin (the maintained one, of PSF) over every route and method that it has: recorded, stopped, replayed."""

from __future__ import annotations

from tests.integration.servers.support import comparable, installed, program, record, replay, started
from tests.support import Project

pytestmark = installed

CONFIG = "".join(
    f"""\
[services.{name}]
url = "{{url}}"
env = ["{name.upper()}_URL"]
key_headers = ["Accept", "If-None-Match", "If-Modified-Since"]
expected_status = [401, 429, 500, 503]
"""
    for name in ("httpbin", "alice", "mallory", "digest", "bearer")
)
SECRETS = {
    "RIGHT_PASSWORD": "kV7-right-Xw29-Lq",
    "WRONG_PASSWORD": "nQ4-wrong-Zt83-Pd",
    "HTTPBIN_TOKEN": "tk-live-7Hs2Kq9Lm4Xv",
}


async def test_requests_sees_of_every_route_what_it_saw(project: Project) -> None:
    async with started("httpbin_server.py") as server:
        project.configure(CONFIG.format(url=server.url))
        routes = server.told["routes"]
        listed = project.root / "routes"
        listed.write_text("\n".join(routes), encoding="utf-8")
        command = program("httpbin_client.py", str(listed))
        seen = await record(project, command, SECRETS)
    again = await replay(project, command)
    assert [name for name, _ in again.steps][: len(routes)] == routes
    cookies = {value for _, before in seen.steps for _, value in before["cookies"]}
    secrets = (*SECRETS.values(), *sorted(cookies, key=len, reverse=True))
    for (name, before), (_, after) in zip(seen.steps, again.steps, strict=True):
        assert comparable(after, *secrets).splitlines() == comparable(before, *secrets).splitlines(), name
