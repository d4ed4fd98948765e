"""What a run may cost, which results are used again, and what several trials of a case say. The model is a server in
the test that does not say that it is none, so to Proctor it is live."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.integration.harness import desk
from tests.integration.harness.desk import THINKING, Desk, Model, llm
from tests.integration.harness.shop import CALLING, WORLD, case, ends, run, set_up
from tests.support import Finished, Project, serving

PAYS = (
    CALLING
    + THINKING
    + """
for line in sys.stdin:
    asked = json.loads(line)
    said = think(asked["services"]["llm"], asked["user"])
    if said == "pay":
        call("create_refund", order_id="A1")
    reply(said)
"""
)
PRICED = 'model = "gpt-4.1-mini"\n'
VERSIONED = 'version = "1"\nsources = ["agent.py"]\n'
MIXED = [
    case("hard", difficulty="long_range"),
    case("easy", difficulty="single_step"),
    case("first", priority="P0", difficulty="multi_step"),
    case("other", difficulty="single_step"),
]


def write(project: Project, url: str, cases: Sequence[dict[str, Any]], more: str = PRICED, agent: str = PAYS) -> None:
    """The project, with `more` under [agent]."""
    set_up(project, agent, cases, llm(url))
    path = project.root / "proctor.toml"
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")


@asynccontextmanager
async def paying(
    project: Project, cases: Sequence[dict[str, Any]], more: str = PRICED, **model: Any
) -> AsyncIterator[tuple[Model, str]]:
    """A model that says `pay` unless told otherwise, and its address."""
    answering = Model(**{"says": ["pay"], **model})
    async with serving(answering.answer) as url:
        write(project, url, cases, more)
        yield answering, url


@pytest.mark.req(208)
async def test_where_the_money_is_short_a_sample_runs_and_what_is_left_out_is_on_record(project: Project) -> None:
    async with paying(project, MIXED):
        free, _ = await run(project, "--max-cost", "5")
        done, told = await run(project, "--max-cost", "0.0012")
        shown = await project.proctor("runs", "last")
    assert "4 guessed" in free.stderr
    assert "4,000 tokens in, 400 out" in done.stderr, "four times what the trials of the first run took"
    assert "4 by history" in done.stderr
    assert set(ends(told)) == {"easy", "first"}
    assert told["left_out"] == ["hard", "other"]
    assert "2 cases did not fit into --max-cost: hard, other" in shown.stdout
    assert done.status == 0


@pytest.mark.req(208)
async def test_a_run_that_goes_on_keeps_its_sample(project: Project) -> None:
    async with paying(project, MIXED) as (model, _):
        await run(project)
        _, told = await run(project, "--max-cost", "0.0012")
        with sqlite3.connect(project.root / ".proctor" / "runs.db") as database:
            database.execute("DELETE FROM checks WHERE run = ? AND case_id = 'easy'", (told["id"],))
            database.execute("DELETE FROM trials WHERE run = ? AND case_id = 'easy'", (told["id"],))
            database.execute("UPDATE runs SET state = 'stopped' WHERE id = ?", (told["id"],))
        asked = model.asked
        resumed = json.loads((await project.proctor("run", "--resume", "last", "--json")).stdout)
    assert (set(ends(resumed)), model.asked - asked) == ({"easy", "first"}, 1)
    assert resumed["left_out"] == ["hard", "other"]


async def test_money_that_is_spent_on_the_way_begins_no_further_trial_and_is_no_success(project: Project) -> None:
    async with paying(project, MIXED) as (model, _):
        await run(project)
        model.usage = (1_000_000, 1_000)
        done, told = await run(project, "--max-cost", "5", "--at-once", "1", "--trials", "20")
        shown = await project.proctor("runs", "last", "--json")
    assert (done.status, json.loads(shown.stdout)["status"]) == (2, 2)
    assert 0 < len(told["trials"]) < 80
    assert f"--max-cost is spent: {80 - len(told['trials'])} trials were not begun" in done.stderr


async def test_what_a_run_spent_before_it_was_stopped_stays_spent(project: Project) -> None:
    async with paying(project, MIXED) as (model, _):
        await run(project)
        model.usage = (1_000_000, 1_000)
        _, told = await run(project, "--max-cost", "5", "--at-once", "1", "--trials", "20")
        with sqlite3.connect(project.root / ".proctor" / "runs.db") as database:
            database.execute("UPDATE runs SET state = 'stopped' WHERE id = ?", (told["id"],))
        asked = model.asked
        resumed = await project.proctor("run", "--resume", "last", "--json")
    assert (resumed.status, model.asked) == (2, asked)


async def test_a_live_model_that_tells_no_usage_is_no_reason_to_think_that_it_cost_nothing(project: Project) -> None:
    async with paying(project, [case("a")], usage=None):
        done, told = await run(project, "--max-cost", "5")
    assert ends(told)["a"] == ("invalid", "field_missing")
    assert "1 trials cost something that nobody could count" in done.stderr


async def test_where_no_case_fits_and_where_no_price_is_known_nothing_runs(project: Project) -> None:
    async with paying(project, MIXED) as (model, url):
        small = await project.proctor("run", "shop", "--max-cost", "0.000001")
        write(project, url, MIXED, 'model = "nobody/knows-it"\n')
        odd = await project.proctor("run", "shop", "--max-cost", "5")
        assert model.asked == 0
    assert (small.status, "budget_too_small" in small.stderr) == (2, True)
    assert (odd.status, "price_unknown" in odd.stderr) == (2, True)


def cached(told: dict[str, Any]) -> set[str]:
    return {trial["case_id"] for trial in told["trials"] if trial["cached_from"]}


@pytest.mark.req(209)
async def test_results_are_used_again_until_something_that_matters_changes(project: Project) -> None:
    cases = [case("a"), case("b", trials=2)]
    async with paying(project, cases, PRICED + VERSIONED) as (model, url):
        _, first = await run(project, "--cache")
        asked = model.asked
        done, told = await run(project, "--cache")
        shown = await project.proctor("runs", "last")
        assert (model.asked, done.status, cached(told)) == (asked, 0, {"a", "b"})
        assert {trial["cached_from"] for trial in told["trials"]} == {first["id"]}
        assert "3 of 3 results are those of earlier runs (--cache)" in shown.stdout
        _, seeded = await run(project, "--cache", "--seed", "1")
        assert cached(seeded) == set()
        _, plain = await run(project)
        assert cached(plain) == set()
        more = PRICED + VERSIONED
        write(project, url, [case("a", title="another"), case("b", trials=2)], more)
        assert cached((await run(project, "--cache"))[1]) == {"b"}
        write(project, url, cases, more, PAYS + "\n# another agent\n")
        assert cached((await run(project, "--cache"))[1]) == set()
        write(project, url, cases, more)
        project.script("shop.py", WORLD + "\n# another world\n")
        assert cached((await run(project, "--cache"))[1]) == set()


@pytest.mark.req(210)
async def test_a_failure_is_used_again_and_its_one_more_run_is_not(project: Project) -> None:
    async with paying(project, [case("a")], PRICED + VERSIONED, says=["no"]) as (model, _):
        await run(project, "--cache")
        asked = model.asked
        done, told = await run(project, "--cache")
    assert (done.status, model.asked - asked) == (1, 1)
    assert [(trial["again"], bool(trial["cached_from"])) for trial in told["trials"]] == [(0, True), (1, False)]


async def test_an_agent_of_no_known_version_is_refused_before_there_is_a_run(project: Project) -> None:
    async with paying(project, [case("a")]) as (model, _):
        done = await project.proctor("run", "shop", "--cache")
        assert model.asked == 0
    assert (done.status, "cache_without_version" in done.stderr) == (2, True)
    assert (await project.proctor("runs")).status == 2, "no run was left behind"


@pytest.mark.parametrize("options", [("--record",), ("--mode", "orders=live")])
async def test_what_a_real_service_answered_is_never_used_again(project: Project, options: tuple[str, ...]) -> None:
    staging = Desk()
    async with serving(staging.answer) as url:
        desk.set_up(project, url, desk.ASKS, [desk.looked_up("a")], VERSIONED)
        for _ in range(2):
            _, told = await run(project, "--cache", *options)
            assert (ends(told)["a"], cached(told)) == (("pass", ""), set())
    assert len(staging.asked) == 2


async def thrice(project: Project, **model: Any) -> Finished:
    async with paying(project, [case("a")], **model):
        done = await project.proctor("run", "shop", "--trials", "3", "--at-once", "1")
        assert (await project.proctor("runs", "last")).stdout.endswith(done.stdout[done.stdout.index("shop: ") :])
    return done


async def test_cases_that_pass_now_and_then_with_a_live_model_are_named_flaky(project: Project) -> None:
    done = await thrice(project, says=["pay", "no", "pay"])
    assert (done.status, "  flaky: a\n" in done.stdout, "not assessable" in done.stdout) == (1, True, False)
    assert "FAIL a#1 (sporadic)" in done.stdout


async def test_steady_cases_with_a_live_model_are_said_to_be_so(project: Project) -> None:
    assert "  flaky: none\n" in (await thrice(project)).stdout


async def test_a_stand_in_shows_nothing_of_stability(project: Project) -> None:
    done = await thrice(project, headers={"x-proctor-stand-in": "rules"})
    assert "stability: not assessable: the model was a stand-in" in done.stdout
    assert "flaky" not in done.stdout


async def test_without_a_model_nothing_is_said_of_stability_either(project: Project) -> None:
    agent = CALLING + '\nfor line in sys.stdin:\n    reply(call("create_refund", order_id="A1"))\n'
    set_up(project, agent, [case("a")])
    done = await project.proctor("run", "shop", "--trials", "3")
    assert "stability: not assessable: no model was asked that Proctor saw" in done.stdout
    assert "flaky" not in done.stdout
