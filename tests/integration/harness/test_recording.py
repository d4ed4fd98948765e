"""`proctor run --record`: a tape for each case, once, from real services that hooks put into a known state."""

from __future__ import annotations

import json
import shlex
import sqlite3
from typing import Any

import pytest

from tests.integration.harness import shop
from tests.integration.harness.desk import ASKS, MODELLED, Desk, Model, llm, looked_up, set_up
from tests.integration.harness.shop import CALLING, ends, run
from tests.support import Project, serving

HOOKS = "[record]\nbefore = \"sh -c 'echo before >> hooks.txt'\"\nafter = \"sh -c 'echo after >> hooks.txt'\"\n"
CRASHES = CALLING + '\ncall("query_order", order_id="A1")\nsys.exit("cannot go on")\n'
LOST = {"service": "orders", "at": "/status", "value": "lost"}


def tapes(project: Project) -> list[str]:
    return sorted(project.layout.cassette_names())


async def recorded(project: Project, url: str, cases: list[dict[str, Any]], toml: str = "") -> None:
    """Make the tapes of these cases."""
    set_up(project, url, ASKS, cases, toml)
    done, _ = await run(project, "--record")
    assert done.status == 0, done.stderr


@pytest.mark.req(45)
async def test_each_case_makes_its_tape_once_and_is_answered_from_it_without_network(project: Project) -> None:
    desk = Desk()
    async with serving(desk.answer) as url:
        set_up(project, url, ASKS, [looked_up("a"), looked_up("b", "B2", trials=3)])
        done, told = await run(project, "--record")
        shown = await project.proctor("runs", "last")
    assert (ends(told), done.status) == ({"a": ("pass", ""), "b": ("pass", "")}, 0)
    assert len(desk.asked) == 2, "one trial a case, however many it has"
    assert tapes(project) == ["shop/a", "shop/b"]
    assert {trial["set_up"] for trial in told["trials"]} == {"record"}
    assert "recorded: cassettes/shop/a.yaml, cassettes/shop/b.yaml" in shown.stdout
    done, told = await run(project)
    assert (ends(told), done.status, len(desk.asked)) == ({"a": ("pass", ""), "b": ("pass", "")}, 0, 2)
    assert {trial["set_up"] for trial in told["trials"]} == {"code"}
    assert len(told["trials"]) == 4


async def test_beside_a_world_the_mode_replay_answers_from_the_tape(project: Project) -> None:
    async with serving(Desk().answer) as url:
        await recorded(project, url, [looked_up("a")])
    done, told = await run(project, "--mode", "orders=replay")
    assert (ends(told)["a"], done.status) == (("pass", ""), 0)


async def test_hooks_run_around_the_whole_run_and_not_around_a_replay(project: Project) -> None:
    async with serving(Desk().answer) as url:
        await recorded(project, url, [looked_up("a"), looked_up("b", "B2")], HOOKS)
    log = project.root / "hooks.txt"
    assert log.read_text(encoding="utf-8").split() == ["before", "after"]
    await run(project)
    assert log.read_text(encoding="utf-8").split() == ["before", "after"]


async def test_where_the_hook_before_fails_there_is_no_run(project: Project) -> None:
    desk = Desk()
    async with serving(desk.answer) as url:
        set_up(project, url, ASKS, [looked_up("a")], HOOKS.replace("hooks.txt'", "hooks.txt; exit 7'", 1))
        done, told = await run(project, "--record")
    assert (done.status, told["error"]["code"]) == (2, "hook_failed")
    assert "`before`" in told["error"]["message"]
    assert "status 7" in told["error"]["message"]
    assert desk.asked == []
    assert (project.root / "hooks.txt").read_text(encoding="utf-8").split() == ["before", "after"]


async def test_where_the_hook_after_fails_the_run_says_so_and_keeps_its_tapes(project: Project) -> None:
    async with serving(Desk().answer) as url:
        set_up(project, url, ASKS, [looked_up("a")], HOOKS.replace("echo after", "exit 3; echo after"))
        done, told = await run(project, "--record")
    assert (done.status, told["status"], ends(told)["a"]) == (2, 2, ("pass", ""))
    assert "hook_failed" in done.stderr
    assert tapes(project) == ["shop/a"]


async def test_an_agent_that_changed_misses_and_is_told_how_to_record_the_case_again(project: Project) -> None:
    async with serving(Desk().answer) as url:
        await recorded(project, url, [looked_up("a")])
        set_up(project, url, ASKS, [looked_up("a", "A2")])
        done = await project.proctor("run", "shop")
        assert done.status == 3
        assert 'recorded "A1", got "A2"' in done.stdout
        command = next(line for line in done.stdout.splitlines() if "record again" in line).partition("again: ")[2]
        assert command == "proctor run shop --record --only a"
        assert (await project.proctor(*shlex.split(command)[1:])).status == 0
        assert (await project.proctor("run", "shop")).status == 0


async def test_a_live_model_that_wants_another_call_is_off_the_tape_and_told_how_to_extend_it(
    project: Project,
) -> None:
    model, desk = Model(["A1"]), Desk()
    async with serving(desk.answer) as url, serving(model.answer) as thinks:
        set_up(project, url, MODELLED, [looked_up("a")], llm(thinks))
        assert (await run(project, "--record"))[0].status == 0
        model.says = ["A2"]
        done, told = await run(project, "--mode", "llm=live")
        assert (ends(told)["a"], done.status) == (("off_tape", "off_tape"), 3)
        command = told["trials"][0]["fix"].partition("extend the tape by it: ")[2]
        assert command == "proctor run shop --only a --mode llm=live --mode orders=new_episodes"
        extended = await project.proctor(*shlex.split(command)[1:])
        assert extended.status == 0, extended.stdout
        asked = len(desk.asked)
        done, told = await run(project, "--mode", "llm=live")
    assert (ends(told)["a"], done.status, len(desk.asked)) == (("pass", ""), 0, asked)


async def test_a_recording_that_a_real_service_spoilt_measures_nothing_and_says_where_it_is(project: Project) -> None:
    desk = Desk(status=500)
    async with serving(desk.answer) as url:
        set_up(project, url, ASKS, [looked_up("a")])
        done = await project.proctor("run", "shop", "--record")
    assert done.status == 4
    assert "ERROR a#0: not_sealed" in done.stdout
    assert "the last answer was 500" in done.stdout
    assert "proctor cassette accept shop/a" in done.stdout
    assert "kept aside: .proctor/aside/shop/a.yaml" in done.stdout
    assert len(desk.asked) == 1, "what asked the real services is not done again by itself"


async def test_a_recording_whose_agent_failed_is_put_aside_and_the_old_tape_stays(project: Project) -> None:
    desk = Desk()
    async with serving(desk.answer) as url:
        await recorded(project, url, [looked_up("a")])
        before = project.layout.cassette("shop/a").read_bytes()
        set_up(project, url, CRASHES, [looked_up("a")])
        done = await project.proctor("run", "shop", "--record")
        _, told = await run(project)
    assert done.status == 1
    assert "FAIL a#0: agent_crashed" in done.stdout
    assert "kept aside: .proctor/aside/shop/a.yaml; the old tape is as it was" in done.stdout
    assert project.layout.cassette("shop/a").read_bytes() == before
    assert len(desk.asked) == 2, "no second try against the real service"
    assert ends(told)["a"] == ("fail", "agent_crashed")


async def test_a_trial_from_which_nothing_was_recorded_does_not_pass(project: Project) -> None:
    lazy = CALLING + "\nfor line in sys.stdin:\n    asked = json.loads(line)\n"
    lazy += '    call("query_order", order_id="A1") if asked["case"] == "a" else None\n    reply("It has arrived")\n'
    async with serving(Desk().answer) as url:
        set_up(project, url, lazy, [looked_up("a"), looked_up("b")])
        done, told = await run(project, "--record")
    assert (ends(told), done.status) == ({"a": ("pass", ""), "b": ("error", "not_sealed")}, 4)
    assert tapes(project) == ["shop/a"]


async def test_a_tape_that_several_cases_name_is_made_by_one_and_none_is_made_under_an_overlay(
    project: Project,
) -> None:
    desk = Desk()
    cases = [
        looked_up("lost", tape="desk/one", overlay=[LOST], says=["lost"]),
        looked_up("first", tape="desk/one"),
        looked_up("second", tape="desk/one"),
    ]
    async with serving(desk.answer) as url:
        set_up(project, url, ASKS, cases)
        done, told = await run(project, "--record")
        alone = await project.proctor("run", "shop", "--record", "--only", "lost")
    assert (ends(told), done.status) == ({"first": ("pass", "")}, 0)
    assert (tapes(project), len(desk.asked)) == (["desk/one"], 1)
    assert "lost is not recorded: its overlay changes what desk/one answers" in done.stderr
    assert "second is not recorded: first makes its tape desk/one" in done.stderr
    assert (alone.status, "nothing_to_record" in alone.stderr) == (2, True)
    done, told = await run(project)
    assert (set(ends(told).values()), len(ends(told)), done.status) == ({("pass", "")}, 3, 0)


async def test_an_overlay_that_does_not_fit_the_tape_is_not_booked_against_the_agent(project: Project) -> None:
    odd = [{**LOST, "at": "/nowhere/at/all"}]
    never = [{**LOST, "tool": "cancel_order"}]
    cases = [
        looked_up("a"),
        looked_up("odd", tape="shop/a", overlay=odd),
        looked_up("never", tape="shop/a", overlay=never),
    ]
    async with serving(Desk().answer) as url:
        await recorded(project, url, cases)
    done, told = await run(project)
    assert ends(told) == {
        "a": ("pass", ""),
        "odd": ("error", "overlay_unfit"),
        "never": ("fail", "overlay_not_applied"),
    }
    assert done.status == 4
    assert [trial["attempts"] for trial in told["trials"] if trial["case_id"] == "odd"] == [1]


async def test_a_tape_that_is_not_there_names_the_command_that_makes_it(project: Project) -> None:
    set_up(project, "http://127.0.0.1:9", ASKS, [looked_up("a")])
    done = await project.proctor("run", "shop")
    assert (done.status, "cassette_missing" in done.stdout) == (4, True)
    assert "proctor run shop --record --only a" in done.stdout
    set_up(project, "http://127.0.0.1:9", ASKS, [looked_up("lost", tape="shop/a", overlay=[LOST]), looked_up("a")])
    done = await project.proctor("run", "shop", "--only", "lost")
    assert "record it: proctor run shop --record --only a" in done.stdout, "the case that makes the tape"


async def test_where_worlds_answer_everything_there_is_nothing_to_record(project: Project) -> None:
    shop.set_up(project, shop.GOOD, [shop.case("a")])
    done, told = await run(project, "--record")
    assert (done.status, told["error"]["code"]) == (2, "nothing_to_record")
    assert (await project.proctor("runs")).status == 2, "no run was left behind"


async def test_a_recording_that_was_stopped_goes_on_without_making_a_tape_twice(project: Project) -> None:
    desk = Desk()
    async with serving(desk.answer) as url:
        set_up(project, url, CRASHES, [looked_up("a")])
        await run(project, "--record")
        with sqlite3.connect(project.root / ".proctor" / "runs.db") as database:
            database.execute("UPDATE runs SET state = 'stopped'")
        asked = len(desk.asked)
        done = await project.proctor("run", "--resume", "last", "--json")
    told = json.loads(done.stdout)
    assert (told["state"], len(told["trials"]), len(desk.asked)) == ("finished", 1, asked)
