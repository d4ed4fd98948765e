"""Many trials in one run: what the runner holds does not grow with them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from tests.integration.harness.shop import case, set_up
from tests.support import Project, clean_environment, serving

SOAK = bool(os.environ.get("PROCTOR_SOAK"))
TRIALS = 2000 if SOAK else 400
EARLY = 200 if SOAK else 80
"""After so many trials memory is looked at first."""
TURNS = 2
GROWTH = 1.2
AT_ONCE = 16


class Agent:
    """An agent that is a service, and looks at the memory of whoever runs it."""

    def __init__(self) -> None:
        self.requests = 0
        self.runner = 0
        self.kib: dict[int, int] = {}
        """By number of trials: resident memory of the runner."""

    async def answer(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self.requests += 1
        for trials in (EARLY, TRIALS):
            if self.requests == trials * TURNS:
                self.kib[trials] = resident_kib(self.runner)
        url = f"{asked['services']['orders']}/tools/"
        async with aiohttp.ClientSession() as http:
            refund = await called(http, f"{url}create_refund", order_id="A1")
            await called(http, f"{url}note", text="x" * 2000)
        return web.json_response({"reply": f"Refunded: {refund}", "events": [{"kind": "note", "data": refund}]})


async def called(http: aiohttp.ClientSession, url: str, **arguments: str) -> Any:
    async with http.post(url, json=arguments) as answer:
        return await answer.json()


def resident_kib(process: int) -> int:
    """Of a process, in KiB."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


async def test_a_run_of_many_trials_holds_no_more_at_its_end_than_early_on(project: Project) -> None:
    agent = Agent()
    async with serving(agent.answer) as url:
        cases = [case(name, "Please refund A1.", "Again.") for name in ("one", "two", "three", "four")]
        set_up(project, "", cases, f'[agent]\nurl = "{url}"')
        each = str(TRIALS // len(cases))
        runner = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "proctor", "run", "shop", "--trials", each, "--at-once", str(AT_ONCE), "--json"),
            cwd=project.root,
            env=clean_environment(),
            stdout=asyncio.subprocess.PIPE,
        )
        agent.runner = runner.pid
        told, _ = await runner.communicate()
    run = json.loads(told)
    assert (runner.returncode, run["every"]["pass"]) == (0, TRIALS)
    assert agent.kib[TRIALS] <= GROWTH * agent.kib[EARLY], f"resident KiB by trials: {agent.kib}"
