"""A batch is judged once through Proctor's own proxy, then again from the tape: no key, no network, the same bytes."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from proctor.cli.judge_service import own
from proctor.config import load_config
from proctor.judge.tape_salt import salt_under
from proctor.judge_wire import BatchTerms, VerdictCame
from proctor.launch import agent_environment
from proctor.paths import Layout
from tests.integration.cli.support import PATH, started
from tests.integration.judge.taped import CLAUDE, KEY, MODEL, Provider, elsewhere, judged, runs, said, verdicts
from tests.support import ROOT, Project, Running, serving, session
from tests.unit.judge.refunds import refund
from tools.stand_in_judge_server import Answer, Asked, serving_judge

ENVIRONMENT = {"OPENAI_API_KEY": KEY}
NUMBERED = """
import os, sys
print(os.getpid(), flush=True)
os.execv(sys.executable, [sys.executable, "-m", "proctor", "judge", "run", *sys.argv[1:]])
"""


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY", "PROCTOR_SESSION_URL"):
        monkeypatch.delenv(name, raising=False)


def commands_shown() -> list[list[str]]:
    """Those of docs/judge.md that record a batch and replay it."""
    page = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL)
    return [shlex.split(line) for line in shown.splitlines()]


async def test_a_batch_is_replayed_elsewhere_without_a_key_and_the_verdicts_are_equal_byte_for_byte(
    project: Project, tmp_path: Path
) -> None:
    here = Project(tmp_path / "here")
    here.root.mkdir()
    runs(here, "abc", CLAUDE)
    record, replay = ((*words[1:], "--at-least", "100") for words in commands_shown())
    provider = Provider()
    async with serving_judge(provider) as server:
        here.configure(f'[services.llm]\npreset = "openai"\nurl = "{server.url}"\n')
        recorded = await here.proctor(*record, env={**PATH, **ENVIRONMENT})
    assert recorded.status == 1, "a verdict, and no reason to put the tape aside: " + recorded.stderr
    told = verdicts(recorded)
    assert [each["trajectory"] for each in told] == ["a", "b", "c"]
    assert [each["use"]["attempts"] - each["use"]["calls"] for each in told] == [0, 1, 0]
    assert [any(each["repaired"] for each in verdict["criteria"]) for verdict in told] == [False, False, True]
    assert told[0]["use"]["cost"] > 0
    assert provider.calls == 3 * 5 + 2
    tape = here.tape("judged")
    assert len(tape.interactions) == 3 * 5 + 1
    assert len(bytes.fromhex(tape.stamp["judge_salt"])) == 32
    assert bytes.fromhex(tape.stamp["judge_salt"]) not in [path.read_bytes() for path in here.root.rglob("salt")]

    there = elsewhere(here, tmp_path / "there")
    replayed = await there.proctor(*replay, env=PATH)
    assert (replayed.status, replayed.stdout) == (1, recorded.stdout), replayed.stderr
    assert not Layout(there.root).judge.joinpath("salt").exists()


async def test_after_a_kill_the_recovered_tape_answers_what_was_judged(project: Project) -> None:
    here = project
    words = (runs(here, "ab", CLAUDE), "--model", MODEL, "--json")
    provider, second = Provider(), asyncio.Event()

    async def answering(asked: Asked) -> Answer:
        if provider.calls == 5:  # the first run is judged
            second.set()
            return Answer(hang=True)
        return await provider(asked)

    async with serving_judge(answering) as server:
        here.configure(f'[services.llm]\npreset = "openai"\nurl = "{server.url}"\n')
        command = (sys.executable, "-c", NUMBERED, *words)
        async with started(here, "record", "--cassette", "judged", "--", *command, env=ENVIRONMENT) as process:
            assert process.stdout is not None
            number = int(await process.stdout.readline())
            verdict = (await process.stdout.readline()).decode()
            await second.wait()
            process.kill()
            os.kill(number, signal.SIGKILL)
            await process.communicate()
        recovered = await here.proctor("cassette", "recover")
    assert recovered.status == 0, recovered.stdout + recovered.stderr
    again = await here.proctor("replay", "--cassette", "judged", *judged("runs.jsonl:a", *words[1:]))
    assert (again.status, again.stdout) == (0, verdict), "kept replies are there, and none is used: " + again.stderr


async def test_a_stand_in_makes_no_calls_and_is_not_the_session_s(project: Project) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({})

    runs(project, "a", CLAUDE)
    agent = project.script(
        "agent.py",
        "import os, subprocess, sys, urllib.request as web\n"
        "web.urlopen(os.environ['OPENAI_BASE_URL'] + '/ask', b'{}').read()\n"
        "judge = [sys.executable, '-m', 'proctor', 'judge', 'run', 'runs.jsonl', '--model', 'stand-in/obedient']\n"
        "sys.exit(subprocess.run(judge).returncode)\n",
    )
    async with serving(answer) as url:
        project.configure(f'[services.llm]\npreset = "openai"\nurl = "{url}"\n')
        done = await project.proctor("record", "--cassette", "t", "--", sys.executable, str(agent), env=ENVIRONMENT)
    assert done.status == 0, done.stdout + done.stderr
    assert "judge_salt" not in project.tape("t").stamp


async def test_a_judge_asked_by_anthropic_s_api_is_replayed_too_and_another_rubric_misses(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Mapping[str, Any]] = []

    async def messages(request: web.Request) -> web.Response:
        asked = await request.json()
        calls.append(asked)
        if len(calls) == 2:
            error = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
            return web.json_response(error, status=429, headers={"Retry-After": "0"})
        content = [{"type": "text", "text": answer_numbered(len(calls))}]
        told = {"id": f"msg_{len(calls)}", "type": "message", "role": "assistant", "model": asked["model"]}
        used = {"input_tokens": 100, "output_tokens": 20}
        return web.json_response({**told, "content": content, "stop_reason": "end_turn", "usage": used})

    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-Zx81kQpLmN47vTyRbC29wEfGhJ")
    async with serving(messages) as url:
        project.configure(f'[services.llm]\npreset = "anthropic"\nurl = "{url}"\n')
        async with session(project, "judged") as running:
            recorded = await verdict_in(running, project, monkeypatch)
            assert not (await running.close()).errors
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    async with session(project, "judged", "replay") as running:
        assert await verdict_in(running, project, monkeypatch) == recorded
        summary = await running.close()
    assert (summary.hits, summary.repeated, summary.misses) == (5, 0, ())
    async with session(project, "judged", "replay") as running:
        await verdict_in(running, project, monkeypatch, "acmse")
        assert (await running.close()).misses
    assert running.proxy.registry.statuses == {3}
    assert len(calls) == 6
    assert '"attempts":6' in recorded


def answer_numbered(number: int) -> str:
    """A reply that no other call gets."""
    return Provider(calls=number).reply("efficiency", said("a")) or ""


async def verdict_in(
    running: Running, project: Project, monkeypatch: pytest.MonkeyPatch, rubric: str = "trajectory"
) -> str:
    """The verdict on one run, asked in this process with a session's variables."""
    config = load_config(project.root / "proctor.toml")
    for name, value in agent_environment(config, running.info, watch=False).items():
        monkeypatch.setenv(name, value)
    model = "anthropic/claude-sonnet-4-5"
    salt = await salt_under(os.environ, [model])
    assert salt is not None
    terms = BatchTerms(rubric=rubric, agent_vendor="openai")
    async with own(project.layout, model, taped=salt) as judge:
        events = [event async for event in judge.batch(terms, [refund(said=said("a"))])]
    made = [event.answer.verdict for event in events if isinstance(event, VerdictCame)]
    return "\n".join(each.model_dump_json() for each in made if each is not None)
