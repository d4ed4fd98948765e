"""Over real sockets a planned fault fires at the calls that it names and at no other; those which do not are listed."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
from hypothesis import given
from hypothesis import strategies as st

from proctor.fault_plan import FaultPlanSpec
from tests.integration.worlds.support import with_shop
from tests.property.counts import examples
from tests.support import Project, session

TOOLS = ("list_orders", "get_token", "roll_dice")
MEANT = {name: {name} for name in TOOLS} | {"*": set(TOOLS), "shop": set(TOOLS), "nobody": set()}


@st.composite
def plans(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Faults, each with a status of its own, so that an answer says which one it is."""
    return [
        {
            "tool": draw(st.sampled_from(sorted(MEANT))),
            "kind": "error",
            "status": 510 + number,
            "call": draw(st.integers(1, 4)),
            "times": draw(st.integers(1, 3)),
        }
        for number in range(draw(st.integers(1, 3)))
    ]


def expected(plan: list[dict[str, Any]], asked: list[str]) -> tuple[list[int], list[tuple[int, int]]]:
    """The status of each call; and by fault how often it fires and how many calls it is for."""
    calls: Counter[int] = Counter()
    fired: Counter[int] = Counter()
    statuses = []
    for name in asked:
        due = []
        for number, fault in enumerate(plan):
            if name in MEANT[fault["tool"]]:
                calls[number] += 1
                if fault["call"] <= calls[number] < fault["call"] + fault["times"]:
                    due.append(number)
        fired.update(due[:1])
        statuses.append(plan[due[0]]["status"] if due else 200)
    return statuses, [(fired[number], calls[number]) for number in range(len(plan))]


async def run(folder: Path, plan: list[dict[str, Any]], asked: list[str]) -> None:
    """Call a world under a plan, and compare what came with what was to come."""
    statuses, counts = expected(plan, asked)
    faults = FaultPlanSpec.model_validate({"fault": plan})
    async with session(with_shop(Project(folder)), "case", "world", faults=faults) as running:
        seen = []
        async with aiohttp.ClientSession() as http:
            for name in asked:
                async with http.post(running.url("shop", f"/tools/{name}"), data=b"") as answer:
                    seen.append(answer.status)
        world = await running.control.world(running.info.session, "shop")
        summary = await running.close()
    assert seen == statuses
    assert world.calls == statuses.count(200)
    assert [fired.index for fired in summary.faults] == [at for at, status in enumerate(statuses) if status != 200]
    short = [
        (fault.told, *counted) for fault, counted in zip(faults.fault, counts, strict=True) if counted[0] < fault.times
    ]
    assert [(each.planned, each.fired, each.calls) for each in summary.faults_unfired] == short


@given(plans(), st.lists(st.sampled_from(TOOLS), max_size=10))
@examples(25, 500, shrink=False)
def test_a_fault_fires_where_it_is_planned_and_what_did_not_fire_is_listed(
    plan: list[dict[str, Any]], asked: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder), plan, asked))
