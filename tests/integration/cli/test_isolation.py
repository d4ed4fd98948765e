"""`--isolate`: the command reaches the proxy and nothing else, and is otherwise as it ever was."""

from __future__ import annotations

import asyncio
import errno
import os
import pty
import signal
import socket
import sys
from pathlib import Path

import pytest

from proctor.cli.isolation import Isolation, check_isolation
from proctor.cli.listening import Listening
from proctor.errors import PlatformError, UsageError
from proctor.wire import SessionSpec
from tests.integration.cli.support import Desk, agent, error_of, kept, record, replay, started
from tests.integration.cli.test_interrupts import DIES, READY, alive, ready, told
from tests.support import Project, clean_environment, namespaces_permitted, run, services, serving

isolating = pytest.mark.skipif(not namespaces_permitted(), reason="this machine permits no network namespaces")

PAST = """
import asyncio, aiohttp

async def past():
    async with aiohttp.ClientSession() as http:
        try:
            async with http.get(os.environ["DIRECT"] + "/past") as answer:
                return answer.status
        except aiohttp.ClientConnectorError as error:
            return error.errno

call(DESK + "/a")
print(asyncio.run(past()))
"""
LAST = "  isolated    the command had a network of its own, with the proxy in it and nothing else\n"


@isolating
async def test_a_client_that_ignores_proxy_variables_goes_past_unseen_and_cannot_where_it_is_isolated(
    project: Project,
) -> None:
    desk = Desk()
    async with serving(desk.answer) as url:
        project.configure(services(desk=url))
        unseen = await record(project, PAST, env={"DIRECT": url})
        assert (desk.asked, unseen.stdout.splitlines()[0]) == (["/a", "/past"], "200")
        isolated = await record(project, PAST, "--isolate", env={"DIRECT": url})
    assert desk.asked == ["/a", "/past", "/a"]
    assert isolated.stdout.splitlines()[0] == str(errno.ECONNREFUSED)
    assert (unseen.status, unseen.summary["hosts"], unseen.summary["isolated"]) == (0, [], False)
    assert "not watched without --isolate" in unseen.stderr.splitlines()[-1]
    assert (isolated.status, isolated.summary["isolated"]) == (0, True)
    assert isolated.stderr.endswith(LAST)
    assert "not watched" not in isolated.stderr
    replayed = await replay(project, PAST, "--isolate", env={"DIRECT": url})
    assert (replayed.status, replayed.summary["hits"], replayed.stderr.endswith(LAST)) == (0, 1, True)
    shown = await project.proctor("session", "show")
    assert shown.stdout.endswith(LAST)


@isolating
async def test_no_other_host_and_no_name_server_is_there_and_a_proxied_call_is_still_told(project: Project) -> None:
    source = """
import socket
call(DESK + "/a")
for family, address in ((socket.AF_INET, ("203.0.113.7", 80)), (socket.AF_INET6, ("2001:db8::7", 80))):
    try:
        socket.socket(family).connect(address)
    except OSError as error:
        print(error.errno)
try:
    socket.getaddrinfo("staging.example", 80)
except socket.gaierror:
    print("no name")
print(socket.if_nameindex())
print(call("http://staging.example/")[0])
"""
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        ended = await record(project, source, "--isolate")
    unreachable = str(errno.ENETUNREACH)
    assert ended.printed == [unreachable, unreachable, "no name", "[(1, 'lo')]", "403"]
    assert (ended.status, ended.summary["hosts"][0]["host"]) == (3, "staging.example:80")


@isolating
async def test_a_live_service_is_asked_through_the_proxy_and_a_tape_is_extended_too(project: Project) -> None:
    source = 'call(DESK + "/a"); print(call(LINE + "/b")[0])'
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url, line=url))
        assert (await record(project, source, "--isolate")).status == 0
        live = await replay(project, source, "--isolate", "--mode", "line=live")
        extended = await replay(project, source + '; call(LINE + "/c")', "--isolate", "--mode", "line=new_episodes")
    assert (live.status, live.summary["live"], live.summary["hits"]) == (0, 1, 1)
    assert (extended.status, extended.summary["episodes"]) == (0, ["line GET /c"])


@isolating
async def test_everything_but_the_network_is_as_without(project: Project) -> None:
    shell = """
curl -s "$DESK_URL/a" > /dev/null
id; pwd; umask; grep -E "SigIgn|SigBlk|Groups" /proc/self/status
env | cut -d= -f1 | sort | tr "\\n" " "
ls /proc/self/fd | wc -l
touch made; stat -c "%u %g %a" made; stat -c "%u %g %a" proctor.toml; stat -c "%u" /
exit 7
"""
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        plain, isolated = [
            await project.proctor("record", "--cassette", "t", *options, "--", "sh", "-c", shell)
            for options in ((), ("--isolate",))
        ]
    assert isolated.stdout == plain.stdout
    assert (isolated.status, plain.status) == (7, 7)
    assert len(plain.stdout.splitlines()) >= 10


@isolating
@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
async def test_a_signal_reaches_an_isolated_agent_and_its_status_comes_back(
    project: Project, name: str, status: int
) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        command = agent(READY.format(handler=DIES[name]))
        async with started(project, "record", "--isolate", "--cassette", "t", "--json", "--", *command) as process:
            pid = await ready(process)
            process.send_signal(signal.Signals[name])
            summary, _ = await told(process)
    assert (process.returncode, summary["command_status"], summary["recorded"]) == (status, status, 1)
    assert not alive(pid)


@isolating
async def test_at_a_terminal_an_isolated_agent_can_ask_and_ctrl_c_ends_it(project: Project) -> None:
    source = """
call(DESK + "/a")
print("asks", os.isatty(0), os.tcgetpgrp(0) == os.getpgrp(), flush=True)
print("got", input(), flush=True)
signal.pause()
"""
    ours, theirs = pty.openpty()
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        process = await asyncio.create_subprocess_exec(
            *("setsid", "--ctty", sys.executable, "-m", "proctor", "record", "--isolate", "--cassette", "t", "--"),
            *agent(source),
            cwd=project.root,
            env=clean_environment(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        try:
            screen = await seen(ours, "asks True True")
            os.write(ours, "你好\n".encode())
            screen += await seen(ours, "got 你好")
            os.write(ours, b"\x03")
            screen += await seen(ours, "isolated    the command")
            assert await process.wait() == 130
        finally:
            os.close(ours)  # which hangs up on whoever is still there
            await process.wait()
    assert "status      130" in screen


async def seen(terminal: int, wanted: str) -> str:
    """What a terminal shows until `wanted` stands there."""
    screen = b""
    while wanted.encode() not in screen:
        screen += await asyncio.to_thread(os.read, terminal, 4096)
    return screen.decode(errors="replace")


@isolating
async def test_nobody_needs_to_be_root(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        command = ("record", "--isolate", "--cassette", "t", "--json", "--", "sh", "-c")
        shell = 'curl -s "$DESK_URL/a" > made; id -u; id -g; stat -c "%u" made; grep CapEff /proc/self/status'
        as_user = ("unshare", "--user", "--map-user=1234", "--map-group=1234", sys.executable, "-m", "proctor")
        ended = await run(*as_user, *command, shell, cwd=project.root)
    assert ended.status == 0, ended.stderr
    assert ended.printed == ["1234", "1234", "1234", f"CapEff:\t{0:016x}"]


@isolating
async def test_where_namespaces_are_not_permitted_nothing_runs_and_the_way_out_is_told(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    forbidding = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$0" -m proctor "$@"'
    command = ("record", "--isolate", "--cassette", "t", "--json", "--", "touch", "ran")
    ended = await run(
        "unshare", "--user", "--map-root-user", "sh", "-c", forbidding, sys.executable, *command, cwd=project.root
    )
    error = error_of(ended)
    assert (ended.status, error["code"]) == (2, "isolate_not_permitted")
    assert "No space left on device" in error["message"]
    assert "seccomp=unconfined" in error["fix"]
    assert not (project.root / "ran").exists()
    assert kept(project) == []


@isolating
async def test_a_file_that_is_no_program_is_told_as_without(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    script = project.script("agent.sh", "no program")
    script.chmod(0o755)
    ended = await project.proctor("record", "--isolate", "--cassette", "t", "--json", "--", "./agent.sh")
    assert (ended.status, error_of(ended)["code"]) == (2, "command_not_runnable")


@isolating
async def test_a_tape_is_recorded_again_in_isolation_where_that_is_asked(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        command = ("--", "sh", "-c", 'curl -s "$DESK_URL/a"')
        assert (await project.proctor("record", "--cassette", "t", *command)).status == 0
        ended = await project.proctor("record", "--again", "t", "--isolate")
    assert ended.status == 0, ended.stderr
    assert LAST in ended.stderr


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--host", "0.0.0.0"), "isolate_with_host"),
        (("--advertise", "http://host.test:80"), "isolate_with_host"),
        ((), "isolate_with_pass_hosts"),
    ],
)
async def test_what_no_isolated_command_can_have_is_refused(
    project: Project, options: tuple[str, ...], code: str
) -> None:
    passing = "" if options else 'pass_hosts = ["telemetry.example"]\n'
    project.configure(passing + services(desk="http://127.0.0.1:9"))
    ended = await project.proctor("record", "--isolate", *options, "--cassette", "t", "--json", "--", "touch", "ran")
    assert (ended.status, error_of(ended)["code"]) == (2, code)
    assert not (project.root / "ran").exists()


async def test_where_the_way_inside_breaks_off_it_is_our_failure_and_nothing_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def listen(_: socket.socket) -> None:
        raise AssertionError("there is nothing to listen on")

    monkeypatch.setattr(sys, "executable", "/bin/true")
    with pytest.raises(PlatformError, match="ended before the command could begin"):
        await Isolation(1, listen).start(["touch", "ran"], cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_elsewhere_than_on_linux_it_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = SessionSpec(cassette="t", modes={"desk": "replay"}, isolated=True)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UsageError, match="namespaces of Linux") as refused:
        check_isolation(spec, Listening())
    assert refused.value.code == "isolate_needs_linux"
