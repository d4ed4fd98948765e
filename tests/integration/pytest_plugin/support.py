"""A project with tests of its own, run by the real pytest in a process of its own."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from aiohttp import web

from tests.support import Finished, Project, run

INI = """
[pytest]
addopts = --strict-markers -p no:cacheprovider --import-mode=importlib -W error
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
"""

ASK = """
import json, os, urllib.error, urllib.request
import pytest

def ask(*messages):
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    body = json.dumps({"messages": messages}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["text"]

def ask_whatever_comes(*messages):
    try:
        return ask(*messages)
    except urllib.error.URLError:
        return None
"""


class Model:
    """A model that numbers its conversations: equal first prompts get different answers."""

    def __init__(self) -> None:
        self.asked = 0
        self._numbers = itertools.count(1)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """To the first prompt its conversation's number, then an answer that depends on it."""
        self.asked += 1
        messages = (await request.json())["messages"]
        if messages[0] == "fail":
            return web.json_response({"text": "out of order"}, status=503)
        if len(messages) == 1:
            return web.json_response({"text": f"conversation {next(self._numbers)}"})
        return web.json_response({"text": f"the end of {messages[1]}"})


def agent_project(project: Project, model: str, tests: str, name: str = "test_agent.py") -> Project:
    """Make `project` one whose model is at `model`, with one file of tests that can `ask` it."""
    project.configure(f'[services.llm]\npreset = "openai"\nurl = "{model}/v1"\n')
    (project.root / "pytest.ini").write_text(INI, encoding="utf-8")
    (project.root / "tests").mkdir(exist_ok=True)
    (project.root / "tests" / name).write_text(ASK + tests, encoding="utf-8")
    return project


async def run_pytest(project: Project, *options: str, **environ: str) -> Finished:
    """Run the project's tests."""
    return await run(sys.executable, "-m", "pytest", "-q", *options, cwd=project.root, env=environ)


def tapes(project: Project) -> list[str]:
    """Every tape of the project."""
    return project.layout.cassette_names()


def folder(project: Project, name: str) -> list[Path]:
    """The files below a folder of `.proctor/`."""
    return sorted(path for path in (project.layout.state / name).rglob("*") if path.is_file())
