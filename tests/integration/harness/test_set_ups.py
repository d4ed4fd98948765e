"""The standing set-ups of a run: each trial says which one it was, and what stood for the model."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.harness.desk import MODELLED, Desk, Model, llm, looked_up, set_up
from tests.integration.harness.shop import run
from tests.support import Project, serving


def stamps(told: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(trial["set_up"], trial["llm"], trial["outcome"]) for trial in told["trials"]}


@pytest.mark.parametrize("stand_in", [False, True])
async def test_each_trial_is_stamped_with_its_set_up_and_what_stood_for_the_model(
    project: Project, stand_in: bool
) -> None:
    headers = {"x-proctor-stand-in": "a model of this test"} if stand_in else {}
    desk, model = Desk(), Model(["A1"], headers=headers)
    live = "stand-in" if stand_in else "live"
    async with serving(desk.answer) as orders, serving(model.answer) as url:
        set_up(project, orders, MODELLED, [looked_up("one"), looked_up("two")], llm(url))
        _, recorded = await run(project, "--record")
        assert stamps(recorded) == {("record", live, "pass")}
        asked = len(desk.asked), model.asked
        _, code = await run(project, "--trials", "2")
        assert stamps(code) == {("code", "replayed", "pass")}
        assert (len(desk.asked), model.asked) == asked, "neither is asked"
        _, prompt = await run(project, "--mode", "llm=live", "--trials", "2")
        assert stamps(prompt) == {("prompt", live, "pass")}
        assert (len(desk.asked), model.asked) == (asked[0], asked[1] + 4), "only the model is asked"
        _, retape = await run(project, "--mode", "llm=record", "--trials", "2")
        assert stamps(retape) == {("retape", live, "pass")}
        assert (len(retape["trials"]), len(desk.asked)) == (2, asked[0]), "each tape is made once, without staging"
        _, again = await run(project)
        assert stamps(again) == {("code", "replayed", "pass")}


@pytest.mark.req(61)
async def test_how_steady_an_agent_is_can_only_be_said_of_live_trials(project: Project) -> None:
    desk, model = Desk(), Model(["A1"])
    async with serving(desk.answer) as orders, serving(model.answer) as url:
        set_up(project, orders, MODELLED, [looked_up("one")], llm(url))
        await run(project, "--record")
        code = await project.proctor("run", "shop", "--trials", "3")
        live = await project.proctor("run", "shop", "--mode", "llm=live", "--trials", "3")
    assert "stability: not assessable: the model's answers were replayed" in code.stdout
    assert "flaky: none" in live.stdout
    assert "not assessable:" not in live.stdout
