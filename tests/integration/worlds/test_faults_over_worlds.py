"""A planned fault over a world: the call does not reach it, and its state shows that."""

from __future__ import annotations

import json

import pytest

from proctor.fault_file import read_plan
from tests.integration.worlds.support import with_shop
from tests.support import Project, Running, session

HEADERS = {"Authorization": "Bearer proctor-world-alice"}


async def raw(run: Running, tool: str, order_id: str) -> tuple[int, bytes]:
    """Status and bytes of a call in the name of alice."""
    body = json.dumps({"order_id": order_id})
    async with run.http.post(run.url("shop", f"/tools/{tool}"), data=body, headers=HEADERS) as answer:
        return answer.status, await answer.read()


@pytest.mark.req(106, 113)
async def test_a_write_that_meets_a_fault_changes_nothing_and_its_retry_does(project: Project) -> None:
    faults = read_plan("cancel_order=503, cancel_order:3=expired_token")
    async with session(with_shop(project), "case", "world", faults=faults) as run:
        assert (await raw(run, "cancel_order", "A1"))[0] == 503
        before = await run.control.world(run.info.session, "shop")
        assert (before.diff, before.calls) == ([], 0)
        assert (await raw(run, "cancel_order", "A1"))[0] == 200
        after = await run.control.world(run.info.session, "shop")
        assert after.diff[0]["path"] == "/orders/A1/status"
        summary = await run.close()
    assert [(fired.name, fired.call, fired.kind) for fired in summary.faults] == [("cancel_order", 1, "error")]
    assert [unfired.planned for unfired in summary.faults_unfired] == ["cancel_order:3=expired_token"]
    assert (summary.faulted, summary.worlds) == (1, 1)
    sources = [(row.source, row.status) for row in project.trace(summary.session)]
    assert sources == [("fault", 503), ("world", 200)]


@pytest.mark.req(227)
@pytest.mark.parametrize("kind", ["empty", "malformed", "wrong_type"])
async def test_a_spoilt_answer_is_made_from_what_the_world_would_have_said(project: Project, kind: str) -> None:
    faults = read_plan(f"query_order={kind}, cancel_order={kind}")
    async with session(with_shop(project), "case", "world", faults=faults) as run:
        spoilt = await raw(run, "query_order", "A1")
        whole = await raw(run, "query_order", "A1")
        await raw(run, "cancel_order", "A1")
        world = await run.control.world(run.info.session, "shop")
    assert spoilt != whole
    assert world.diff == []
    if kind == "empty":
        assert spoilt == (200, b"{}")  # its list of lines is empty already
    if kind == "wrong_type":
        assert json.loads(spoilt[1]).keys() == json.loads(whole[1]).keys()
