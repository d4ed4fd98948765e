"""What lint says of cases that show nothing, and of sets that lack something."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from proctor.cases.case import WANTED, Case
from proctor.cases.files import Placed, SuiteRead
from proctor.cases.lint import Surroundings, lint
from proctor.cases.suite import Suite
from proctor.trajectory import end_state_of

SUITE = Suite(name="s", title="t", tests="this", tests_not="that")
START = {"orders": {"orders": {"A1": {"status": "paid", "total": 40}}}}
TODAY = date(2026, 12, 3)


def case(number: int = 0, turns: int | list[Any] = 1, **said: Any) -> Case:
    asked = [{"user": f"hello {at}"} for at in range(turns)] if isinstance(turns, int) else turns
    return Case.model_validate({"id": f"c{number}", "title": "t", "turns": asked, **said})


def codes(*cases: Case, tools: set[str] | None = None, starts: Any = START) -> list[str]:
    placed = tuple(Placed(each, Path("s.yaml"), at) for at, each in enumerate(cases))
    problems = lint(SuiteRead(Path("s.yaml"), SUITE, placed), Surroundings(TODAY, starts, tools))
    return [problem.code for problem in problems if problem.where != "s.yaml"]


PAID = {"path": "$.orders.A1.status", "value": "paid"}
CANCELLED = {"path": "$.orders.A1.status", "value": "cancelled"}


@pytest.mark.req(222)
@pytest.mark.parametrize(
    ("expect", "found"),
    [
        ({}, ["expects_nothing"]),
        ({"state": [PAID]}, ["do_nothing_passes"]),
        ({"state": [PAID], "not_called": ["cancel_order"], "never_says": ["sorry"]}, ["do_nothing_passes"]),
        ({"not_called": ["cancel_order"]}, ["do_nothing_passes"]),
        ({"writes": []}, ["do_nothing_passes"]),
        ({"calls": {"mode": "subset", "calls": ["query_order"]}}, ["do_nothing_passes"]),
        ({"called": [{"tool": "query_order", "at_least": 0, "at_most": 2}]}, ["do_nothing_passes"]),
        ({"state": [{"path": "$.orders.A2", "absent": True}]}, ["do_nothing_passes"]),
        ({"state": [PAID], "called": ["query_order"]}, ["met_at_start"]),
        ({"state": [CANCELLED]}, []),
        ({"state": [CANCELLED, PAID]}, []),
        ({"state": [{"path": "$[?@.tool=='refund']", "over": "writes"}]}, []),
        ({"called": ["query_order"]}, []),
        ({"says": ["40"]}, []),
        ({"calls": {"mode": "any_order", "calls": ["query_order"]}}, []),
    ],
)
def test_a_case_that_an_agent_passes_by_doing_nothing_is_an_error(expect: Any, found: list[str]) -> None:
    assert codes(case(expect=expect)) == found


def test_what_a_turn_expects_counts_too() -> None:
    turn = {"user": "hello", "expect": {"called": ["query_order"]}}
    assert codes(case(expect={"not_called": ["x"]}, turns=[turn])) == []


@pytest.mark.req(186)
def test_the_case_s_own_state_is_what_it_begins_with() -> None:
    begun = {"orders": {"orders": {"A1": {"status": "cancelled"}}}}
    assert codes(case(expect={"state": [CANCELLED]}, state=begun)) == ["do_nothing_passes"]
    mine = {"orders": {"orders": {"{id:ORD:mine}": {"status": "paid"}}}}
    path = {"path": "$.orders['{id:ORD:mine}'].status", "value": "paid"}
    assert codes(case(expect={"state": [path]}, state=mine)) == ["do_nothing_passes"]


def test_the_state_of_several_worlds_stands_by_service() -> None:
    starts = {"a": {"x": 1}, "b": {"x": 2}}
    assert end_state_of(starts) == starts
    assert codes(case(expect={"state": [{"path": "$.b.x", "value": 2}]}), starts=starts) == ["do_nothing_passes"]


def test_a_tape_s_state_at_the_start_is_not_known_so_nothing_is_said_of_it() -> None:
    assert codes(case(expect={"state": [PAID]}, tape="refund")) == []


@pytest.mark.parametrize(("until", "found"), [("2026-12-02", ["expired"]), ("2026-12-03", [])])
def test_a_case_is_out_of_date_the_day_after_its_last(until: str, found: list[str]) -> None:
    assert codes(case(expect={"says": ["x"]}, valid_until=date.fromisoformat(until))) == found


def test_tools_are_known_by_name_or_pattern_wherever_a_case_names_them() -> None:
    tools = {"query_order", "cancel_order"}
    good = case(expect={"called": ["query_*"], "requires": {"cancel_order": ["query_order"]}})
    assert codes(good, tools=tools) == []
    assert codes(good, tools=None) == []
    routes = {"a": ["cancel_order"], "b": [{"name": "kancel_order"}]}
    branch = {"routes": routes, "right": "a"}
    bad = case(branches=[branch], reference=[{"tool": "look"}], expect={"in_order": ["ask_*"]})
    assert codes(bad, tools=tools) == ["unknown_tool"] * 3


@pytest.mark.req(11, 13, 14, 47)
def test_a_baseline_set_wants_ten_of_each_category_and_long_chains() -> None:
    def of_set(*cases: Case) -> list[str]:
        placed = tuple(Placed(each, Path("s.yaml"), 1) for each in cases)
        read = SuiteRead(Path("s.yaml"), SUITE, placed)
        return [each.code for each in lint(read, Surroundings(TODAY, START)) if each.where == "s.yaml"]

    says = {"says": ["x"]}
    full = [
        case(10 * at + number, category=category, kind=kinds[number % len(kinds)], expect=says)
        for at, (category, kinds) in enumerate({**WANTED, "normal": ("",)}.items())
        for number in range(10)
    ]
    assert of_set(*full) == ["no_long_chain", "no_longer_chain"]
    assert of_set(*full, case(98, turns=10, expect=says)) == ["no_longer_chain"]
    assert of_set(*full, case(99, turns=15, expect=says)) == []
    assert of_set(*full[1:], case(99, turns=15, category="boundary", expect=says)) == ["set_short"]
    plain = [each for each in full if each.kind != "overlong"]
    assert of_set(*plain, *[case(70 + at, turns=15, category="boundary", expect=says) for at in range(3)]) == [
        "kinds_missing"
    ]
    extended = case(97, turns=15, set="extended", expect=says)
    assert of_set(*full, extended) == ["no_long_chain", "no_longer_chain"], "it is not of the baseline set"


@pytest.mark.req(152)
def test_blind_cases_stand_in_a_file_of_their_own() -> None:
    def mixed(*places: tuple[str, str]) -> list[str]:
        cases = [case(at, set=each, expect={"says": ["x"]}) for at, (_, each) in enumerate(places)]
        placed = tuple(Placed(cases[at], Path(file), at) for at, (file, _) in enumerate(places))
        problems = lint(SuiteRead(Path("s.yaml"), SUITE, placed), Surroundings(TODAY, START))
        found = [each for each in problems if each.code == "blind_mixed"]
        assert all(each.level == "error" for each in found)
        return [each.where for each in found]

    assert mixed(("s.yaml", "baseline"), ("b.yaml", "blind"), ("b.yaml", "blind")) == []
    assert mixed(("s.yaml", "blind")) == []
    assert mixed(("s.yaml", "blind"), ("s.yaml", "blind"), ("s.yaml", "extended")) == ["s.yaml:0"]
    files = [(name, each) for name in ("s.yaml", "b.yaml") for each in ("baseline", "blind")]
    assert mixed(*files) == ["s.yaml:1", "b.yaml:3"]
