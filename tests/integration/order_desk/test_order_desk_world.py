"""The order desk as a world: it answers what its staging server answers, and an agent cannot tell them apart."""

from __future__ import annotations

import json
import re
import shutil
import sys
from typing import Any

import pytest

from examples.order_desk.conversations import CONVERSATIONS
from examples.order_desk.world import OrderDesk
from proctor.checks.final_state import final_state
from proctor.trajectory import Trajectory
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession
from tests.support import ROOT, Project

OF_THE_SERVICE = ("served_at", "request_id")
MINTED = re.compile(r"(?:RF|SH)-[0-9A-Z]{8}|20\d\d-\d\d-\d\dT[0-9:.]+Z")


def alike(body: dict[str, Any]) -> Any:
    """An answer without what no two desks have in common: the service's own fields, numbers and times."""
    kept = {key: value for key, value in body.items() if key not in (*OF_THE_SERVICE, "token")}
    return json.loads(MINTED.sub("MINTED", json.dumps(kept)))


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_the_world_answers_each_conversation_as_staging_did(name: str) -> None:
    world = WorldSession(WorldKind(OrderDesk), name)
    calls = [each for each in Project(ROOT).tape(f"order_desk/{name}").interactions if each.tool]
    assert len(calls) > 2
    for recorded in calls:
        token = "".join(world.tokens()[-1:])
        answer = world.call(str(recorded.tool), recorded.request.body, credential=token)
        assert answer.status == recorded.response.status
        assert alike(json.loads(answer.body)) == alike(json.loads(recorded.response.body))


async def test_the_agent_meets_the_world_in_place_of_staging(project: Project, model: str) -> None:
    project.configure((ROOT / "proctor.toml").read_text(encoding="utf-8"))
    shutil.copytree(ROOT / "examples" / "order_desk", project.root / "examples" / "order_desk")
    agent = (sys.executable, str(ROOT / "examples/order_desk/agent.py"), "--conversation", "out_of_stock_en", "--json")
    modes = ("--mode", "orders=world", "--mode", "llm=live")
    live = {"ORDER_DESK_LLM_URL": f"{model}/v1", "OPENAI_API_KEY": "a-key-of-the-tests"}
    done = await project.proctor("replay", "--cassette", "none/needed", *modes, "--json", "--", *agent, env=live)
    assert done.status == 0, done.stderr
    assert (done.summary["set_up"], done.summary["worlds"]) == ("world", 6)
    told = json.loads((project.layout.sessions / done.summary["session"] / "worlds.json").read_text())
    assert told["orders"]["state"]["orders"]["US2005"]["refund"]["amount"] == "64.00"
    converted = await project.proctor("trajectory", "convert", "--from", "session", "last")
    run = Trajectory.model_validate_json(converted.stdout.splitlines()[0])
    assert run.end_state == told["orders"]["state"]
    asserted = {"path": "$.orders.US2005.refund.amount", "value": "64.00"}
    assert final_state(run, [asserted]).outcome == "pass"
    assert final_state(run, [{**asserted, "value": "63.00"}]).outcome == "fail"


@pytest.mark.req(200)
def test_orders_and_refunds_are_as_at_the_start_after_a_reset() -> None:
    world = WorldSession(WorldKind(OrderDesk), 1)
    for _ in range(2):
        token = json.loads(world.call("get_token", b'{"customer_id": "C-2001"}').body)["token"]
        for tool, more in (("calc_refund", ""), ("create_refund", ', "amount": "84.90"')):
            answer = world.call(tool, f'{{"order_id": "US2001"{more}}}'.encode(), credential=token)
            assert answer.status == 200, answer.body
        assert world.state()["orders"]["US2001"]["refund"]["amount"] == "84.90"
        world.reset()
        assert (world.diff(), world.log) == ([], [])
