"""A small project with a world, a suite and an agent, for tests of the runner. The agent is scripted: no model."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from tests.support import Finished, Project

WORLD = """\
from pydantic import BaseModel

from proctor.world import BusinessError, World, tool


class State(BaseModel):
    orders: dict[str, int] = {"A1": 40}
    refunds: dict[str, str] = {}
    notes: list[str] = []


class Shop(World[State]):
    @tool(effect="read")
    def query_order(self, order_id: str) -> int:
        '''What an order cost.'''
        if order_id not in self.state.orders:
            raise BusinessError("order_not_found", f"no order {order_id}", "ask for it", "order_id", status=404)
        return self.state.orders[order_id]

    @tool(effect="write")
    def create_refund(self, order_id: str) -> str:
        '''Pay an order back.'''
        refund = self.new_id("RF")
        self.state.refunds[refund] = order_id
        return refund

    @tool(effect="write")
    def note(self, text: str) -> int:
        '''Write something down; tells how much stands there.'''
        self.state.notes.append(text)
        return len(self.state.notes)

    @tool(effect="read")
    def read_notes(self) -> list[str]:
        '''All that was written down.'''
        return self.state.notes
"""
CALLING = """\
import json, os, sys, time, urllib.error, urllib.request

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def call(tool, **arguments):
    url = os.environ["ORDERS_URL"] + "/tools/" + tool
    try:
        asked = urllib.request.Request(url, json.dumps(arguments).encode(), {"Content-Type": "application/json"})
        with DIRECT.open(asked) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        return {"status": refused.code, **json.load(refused)}


def reply(text, **more):
    print(json.dumps({"reply": text, **more}), flush=True)

"""
"""What a scripted agent begins with."""
GOOD = (
    CALLING
    + """
for line in sys.stdin:
    asked = json.loads(line)
    if "refund" in asked["user"]:
        call("query_order", order_id="A1")
        reply("Refunded: " + call("create_refund", order_id="A1"))
    else:
        reply("You are welcome.")
"""
)
REFUNDED = {"state": [{"path": "$.refunds[*]", "value": "A1"}]}
"""What is expected of a case in which the order is to be paid back."""


def case(name: str, *turns: str, expect: Any = None, **more: Any) -> dict[str, Any]:
    """A case as a suite has it."""
    said = [{"user": user} for user in turns or ("Please refund A1.",)]
    return {"id": name, "title": name, "admitted": True, "turns": said, "expect": expect or REFUNDED, **more}


def set_up(project: Project, agent: str, cases: Sequence[Mapping[str, Any]], toml: str = "", **suite: Any) -> None:
    """Write world, agent, configuration and the suite `shop`."""
    project.script("shop.py", WORLD)
    program = project.script("agent.py", agent)
    project.configure(
        f'[services.orders]\nworld = "shop:Shop"\nenv = ["ORDERS_URL"]\n{toml}\n'
        + (f"[agent]\ncommand = {json.dumps([sys.executable, str(program)])}\n" if agent else "")
    )
    folder = project.root / "suites"
    folder.mkdir(exist_ok=True)
    facts = {"name": "shop", "title": "Shop", "tests": "refunds", "tests_not": "all else", **suite}
    told = json.loads(json.dumps({**facts, "cases": list(cases)}))  # equal parts become parts of their own: no alias
    text = yaml.safe_dump(told, allow_unicode=True)
    (folder / "shop.yaml").write_text(text, encoding="utf-8")


async def run(project: Project, *options: str) -> tuple[Finished, dict[str, Any]]:
    """`proctor run shop --json`, with the run that it tells."""
    done = await project.proctor("run", "shop", "--json", *options)
    assert done.stdout, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return done, told


def ends(told: Mapping[str, Any], *, again: bool = False) -> dict[str, tuple[str, str]]:
    """By case: outcome and reason of its first trial, or of the one more run."""
    return {
        trial["case_id"]: (trial["outcome"], trial["reason"])
        for trial in told["trials"]
        if bool(trial["again"]) == again and trial["number"] == 0
    }
