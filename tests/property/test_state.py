"""On a real stateful service: a replayed answer is the one that the service would give, or says that it may not be."""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from aiohttp import ClientSession

from tests.property.counts import count
from tests.property.desk_runs import Call, desk, next_in_line, run, script, varied
from tests.support import Project, session

TOML = """
[services.orders]
url = "{url}"
tools = "POST /tools/{{tool}}"
reads = [{reads}]
writes = [{writes}]
"""
RIGHT = {"reads": '"query_*"', "writes": '"get_token", "calc_*", "create_*", "change_*"'}


async def truth(root: Path, calls: list[Call]) -> list[Any]:
    """What the real service answers."""
    async with desk() as url, ClientSession() as http:
        return await run(http, url, calls)


async def compared(root: Path, rng: random.Random, effects: dict[str, str], writes: int) -> Counter[str]:
    """Record one script, replay another, and count what was right, wrong and said so, wrong and silent."""
    project = Project(root)
    calls = script(rng, writes)
    asked = varied(rng, calls)
    async with desk() as url:
        project.configure(TOML.format(url=url, **effects))
        async with session(project, "t") as running:
            recorded = await run(running.http, running.url("orders"), calls)
            assert (await running.close()).sealed
    right = await truth(root, asked)
    async with session(project, "t", "replay") as running:
        replayed = await run(running.http, running.url("orders"), asked)
        await running.close(0)
    rows = project.trace(running.info.session)[1:]
    told: Counter[str] = Counter()
    simple = next_in_line(calls, recorded, asked)
    for row, call, answer, true, naive in zip(rows, asked, replayed, right, simple, strict=True):
        if call.writes:
            assert answer == true, (call, row)
            continue
        told["reads"] += 1
        said = row.state_distance > 0 or row.error is not None
        told["wrong"] += answer != true
        told["silently wrong"] += answer != true and not said
        told["said, and right"] += said and answer == true
        told["next in line wrong"] += naive != true
    return told


@pytest.mark.parametrize(("name", "writes", "ci"), [("few writes", 3, 40), ("many writes", 8, 20)])
def test_a_read_is_answered_from_the_state_of_the_session_or_says_so(
    name: str, writes: int, ci: int, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(61)
    total: Counter[str] = Counter()
    for _ in range(count(ci, soak=400)):
        with TemporaryDirectory() as folder:
            total += asyncio.run(compared(Path(folder), rng, RIGHT, writes))
    with capsys.disabled():
        shown = ", ".join(f"{key} {value}" for key, value in sorted(total.items()))
        sys.stdout.write(f"\n{name}: {shown}; next in line {total['next in line wrong'] / total['reads']:.1%} wrong\n")
    assert total["reads"] > 300
    assert total["silently wrong"] == 0
    assert total["wrong"] <= 0.03 * total["reads"]
    assert total["next in line wrong"] > 0.03 * total["reads"], "the runs are hard enough to tell"
