"""Which trials a run has: cases, repeats, seeds, users, and what answers each service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor.cases.accounts import Account, Accounts
from proctor.cases.case import Case
from proctor.cases.files import Placed, SuiteRead
from proctor.cases.suite import Suite
from proctor.config import Config
from proctor.errors import SuiteError
from proctor.harness.planning import Project, RunOptions, chosen_cases, plans, trial_seed
from proctor.harness.trial import TrialPlan

SERVICES: dict[str, Any] = {
    "orders": {
        "url": "http://orders.invalid",
        "env": ["ORDERS_URL"],
        "tools": "POST /tools/{tool}",
        "world": "m:World",
    },
    "llm": {"preset": "openai"},
}


def case(name: str, **more: Any) -> Case:
    return Case.model_validate({"id": name, "title": name, "turns": [{"user": "hello"}], **more})


def suite(*cases: Case, **more: Any) -> SuiteRead:
    facts = {"name": "desk", "title": "Desk", "tests": "this", "tests_not": "that", **more}
    placed = tuple(Placed(each, Path("suites/desk.yaml"), 1) for each in cases)
    return SuiteRead(Path("suites/desk.yaml"), Suite.model_validate(facts), placed)


def project(services: dict[str, Any] | None = None, accounts: Accounts | None = None, *tapes: str) -> Project:
    config = Config.model_validate({"services": services or SERVICES, "root": Path("/nowhere")})
    return Project(config, accounts or Accounts(), tapes, "agent 1", "suite 1")


def planned(read: SuiteRead, run: str = "r", about: Project | None = None, **options: Any) -> list[TrialPlan]:
    cases = [placed.case for placed in read.cases]
    return plans(run, read, cases, RunOptions(suite="desk", **options), about or project())


@pytest.mark.req(71)
def test_every_case_is_tried_once_before_any_is_tried_twice() -> None:
    read = suite(case("a", trials=3), case("b"), trials=2)
    assert [str(plan.key) for plan in planned(read)] == ["a#0", "b#0", "a#1", "b#1", "a#2"]
    assert [str(plan.key) for plan in planned(read, trials=1)] == ["a#0", "b#0"]
    assert [str(plan.key) for plan in planned(read, record=True)] == ["a#0", "b#0"]


@pytest.mark.req(131)
def test_a_trials_seed_is_its_own_and_the_same_in_every_run() -> None:
    read = suite(case("a"), case("b"), trials=2)
    seeds = [plan.seed for plan in planned(read)]
    assert len(set(seeds)) == 4
    assert [plan.seed for plan in planned(read, "another")] == seeds
    assert [plan.spec.seed for plan in planned(read)] == seeds
    assert trial_seed(1, "a", 0) != trial_seed(0, "a", 0)


@pytest.mark.req(67)
def test_each_trial_has_a_user_whom_nobody_has_met_before() -> None:
    read = suite(case("a"), case("b"), trials=2)
    users = [plan.identity.user_id for run in ("r1", "r2") for plan in planned(read, run)]
    assert len(set(users)) == 8


def test_where_a_tape_holds_what_a_user_says_the_user_is_always_the_same() -> None:
    read = suite(case("a", tape="desk/a"))
    users = {plan.identity.user_id for run in ("r1", "r2") for plan in planned(read, run, trials=3)}
    assert len(users) == 1
    recorded = planned(suite(case("a")), record=True)[0].identity.user_id
    assert recorded in users


def test_a_case_is_answered_by_worlds_and_a_live_model_unless_it_has_a_tape() -> None:
    read = suite(case("a"), case("b", tape="refunds/b"))
    in_world, on_tape = planned(read)
    assert (in_world.spec.modes, in_world.spec.cassette) == ({"orders": "world", "llm": "live"}, "desk/a")
    assert (on_tape.spec.modes, on_tape.spec.cassette) == ({"orders": "replay", "llm": "replay"}, "refunds/b")
    said = planned(read, modes={"llm": "replay"})
    assert [plan.spec.modes["llm"] for plan in said] == ["replay", "replay"]


def test_without_any_world_a_case_is_answered_by_the_tape_that_recording_it_makes() -> None:
    services = {"orders": {**SERVICES["orders"], "world": ""}, "llm": SERVICES["llm"]}
    about = project(services)
    assert planned(suite(case("a")), about=about)[0].spec.modes == {"orders": "replay", "llm": "replay"}
    recorded = planned(suite(case("a")), about=about, record=True)[0].spec
    assert (recorded.modes, recorded.cassette) == ({"orders": "record", "llm": "record"}, "desk/a")
    assert recorded.recorded_by == "proctor run desk --record --only a"


def test_a_service_without_world_is_part_of_a_case_in_worlds_only_where_a_tape_has_it() -> None:
    services = {**SERVICES, "mail": {"url": "http://mail.invalid", "env": ["MAIL_URL"]}}
    assert "mail" not in planned(suite(case("a")), about=project(services))[0].spec.modes
    with_tape = project(services, None, "desk/a")
    assert planned(suite(case("a")), about=with_tape)[0].spec.modes["mail"] == "replay"


def test_a_state_that_no_world_begins_with_is_refused() -> None:
    with pytest.raises(SuiteError) as refused:
        planned(suite(case("a", state={"orders": {}})), modes={"orders": "replay"})
    assert refused.value.code == "state_without_world"


def test_limits_are_the_cases_else_the_suites_and_guard_the_session() -> None:
    read = suite(case("a", limits={"steps": 5}, on_loop="hint"), case("b"), limits={"tool": 3})
    first, second = (plan.spec.guard for plan in planned(read))
    assert first is not None
    assert second is not None
    assert (first.steps, first.tool_seconds, first.on_loop) == (5, 20, "hint")
    assert (second.steps, second.tool_seconds, second.on_loop) == (40, 3, "stop")


def test_positions_of_faults_are_thirds_of_the_cases_reference() -> None:
    steps = [{"tool": name} for name in ("get", "look", "refund")]
    faults = {"fault": [{"tool": "refund", "kind": "timeout", "position": "late"}]}
    with_reference = case("a", faults=faults, reference=steps)
    spec = planned(suite(with_reference))[0].spec
    assert spec.faults is not None
    assert spec.faults.reference == ("get", "look", "refund")


@pytest.mark.req(73)
def test_a_case_that_may_write_is_not_planned_against_production() -> None:
    accounts = Accounts(production=True)
    with pytest.raises(SuiteError) as refused:
        planned(suite(case("a")), about=project(accounts=accounts))
    assert refused.value.code == "writes_in_production"
    assert planned(suite(case("a", permissions=["read"])), about=project(accounts=accounts))


@pytest.mark.req(71)
def test_a_case_acts_for_its_own_account() -> None:
    accounts = Accounts(accounts={"ann": Account(test=True)})
    plan = planned(suite(case("a", account="ann")), about=project(accounts=accounts))[0]
    assert (plan.identity.account, plan.identity.how) == ("ann", "case")


def test_cases_are_chosen_by_id_pattern_and_template_in_the_suites_order() -> None:
    cases = [case("refund"), case("words.1"), case("words.2"), case("reship")]
    assert [each.id for each in chosen_cases("desk", cases, ("re*",))] == ["refund", "reship"]
    assert [each.id for each in chosen_cases("desk", cases, ("words", "refund"))] == ["refund", "words.1", "words.2"]
    with pytest.raises(SuiteError, match="refnd") as refused:
        chosen_cases("desk", cases, ("refnd",))
    assert "refund" in refused.value.fix
