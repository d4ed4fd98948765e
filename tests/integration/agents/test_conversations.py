"""Agents as programs, services and functions: what they answer, how they fail, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from aiohttp import web

from proctor.agents import command as command_module
from proctor.agents.command import CommandConversation
from proctor.agents.contract import AgentFailed, Answered, Asked
from proctor.agents.http import HttpConversation
from tests.support import running, serving

SECONDS = 20.0


def asked(turn: int = 0, user: str = "hello") -> Asked:
    return Asked(case="c", trial=0, session="s", turn=turn, user=user)


def program(folder: Path, source: str) -> list[str]:
    path = folder / "agent.py"
    path.write_text(source, encoding="utf-8")
    return [sys.executable, str(path)]


async def talk(conversation: CommandConversation, *turns: str) -> list[Answered]:
    async with conversation as agent:
        return [await agent.ask(asked(number, user), SECONDS) for number, user in enumerate(turns)]


ECHO = """\
import json, os, sys
print("starting up")
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    print("thinking", file=sys.stderr)
    print(json.dumps({"reply": f"{asked['user']} {number} {os.environ['ORDERS_URL']}", "mine": 1}), flush=True)
"""


async def test_a_program_answers_a_line_for_a_line_and_keeps_its_process_for_all_turns(tmp_path: Path) -> None:
    conversation = CommandConversation(program(tmp_path, ECHO), {"ORDERS_URL": "http://x"}, turns=2)
    answers = await talk(conversation, "one", "zwei 二")
    assert [answer.reply for answer in answers] == ["one 0 http://x", "zwei 二 1 http://x"]
    assert (conversation.status, conversation.leaked) == (0, 0)
    assert "starting up" in conversation.shown()


async def test_a_program_that_reads_all_of_its_input_first_works_where_there_is_one_turn(tmp_path: Path) -> None:
    source = 'import sys, json\nasked = json.load(sys.stdin)\nprint(json.dumps({"reply": asked["user"]}))\n'
    (answer,) = await talk(CommandConversation(program(tmp_path, source), {}), "hello")
    assert answer.reply == "hello"


FAILURES = [
    ("import sys; sys.exit(3)", "agent_crashed", "ended with status 3"),
    ("raise ValueError('what a day')", "agent_crashed", "ended with status 1"),
    ("import os; os.kill(os.getpid(), 9)", "agent_crashed", "signal 9"),
    ("pass", "agent_ended", "status 0 and without an answer"),
    ("print('{not json')", "agent_garbage", "an answer is one JSON object"),
    ('print(\'{"answer": "x"}\')', "agent_garbage", "reply: Field required"),
    ("print('{\"reply\": 5}')", "agent_garbage", "reply: "),
    ("import os; os.write(1, b'{\\xff\\xfe}\\n')", "agent_garbage", ""),
    ("while True: print('x' * 70_000)", "agent_flood", "and no answer"),
    ("print('{' * 9_000_000)", "agent_flood", "a line of more than"),
]


@pytest.mark.parametrize(("source", "kind", "told"), FAILURES)
async def test_each_way_to_fail_has_a_name_and_nothing_runs_on(
    tmp_path: Path, source: str, kind: str, told: str
) -> None:
    conversation = CommandConversation(program(tmp_path, source), {})
    with pytest.raises(AgentFailed) as caught:
        await talk(conversation, "hello")
    assert (caught.value.kind, told in caught.value.message) == (kind, True), caught.value.message
    assert conversation._process.returncode is not None
    if "ValueError" in source:
        assert "what a day" in caught.value.shown, "the traceback is there to be read"


async def test_a_program_that_says_nothing_is_stopped_when_its_time_is_over(tmp_path: Path) -> None:
    source = "import time, sys\nprint('still here', flush=True)\ntime.sleep(600)"
    conversation = CommandConversation(program(tmp_path, source), {})
    with pytest.raises(AgentFailed) as caught:
        async with conversation as agent:
            await agent.ask(asked(), 1.5)
    assert (caught.value.kind, caught.value.message) == ("agent_timeout", "no answer within 1.5 s")
    assert conversation._process.returncode == -9


async def test_what_is_no_program_is_told() -> None:
    with pytest.raises(AgentFailed) as caught:
        await talk(CommandConversation(["/no/such/agent"], {}), "hello")
    assert (caught.value.kind, "/no/such/agent" in caught.value.message) == ("agent_unstartable", True)


LEAKING = """\
import json, os, subprocess, sys
child = [sys.executable, "-c", "import time; time.sleep(600)"]
started = [subprocess.Popen(child, start_new_session=alone, stdout=2) for alone in (False, True)]
print(json.dumps({"reply": " ".join(str(each.pid) for each in started)}), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a process that left its group is found in /proc")
async def test_processes_that_a_program_leaves_behind_are_ended_and_counted(tmp_path: Path) -> None:
    conversation = CommandConversation(program(tmp_path, LEAKING), {})
    (answer,) = await talk(conversation, "hello")
    assert (conversation.status, conversation.leaked >= 1) == (0, True)
    for process in map(int, answer.reply.split()):
        assert not running(process)


async def test_a_program_that_will_not_end_after_its_last_turn_is_killed_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_module, "GRACE", 0.5)
    source = 'import time\nprint(\'{"reply": "done"}\', flush=True)\ntime.sleep(600)'
    conversation = CommandConversation(program(tmp_path, source), {})
    (answer,) = await talk(conversation, "hello")
    assert (answer.reply, conversation.status) == ("done", None)
    assert "did not end" in conversation.shown()


async def test_sixteen_conversations_at_once_never_mix(tmp_path: Path) -> None:
    command = program(tmp_path, ECHO)

    async def one(number: int) -> list[str]:
        conversation = CommandConversation(command, {"ORDERS_URL": f"http://{number}"}, turns=2)
        return [answer.reply for answer in await talk(conversation, f"a{number}", f"b{number}")]

    answers = await asyncio.gather(*(one(number) for number in range(16)))
    assert answers == [[f"a{n} 0 http://{n}", f"b{n} 1 http://{n}"] for n in range(16)]


PYTHON = """\
import os
seen = []

async def agent(asked):
    print("a print is no answer", flush=True)
    os.system("echo neither is this")
    seen.append(asked["user"])
    return {"reply": " ".join(seen), "events": [{"kind": "note", "data": 1}]}

def plain(asked):
    return asked["user"].upper()

def bad(asked):
    raise KeyError("nothing of that name")

value = 5
"""


async def test_a_python_function_is_an_agent_too_and_what_it_prints_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PYTHON, encoding="utf-8")

    def of(name: str, turns: int = 1) -> CommandConversation:
        child = [sys.executable, "-m", "proctor.agents.python_child", f"mine:{name}"]
        return CommandConversation(child, {"PYTHONPATH": os.pathsep.join(sys.path)}, tmp_path, turns)

    conversation = of("agent", 2)
    answers = await talk(conversation, "one", "two")
    assert [answer.reply for answer in answers] == ["one", "one two"]
    assert answers[0].events == ({"kind": "note", "data": 1},)
    assert {"a print is no answer", "neither is this"} <= set(conversation.shown().splitlines())
    assert (await talk(of("plain"), "hello"))[0].reply == "HELLO"
    for name, shown in (("bad", "nothing of that name"), ("value", "is no function"), ("nosuch", "is no function")):
        with pytest.raises(AgentFailed) as caught:
            await talk(of(name), "hello")
        assert (caught.value.kind, shown in caught.value.shown) == ("agent_crashed", True)


async def test_a_service_is_asked_by_post_and_fails_by_name() -> None:
    answers = {
        "/good": web.json_response({"reply": "hello 你好"}),
        "/bad": web.json_response({"detail": "no"}, status=500),
        "/garbage": web.Response(text="<html>"),
        "/large": web.Response(text="x" * 9_000_000),
    }
    got: list[Asked] = []
    over = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/slow":
            await over.wait()
        else:
            got.append(Asked.model_validate(json.loads(await request.read())))
        return answers.get(request.path, web.Response())

    kinds = {"/bad": "agent_refused", "/garbage": "agent_garbage", "/large": "agent_flood", "/slow": "agent_timeout"}
    async with serving(answer) as url:
        async with HttpConversation(f"{url}/good") as agent:
            assert (await agent.ask(asked(3), SECONDS)).reply == "hello 你好"
        assert got == [asked(3)]
        for path, kind in kinds.items():
            async with HttpConversation(f"{url}{path}") as agent:
                with pytest.raises(AgentFailed) as caught:
                    await agent.ask(asked(), 0.5 if path == "/slow" else SECONDS)
            assert caught.value.kind == kind
        over.set()
    async with HttpConversation(f"{url}/good") as agent:
        with pytest.raises(AgentFailed) as caught:
            await agent.ask(asked(), SECONDS)
    assert caught.value.kind == "agent_unreachable"
