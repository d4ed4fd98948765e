"""The three set-ups, by the commands of the README and of the misses; and a call that nobody recorded."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from examples.order_desk import stand_in_model
from tests.integration.order_desk.support import staging
from tests.support import ROOT, Finished, Project, run, serving_app

AGENT = f"""\
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from dataclasses import replace
from examples.order_desk import agent, conversations

agent.SYSTEM_PROMPT += os.environ.get("MORE_PROMPT", "")
told = conversations.CONVERSATIONS["refund_en"]
more = tuple(filter(None, [os.environ.get("MORE_TALK")]))
agent.CONVERSATIONS["refund_en"] = replace(told, turns=told.turns + more)
sys.argv = ["agent.py", "--conversation", "refund_en"]
sys.exit(agent.main())
"""
TOML = """\
[services.orders]
url = "env:ORDERS_STAGING"
env = ["ORDERS_URL"]
tools = "POST /tools/{tool}"
reads = ["get_*", "query_*", "calc_*"]
writes = ["create_*", "change_*"]

[services.llm]
preset = "openai"
url = "env:MODEL"
"""
ORDERS = "ORDERS_STAGING"
NOWHERE = "http://127.0.0.1:9"


class Team:
    """Somebody who types commands in a project, with a live stand-in model."""

    def __init__(self, project: Project, model: str) -> None:
        self.project = project
        self._model = model

    async def types(self, command: str, at: Mapping[str, str] | None = None, **changed: str) -> Finished:
        """Run a command as it stands."""
        env = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "OPENAI_API_KEY": "sk-a-key-of-the-tests-0123456789",
            "MODEL": self._model,
            ORDERS: NOWHERE,
            **(at or {}),
            **changed,
        }
        return await run("bash", "-c", command, cwd=self.project.root, env=env)


@pytest.fixture
async def team(project: Project) -> AsyncIterator[Team]:
    project.configure(TOML)
    project.script("agent.py", AGENT)
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(serving_app(stand_in_model.create_app()))
        yield Team(project, f"{model}/v1")


def advised(done: Finished) -> str:
    """The command that the summary of the first miss names, as it can be typed."""
    found = re.search(r"^ +if the [^\n]*: (proctor [^\n]*)$", done.stderr, flags=re.MULTILINE)
    assert found, done.stderr
    assert shlex.split(found[1])[-2:] == ["python", "agent.py"]
    return found[1]


RECORD = "proctor record --cassette refund -- python agent.py"
REPLAY = "proctor replay --cassette refund -- python agent.py"
PROMPT_SET_UP = "proctor replay --cassette refund --mode llm=live -- python agent.py"


async def recorded(team: Team) -> None:
    async with staging(ORDERS) as at:
        done = await team.types(RECORD, at)
    assert done.status == 0, done.stderr
    done = await team.types(REPLAY, OPENAI_API_KEY="")
    assert (done.status, "set-up code, llm replayed" in done.stderr) == (0, True), done.stderr


@pytest.mark.req(45, 173)
async def test_a_changed_prompt_misses_in_code_passes_in_prompt_and_is_mended_by_the_command_of_the_miss(
    team: Team, tmp_path: Path
) -> None:
    await recorded(team)
    missed = await team.types(REPLAY, MORE_PROMPT=" Be kind.")
    assert missed.status == 3
    assert "the prompt changed: body /messages/0/content: recorded " in missed.stderr
    assert "Be kind." in missed.stderr
    prompt = await team.types(PROMPT_SET_UP, MORE_PROMPT=" Be kind.")
    assert (prompt.status, "set-up prompt, llm stand-in" in prompt.stderr) == (0, True), prompt.stderr
    assert advised(missed) == "proctor record --only llm --over refund --cassette refund -- python agent.py"
    mended = await team.types(advised(missed), MORE_PROMPT=" Be kind.")  # staging is stopped
    assert (mended.status, "set-up retape" in mended.stderr) == (0, True), mended.stderr
    done = await team.types(REPLAY, MORE_PROMPT=" Be kind.", OPENAI_API_KEY="")
    assert done.status == 0, done.stderr
    assert (await team.types(REPLAY)).status == 3


async def test_a_call_that_a_live_model_makes_and_nobody_recorded_is_off_tape_and_the_command_appends_it(
    team: Team, tmp_path: Path
) -> None:
    await recorded(team)
    more = "Where is my parcel for order US2001?"
    off_tape = await team.types(PROMPT_SET_UP, MORE_TALK=more)
    assert off_tape.status == 3
    assert "orders query_logistics: nothing on tape refund answers this request" in off_tape.stderr
    shown = await team.types("proctor session show --json")
    assert {miss["code"] for miss in shown.summary["misses"]} == {"off_tape"}
    command = advised(off_tape)
    assert "--mode llm=live --mode orders=new_episodes" in command
    async with staging(ORDERS) as at:
        extended = await team.types(command, at, MORE_TALK=more)
    assert extended.status == 0, extended.stderr
    again = await team.types(PROMPT_SET_UP, MORE_TALK=more)
    assert again.status == 0, again.stderr
    old = await team.types(REPLAY, OPENAI_API_KEY="")
    assert old.status == 0, old.stderr
