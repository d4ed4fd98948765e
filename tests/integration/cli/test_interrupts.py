"""Ctrl-C ends the agent, not the bookkeeping: the session is closed and told, and nothing runs on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from typing import Any

import pytest

from tests.integration.cli.support import Desk, agent, kept, put_aside, record, started
from tests.support import Project, services, serving

READY = 'call(DESK + "/a"); {handler}; print("ready", os.getpid(), flush=True)\nwhile True: signal.pause()'
HANDLES = "signal.signal(signal.{name}, lambda *_: sys.exit(0))"
DIES = {
    "SIGINT": "signal.signal(signal.SIGINT, signal.default_int_handler)",
    "SIGTERM": "signal.signal(signal.SIGTERM, signal.SIG_DFL)",
}


async def ready(process: asyncio.subprocess.Process) -> int:
    """The process id of the agent, once it has asked and waits."""
    assert process.stdout is not None
    word, pid = (await process.stdout.readline()).split()
    assert word == b"ready"
    return int(pid)


async def told(process: asyncio.subprocess.Process) -> tuple[dict[str, Any], str]:
    """The JSON summary and the words of a command that comes to its end."""
    stdout, stderr = await process.communicate()
    summary: dict[str, Any] = json.loads(stdout.splitlines()[-1])
    return summary, stderr.decode()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
async def test_an_agent_that_ends_well_on_a_signal_leaves_a_closed_and_told_session(
    project: Project, name: str
) -> None:
    source = READY.format(handler=HANDLES.format(name=name))
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with started(project, "record", "--cassette", "t", "--json", "--", *agent(source)) as process:
            pid = await ready(process)
            process.send_signal(signal.Signals[name])
            summary, words = await told(process)
    assert (process.returncode, summary["status"], summary["command_status"]) == (0, 0, 0)
    assert summary["recorded"] == 1
    assert "proctor: recorded t" in words
    assert "Traceback" not in words
    assert not alive(pid)
    assert (project.layout.sessions / summary["session"] / "summary.json").is_file()
    assert list(project.layout.journals.iterdir()) == []


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
async def test_an_agent_that_dies_of_a_signal_leaves_the_old_tape_and_a_told_session(
    project: Project, name: str, status: int
) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        assert (await record(project, 'call(DESK + "/a")')).status == 0
        old = project.layout.cassette("t").read_bytes()
        source = READY.format(handler=DIES[name])
        async with started(project, "record", "--cassette", "t", "--json", "--", *agent(source)) as process:
            pid = await ready(process)
            process.send_signal(signal.Signals[name])
            summary, words = await told(process)
    assert (process.returncode, summary["status"], summary["command_status"]) == (status, status, status)
    assert f"the command ended with status {status}" in words
    assert not alive(pid)
    assert project.layout.cassette("t").read_bytes() == old
    assert kept(project) == [".proctor/aside/t.yaml", "cassettes/t.yaml"]
    assert f"the command ended with status {status}" in put_aside(project.layout)


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
async def test_an_interrupted_replay_is_told_with_what_it_did(project: Project, name: str, status: int) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        assert (await record(project, 'call(DESK + "/a"); call(DESK + "/b")')).status == 0
    source = READY.format(handler=DIES[name])
    async with started(project, "replay", "--cassette", "t", "--json", "--", *agent(source)) as process:
        pid = await ready(process)
        process.send_signal(signal.Signals[name])
        summary, words = await told(process)
    assert (process.returncode, summary["hits"], summary["unused"]) == (status, 1, ["#1 desk GET /b"])
    assert "proctor: replayed t" in words
    assert not alive(pid)
    assert len(project.trace(summary["session"])) == 1


async def test_a_second_interrupt_kills_an_agent_that_ignores_the_first(project: Project) -> None:
    source = READY.format(handler='signal.signal(signal.SIGINT, lambda *_: print("still here", flush=True))')
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with started(project, "record", "--cassette", "t", "--json", "--", *agent(source)) as process:
            pid = await ready(process)
            process.send_signal(signal.SIGINT)
            assert process.stdout is not None
            assert await process.stdout.readline() == b"still here\n"
            process.send_signal(signal.SIGINT)
            summary, words = await told(process)
    assert (process.returncode, summary["command_status"]) == (137, 137)
    assert "the command ended with status 137" in words
    assert not alive(pid)
    assert kept(project) == [".proctor/aside/t.yaml"]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
async def test_an_agent_behind_a_shell_does_not_run_on_when_proctor_is_told_to_stop(
    project: Project, name: str
) -> None:
    source = project.script("agent.py", "\n".join((agent("")[2], READY.format(handler=DIES[name]))))
    command = ("sh", "-c", f"{agent('')[0]} {source}; exit $?")
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with started(project, "record", "--cassette", "t", "--json", "--", *command) as process:
            pid = await ready(process)
            process.send_signal(signal.Signals[name])
            try:
                # Its stdout ends when the last process that holds it is gone; the limit only ends a test that fails.
                summary, _ = await asyncio.wait_for(told(process), 10)
            except TimeoutError:
                pytest.fail("the agent behind the shell still runs")
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    assert summary["status"] == process.returncode == {"SIGINT": 130, "SIGTERM": 143}[name]
