"""From `[agent]` of proctor.toml to an agent: each form, what each turn tells it, and what cannot be made."""

from __future__ import annotations

import json
import sys

import pytest
from aiohttp import web

from examples.order_desk import stand_in_model
from proctor.agents.contract import Asked
from proctor.agents.making import conversation_of, settings_of
from proctor.config import CONFIG_NAME, Config, load_config
from proctor.errors import ConfigError
from proctor.launch import agent_environment
from proctor.wire import SessionInfo
from tests.support import Project, serving, serving_app, session

SERVICES = """\
[services.llm]
preset = "openai"
url = "http://127.0.0.1:9/v1"
"""
SET = 'model = "m-1"\nprompt_version = "p-7"\ntemperature = 0.2\ntop_p = 0.5\nseed = 3\n'
PROGRAM = """\
import json, os, sys
for line in sys.stdin:
    told = {"settings": json.loads(line)["settings"], "given": os.environ["GIVEN"], "folder": os.getcwd()}
    print(json.dumps({"reply": json.dumps(told)}), flush=True)
"""
FUNCTION = """\
import json, os
def answer(asked):
    return json.dumps({"settings": asked["settings"], "given": os.environ["GIVEN"], "folder": os.getcwd()})
"""
INFO = SessionInfo(session="s", cassette="c", modes={"llm": "live"}, url="http://127.0.0.1:9/s/s", set_up="live")


def configured(project: Project, agent: str, services: str = SERVICES) -> Config:
    project.configure(f"{services}\n[agent]\n{agent}")
    return load_config(project.root / CONFIG_NAME)


@pytest.mark.req(199, 218)
@pytest.mark.parametrize("form", ["command", "python"])
async def test_a_program_gets_settings_variables_and_the_project_s_folder(project: Project, form: str) -> None:
    project.script("program.py", PROGRAM)
    project.script("function.py", FUNCTION)
    lines = {"command": f"command = ['{sys.executable}', 'program.py']", "python": 'python = "function:answer"'}
    config = configured(project, f"{SET}{lines[form]}\n")
    settings = settings_of(config.agent)
    async with conversation_of(config, INFO, {"GIVEN": "this"}, 1) as agent:
        asked = Asked(case="c", trial=0, session="s", turn=0, user="hello", settings=settings)
        told = json.loads((await agent.ask(asked, 20)).reply)
    assert told == {
        "settings": {"model": "m-1", "prompt_version": "p-7", "temperature": 0.2, "top_p": 0.5, "seed": 3},
        "given": "this",
        "folder": str(project.root),
    }


@pytest.mark.req(199)
async def test_a_service_gets_settings(project: Project) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"reply": json.dumps((await request.json())["settings"])})

    async with serving(answer) as url:
        config = configured(project, f'{SET}url = "{url}/turns"\n')
        async with conversation_of(config, INFO, {}, 1) as agent:
            asked = Asked(case="c", trial=0, session="s", turn=0, user="hello", settings=settings_of(config.agent))
            told = json.loads((await agent.ask(asked, 20)).reply)
    assert (told["model"], told["prompt_version"]) == ("m-1", "p-7")


@pytest.mark.req(130)
def test_the_temperature_is_0_where_nothing_is_said(project: Project) -> None:
    assert settings_of(configured(project, 'python = "a:b"').agent).temperature == 0


CHAT = 'model = "openai/m"\nchat = { prompt = "Help." }'
NO_LLM = '[services.a]\nurl = "http://127.0.0.1:9"\n'
TWO = f'{SERVICES}\n[services.other]\npreset = "anthropic"\n'


@pytest.mark.parametrize(
    ("agent", "services", "code", "told"),
    [
        ("", SERVICES, "agent_missing", "give one of: command ="),
        (CHAT, NO_LLM, "chat_service", "add [services.llm]"),
        (CHAT, TWO, "chat_service", 'service = "llm" or "other"'),
        (CHAT.replace(" }", ', service = "lm" }'), SERVICES, "unknown_service", 'did you mean "llm"?'),
        (CHAT.replace(" }", ', service = "a" }'), SERVICES + NO_LLM, "chat_service", "is no LLM service"),
        (CHAT.replace("prompt =", "prompt_file ="), SERVICES, "prompt_unreadable", "Help."),
        (CHAT.replace('prompt = "Help."', 'prompt_file = "bad.txt"'), SERVICES, "prompt_unreadable", "UTF-8"),
    ],
)
def test_what_cannot_be_made_says_why_and_what_to_write(
    project: Project, agent: str, services: str, code: str, told: str
) -> None:
    (project.root / "bad.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError) as caught:
        conversation_of(configured(project, agent, services), INFO, {}, 1)
    assert caught.value.code == code
    assert told in str(caught.value)


def test_a_chat_is_not_sent_through_a_proxy_of_the_machine(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    config = configured(project, CHAT)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with pytest.raises(ConfigError) as caught:
        conversation_of(config, INFO, {}, 1)
    assert (caught.value.code, "NO_PROXY=127.0.0.1" in caught.value.fix) == ("chat_proxied", True)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    conversation_of(config, INFO, {}, 1)


async def test_a_chat_is_recorded_and_replayed_with_no_model_and_no_key(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-the-tests-0123456789")
    asked = Asked(case="c", trial=0, session="s", turn=0, user="Hello, where is it?")
    replies = []
    async with serving_app(stand_in_model.create_app()) as model:
        config = configured(project, CHAT, SERVICES.replace("http://127.0.0.1:9", model))
        async with session(project, "case", "record") as run:
            async with conversation_of(config, run.info, agent_environment(config, run.info), 1) as agent:
                replies.append((await agent.ask(asked, 20)).reply)
            await run.close()
    monkeypatch.delenv("OPENAI_API_KEY")
    async with session(project, "case", "replay") as run:
        async with conversation_of(config, run.info, agent_environment(config, run.info), 1) as agent:
            replies.append((await agent.ask(asked, 20)).reply)
        summary = await run.close()
    assert (summary.hits, summary.misses, replies[0]) == (1, (), replies[1])
