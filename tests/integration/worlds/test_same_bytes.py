"""The same seed and calls give the same bytes in another process, on another day, in another place."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from tests.integration.worlds.support import with_shop
from tests.support import ROOT, Project, run

PROGRAM = str(ROOT / "tests" / "integration" / "worlds" / "same_bytes.py")


@pytest.mark.req(131)
async def test_answers_state_diff_log_and_trace_are_the_same_on_any_day(project: Project) -> None:
    with_shop(project)

    async def told(years: int, **environment: str) -> str:
        done = await run(sys.executable, PROGRAM, str(project.root), str(years), cwd=project.root, env=environment)
        assert done.status == 0, done.stderr
        return done.stdout

    here = told(0, PYTHONHASHSEED="1", TZ="Pacific/Kiritimati", LC_ALL="C")
    there = told(7, PYTHONHASHSEED="2", TZ="America/New_York", LC_ALL="C.UTF-8")
    one, other = await asyncio.gather(here, there)
    assert one == other
    answers = json.loads(one)
    assert {each[0] for each in answers if isinstance(each, list)} >= {200, 400, 404, 422, 500}
