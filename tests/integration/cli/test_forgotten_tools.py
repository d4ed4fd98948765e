"""A tool that goes past its variable is refused, reported and fails the run, whatever its HTTP client."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.integration.cli.support import Desk, kept, record, replay
from tests.support import Finished, Project, services, serving

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl, one of the clients, is not installed")

STRAIGHT = """
import subprocess

def by_requests(url):
    import requests
    return requests.get(url, timeout=10).status_code

def by_httpx(url):
    import httpx
    return httpx.get(url, timeout=10).status_code

def by_urllib(url):
    return call(url)[0]

def by_curl(url):
    code = ["curl", "-s", "-o", os.devnull, "-w", "%{http_code}", "--max-time", "10", url]
    return int(subprocess.run(code, capture_output=True, text=True).stdout)

def seen(by, url):
    try:
        return by(url)
    except Exception:
        return 0

REAL = os.environ["REAL"]
call(DESK + "/a")
tried = [REAL + "/past", REAL.replace("http:", "https:") + "/past", "http://tool.invalid/x", "https://tool.invalid/x"]
for by in (by_requests, by_httpx, by_urllib, by_curl):
    print(by.__name__, json.dumps([seen(by, url) for url in tried]))
"""


def assert_refused_and_told(ended: Finished, url: str) -> None:
    """Nothing that went straight anywhere was answered; every host is in the summary with its count."""
    assert ended.printed == [f"{by} [403, 0, 403, 0]" for by in ("by_requests", "by_httpx", "by_urllib", "by_curl")]
    real = url.removeprefix("http://")
    assert (ended.status, ended.summary["status"], ended.summary["command_status"]) == (3, 3, 0)
    assert ended.summary["hosts"] == [
        {"host": real, "method": "GET", "count": 4, "service": "desk"},
        {"host": real, "method": "CONNECT", "count": 4, "service": "desk"},
        {"host": "tool.invalid:80", "method": "GET", "count": 4, "service": None},
        {"host": "tool.invalid:443", "method": "CONNECT", "count": 4, "service": None},
    ]
    assert f"hosts tried {real} (4x), {real} (4x), tool.invalid:80 (4x), tool.invalid:443 (4x)" in ended.stderr
    assert f'GET went straight to {real}, 4 times, the address of service "desk"; refused' in ended.stderr
    assert 'env = ["..."] under [services.desk]' in ended.stderr
    assert "CONNECT went to tool.invalid:443, 4 times, which is no service; refused" in ended.stderr
    assert "pass_hosts" in ended.stderr


async def test_a_tool_that_goes_straight_to_staging_is_refused_by_every_client_while_recording_and_in_replay(
    project: Project,
) -> None:
    desk = Desk()
    async with serving(desk.answer) as url:
        project.configure(services(desk=url))
        good = await record(project, 'assert call(DESK + "/a")[0] == 200')
        old = project.layout.cassette("t").read_bytes()
        assert (good.status, good.summary["hosts"]) == (0, [])
        assert "hosts tried none past the services" in good.stderr
        recorded = await record(project, STRAIGHT, env={"REAL": url})
        assert_refused_and_told(recorded, url)
        assert f"GET went to {url.removeprefix('http://')}, past the services, and was refused" in " ".join(
            recorded.summary["aside_reasons"]
        )
        assert kept(project) == [".proctor/aside/t.yaml", "cassettes/t.yaml"]
        replayed = await replay(project, STRAIGHT, env={"REAL": url})
        assert_refused_and_told(replayed, url)
        assert replayed.summary["hits"] == 1
        assert project.layout.cassette("t").read_bytes() == old
    assert desk.asked == ["/a", "/a"], "a call past the services reached the real one"


PROXIES = """
call(DESK + "/a")
names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]
print(json.dumps([os.environ[spelled] for name in names for spelled in (name, name.lower())]))
print(call(os.environ["REAL"] + "/past")[0])
"""


async def test_inherited_proxy_variables_are_replaced_for_the_agent_and_reported(project: Project) -> None:
    desk = Desk()
    async with serving(desk.answer) as url:
        project.configure(services(desk=url))
        inherited = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "*", "HTTP_PROXY": "http://corp.invalid:3128"}
        ended = await record(project, PROXIES, env={**inherited, "REAL": url})
    assert desk.asked == ["/a"], "the inherited NO_PROXY let a call past"
    proxies, status = ended.stdout.splitlines()[:2]
    *addresses, no_proxy, no_proxy_low = json.loads(proxies)
    assert len(set(addresses)) == 1
    assert addresses[0].startswith(f"http://{ended.summary['session']}:proctor@127.0.0.1:")
    assert (no_proxy, no_proxy_low, status) == ("", "", "403")
    assert ended.status == 3
    assert "inherited NO_PROXY=127.0.0.1,localhost was replaced for the agent" in ended.stderr
    assert "inherited HTTP_PROXY=http://corp.invalid:3128 was replaced for the agent" in ended.stderr


async def test_inherited_proxy_variables_stand_in_the_summary_too(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        ended = await record(project, 'call(DESK + "/a")', env={"NO_PROXY": "corp.invalid"})
    assert ended.status == 0
    assert any("inherited NO_PROXY=corp.invalid" in note for note in ended.summary["notes"])


async def test_the_password_of_an_inherited_proxy_is_never_printed(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        ended = await record(project, 'call(DESK + "/a")', env={"HTTPS_PROXY": "http://ann:hunter2secret@corp.invalid"})
    assert "inherited HTTPS_PROXY=" in ended.stderr
    assert "hunter2secret" not in ended.stderr + ended.stdout


@pytest.mark.parametrize("client", ["urllib", "requests", "httpx", "curl"])
async def test_a_host_that_may_pass_goes_direct_while_recording_and_is_refused_in_replay(
    project: Project, client: str
) -> None:
    source = STRAIGHT.partition("REAL =")[0] + (
        f'call(DESK + "/a"); print(seen(by_{client}, os.environ["HELPER"] + "/help"), os.environ["NO_PROXY"])'
    )
    helper = Desk()
    async with serving(Desk().answer) as url, serving(helper.answer) as passed:
        named = passed.replace("127.0.0.1", "localhost")
        project.configure('pass_hosts = ["localhost"]\n' + services(desk=url))
        recorded = await record(project, source, env={"HELPER": named})
        assert (recorded.status, recorded.stdout.splitlines()[0]) == (0, "200 localhost")
        assert (recorded.summary["passed"], recorded.summary["hosts"]) == (["localhost"], [])
        assert "passed      localhost went direct, unseen (pass_hosts)" in recorded.stderr
        assert [i.request.target for i in project.tape("t").interactions] == ["/a"]
        replayed = await replay(project, source, env={"HELPER": named})
        assert (replayed.status, replayed.stdout.splitlines()[0]) == (3, "403 ")
        assert (replayed.summary["passed"], replayed.summary["hosts"][0]["host"]) == ([], named.removeprefix("http://"))
    assert helper.asked == ["/help"]


@pytest.mark.parametrize(("command", "mode"), [("replay", "record"), ("record", "replay")])
async def test_what_goes_direct_is_what_the_summary_says_in_a_mixed_set_up_too(
    project: Project, command: str, mode: str
) -> None:
    source = 'call(DESK + "/a"); call(LINE + "/a"); print("direct:", os.environ["NO_PROXY"])'
    async with serving(Desk().answer) as url:
        project.configure('pass_hosts = ["localhost"]\n' + services(desk=url, line=url))
        assert (await record(project, source)).status == 0
        run = record if command == "record" else replay
        ended = await run(project, source, "--mode", f"line={mode}")
    assert ended.stdout.splitlines()[0] == f"direct: {','.join(ended.summary['passed'])}"
