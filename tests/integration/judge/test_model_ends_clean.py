"""However a program that asks a live model ends, nothing is left open and nothing complains."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import ROOT, clean_environment

PROGRAM = """
    import asyncio, gc, os, stat, sys

    allowed = []
    def refuse(event, arguments):
        if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto") and "127.0.0.1" not in str(arguments):
            print("NETWORK", event, arguments, file=sys.stderr)
            raise OSError("no network here")
    sys.addaudithook(refuse)

    from dataclasses import replace
    from proctor.model import model_of
    from proctor.model_call import Message, ModelCall, ModelFailure
    from tools.stand_in_judge_server import Answer, in_turn, serving_judge

    END = None
    CALL = ModelCall((Message("user", "JSON, please"),), "safety", {"type": "object"}, 1, 100, 30)

    async def ask(answers, call=CALL):
        async with serving_judge(in_turn(answers)) as server:
            model = model_of("openai/of-our-own", base_url=server.url, wait=lambda seconds: asyncio.sleep(0))
            task = asyncio.create_task(model.ask(call))
            if END is None:
                return await task
            while not server.asked:
                await asyncio.sleep(0.01)
            return await END(task)

    def sockets():
        return sum(1 for name in os.listdir("/dev/fd") if is_socket(int(name)))

    def is_socket(number):
        try:
            return stat.S_ISSOCK(os.fstat(number).st_mode)
        except OSError:
            return False  # the folder itself, read a moment ago

    def failing(*arguments):
        try:
            asyncio.run(ask(*arguments))
        except ModelFailure as failure:
            print(failure.cause, len(failure.attempts))
        gc.collect()
"""
IN_MANY_WAYS = """
    failing([Answer(hang=True)], replace(CALL, timeout=0.1))
    for turn in range(2):
        print(asyncio.run(model_of("openai/of-our-own", base_url=os.environ["ELSEWHERE"]).ask(CALL)).text)
        gc.collect()
        print("open sockets:", sockets())
    failing([Answer(cut=True)])
    failing([Answer(hang=True)], replace(CALL, timeout=0.1))

    async def END(task):
        task.cancel()
        await asyncio.wait([task])
        print("cancelled" if task.cancelled() else task)

    asyncio.run(ask([Answer(hang=True)]))
    gc.collect()
"""
BY_CTRL_C = """
    async def END(task):
        print("asked", flush=True)
        await task

    try:
        asyncio.run(ask([Answer(hang=True)]))
    except KeyboardInterrupt:
        print("interrupted")
    gc.collect()
"""


def started(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", *arguments],
        cwd=ROOT,
        env={**clean_environment(), "OPENAI_API_KEY": "any", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def program(ending: str) -> tuple[str, str]:
    return "-c", textwrap.dedent(PROGRAM) + textwrap.dedent(ending)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """The URL of a stand-in server in a process of its own, which keeps connections open."""
    script = tmp_path / "script.json"
    script.write_text('{"replies": ["{}"]}')
    server = started("-m", "tools.stand_in_judge_server", f"stand-in/scripted:{script}")
    assert server.stdout is not None
    announced = server.stdout.readline()
    yield announced.split()[-1]
    server.terminate()
    assert (*server.communicate(timeout=30), server.returncode) == ("", "", 0)
    assert announced.startswith("stand-in judge (rules, not an LLM) listening on http://127.0.0.1:")


def test_nothing_is_left_open_and_nobody_else_is_asked(elsewhere: str) -> None:
    process = started(*program(IN_MANY_WAYS), ELSEWHERE=elsewhere)
    stdout, stderr = process.communicate(timeout=100)
    assert stderr == ""
    replies = ["{}", "open sockets: 0"] * 2
    assert stdout.split("\n") == ["timeout 3", *replies, "unreachable 3", "timeout 3", "cancelled", ""]
    assert process.returncode == 0


def test_nothing_is_left_open_after_ctrl_c() -> None:
    process = started(*program(BY_CTRL_C))
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGINT)
    assert (*process.communicate(timeout=100), process.returncode) == ("interrupted\n", "", 0)
