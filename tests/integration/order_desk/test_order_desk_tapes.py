"""The committed tapes, and the demo that makes such tapes."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from examples.order_desk.conversations import CONVERSATIONS
from examples.order_desk.world import OrderDesk
from proctor.world.kind import WorldKind
from tests.property.counts import SOAK
from tests.support import ROOT, Project, run

AGENT = ROOT / "examples" / "order_desk" / "agent.py"


@pytest.fixture
def desk_project(tmp_path: Path) -> Project:
    """The repository's configuration and tapes, in a folder of their own."""
    shutil.copy(ROOT / "proctor.toml", tmp_path)
    shutil.copytree(ROOT / "cassettes", tmp_path / "cassettes")
    return Project(tmp_path)


@pytest.mark.parametrize("conversation", CONVERSATIONS)
async def test_a_committed_conversation_replays_without_staging_model_or_key(
    desk_project: Project, conversation: str
) -> None:
    agent = (sys.executable, str(AGENT), "--conversation", conversation, "--json")
    done = await desk_project.proctor("replay", "--cassette", f"order_desk/{conversation}", "--json", "--", *agent)
    assert done.status == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[0])
    tape = desk_project.tape(f"order_desk/{conversation}")
    asked = [interaction.tool for interaction in tape.interactions if interaction.request.service == "orders"]
    assert [call["name"] for call in said["tool_calls"]] == asked
    assert done.summary["hits"] == len(tape.interactions)
    assert done.summary["unused"] == []


def test_of_ten_conversations_five_are_chinese_and_five_are_english_and_all_ten_tools_are_called(
    desk_project: Project,
) -> None:
    assert [each.language for each in CONVERSATIONS.values()] == ["zh"] * 5 + ["en"] * 5
    tapes = [desk_project.tape(f"order_desk/{name}") for name in CONVERSATIONS]
    assert {each.tool for tape in tapes for each in tape.interactions if each.tool} == set(WorldKind(OrderDesk).tools)


def test_a_chinese_tape_can_be_read() -> None:
    text = (ROOT / "cassettes" / "order_desk" / "refund_zh.yaml").read_text(encoding="utf-8")
    assert "我要退款" in text
    assert "\\u" not in text


async def test_the_demo_does_what_it_says_and_leaves_the_tree_clean() -> None:
    before = await run("git", "status", "--porcelain", cwd=ROOT)
    names = () if SOAK else ("refund_zh", "replace_zh", "refund_en", "notify_en")
    done = await run(sys.executable, "examples/order_desk/demo.py", *names, cwd=ROOT)
    after = await run("git", "status", "--porcelain", cwd=ROOT)
    assert done.status == 0, done.stdout + done.stderr
    assert done.stdout.count("tool calls, results and replies identical") == len(names or CONVERSATIONS)
    assert 'body /channel: recorded "chat", got "email"' in done.stdout
    assert after.stdout == before.stdout


async def test_the_prompt_set_up_asks_the_model_and_answers_the_tools_from_the_tape(
    desk_project: Project, model: str
) -> None:
    agent = (sys.executable, str(AGENT), "--conversation", "refund_zh", "--json")
    live = {"ORDER_DESK_LLM_URL": f"{model}/v1", "OPENAI_API_KEY": "a-key-of-the-tests"}
    command = ("replay", "--cassette", "order_desk/refund_zh", "--mode", "llm=live", "--json", "--", *agent)
    done = await desk_project.proctor(*command, env=live)
    assert done.status == 0, done.stderr
    told = done.summary
    assert (told["set_up"], told["llm"]) == ("prompt", "stand-in")
    assert (told["hits"], told["live"], told["misses"]) == (5, 8, [])
    assert {row.source for row in desk_project.trace(told["session"])} == {"replay", "live"}


STREAMING = """
import openai
messages = [{"role": "user", "content": "谢谢 / thank you"}]
stream = openai.OpenAI().chat.completions.create(model="m", messages=messages, stream=True)
print("|".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices))
"""


async def test_a_streamed_answer_reads_the_same_from_the_tape(project: Project, model: str) -> None:
    project.configure(f'[services.llm]\npreset = "openai"\nurl = "{model}/v1"\n')
    agent = (sys.executable, str(project.script("streaming.py", STREAMING)))
    key = {"OPENAI_API_KEY": "a-key-of-the-tests"}
    recorded = await project.proctor("record", "--cassette", "stream", "--", *agent, env=key)
    replayed = await project.proctor("replay", "--cassette", "stream", "--", *agent)
    assert (recorded.status, replayed.status) == (0, 0), recorded.stderr + replayed.stderr
    assert recorded.stdout == replayed.stdout
    assert recorded.stdout.count("|") > 1
    assert b"data: [DONE]" in project.tape("stream").interactions[0].response.body
