"""A suite's file is read whole, with its includes and templates, or refused by name, file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.cases.files import find_suite, read_suite, suite_names
from proctor.errors import SuiteError

HEAD = """\
name: orders
title: The order desk
tests: whether orders are handled by the rules
tests_not: load, tone
"""
CASES = """\
cases:
  - id: refund
    title: A cracked lamp is refunded
    created: "2026-11-01"
    turns:
      - user: My lamp is cracked, refund it.
    expect:
      state:
        - path: $.orders.US2001.refund.amount
          value: "84.90"
      called: [calc_refund]
"""
TEMPLATE = """\
templates:
  - values:
      order: [US2001, US2002, US2003]
      often: [1, 2]
    case:
      id: ask
      title: Asks for {order}
      turns:
        - user: Where is {order}? {id:ORD:mine} stays.
      expect:
        called:
          - tool: query_logistics
            arguments: {order_id: "{order}"}
            at_least: "{often}"
"""


def written(folder: Path, text: str, name: str = "suites/orders.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refused(path: Path) -> SuiteError:
    with pytest.raises(SuiteError) as caught:
        read_suite(path)
    return caught.value


@pytest.mark.req(51, 175)
def test_a_suite_is_found_by_name_or_path_and_has_its_cases_with_their_lines(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + CASES)
    assert suite_names(tmp_path) == ["orders"]
    assert find_suite(tmp_path, "orders") == find_suite(tmp_path, str(path)) == path
    read = read_suite(path)
    (placed,) = read.cases
    assert (placed.case.id, placed.line, placed.where) == ("refund", 6, f"{path}:6")
    assert (read.suite.size, read.suite.limits.tool, read.suite.limits.steps) == ("smoke", 20.0, 40)
    with pytest.raises(SuiteError) as caught:
        find_suite(tmp_path, "order")
    assert (caught.value.code, caught.value.fix) == ("suite_missing", 'did you mean "orders"?')


def test_a_template_makes_a_case_of_each_combination_with_values_of_their_types(tmp_path: Path) -> None:
    made = [each.case for each in read_suite(written(tmp_path, HEAD + TEMPLATE)).cases]
    assert [case.id for case in made] == [f"ask.{number}" for number in range(1, 7)]
    assert made[0].turns[0].user == "Where is US2001? {id:ORD:mine} stays."
    called = [case.expect.called[0] for case in made]
    assert [each.at_least for each in called if not isinstance(each, str)] == [1, 2, 1, 2, 1, 2]
    assert {case.template for case in made} == {"ask"}


def test_a_value_may_name_another_one(tmp_path: Path) -> None:
    text = TEMPLATE.replace("order: [US2001, US2002, US2003]", 'order: ["parcel {often}"]')
    made = [each.case for each in read_suite(written(tmp_path, HEAD + text)).cases]
    assert [case.title for case in made] == ["Asks for parcel 1", "Asks for parcel 2"]


@pytest.mark.req(150)
def test_where_there_are_too_many_the_seed_chooses_and_a_number_keeps_its_values(tmp_path: Path) -> None:
    few = TEMPLATE.replace("    case:\n", "    most: 3\n    case:\n")
    path = written(tmp_path, HEAD + few)
    everything = {each.case.id: each.case for each in read_suite(written(tmp_path, HEAD + TEMPLATE, "all.yaml")).cases}
    chosen = [[each.case for each in read_suite(path, seed).cases] for seed in (1, 1, 2, 3)]
    assert chosen[0] == chosen[1]
    assert len({tuple(case.id for case in cases) for cases in chosen}) > 1
    for cases in chosen:
        assert len(cases) == 3
        assert all(everything[case.id] == case for case in cases)


def test_cases_of_included_files_come_after_in_the_order_of_their_names(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + 'include: ["more/*.yaml"]\n' + CASES)
    for name in ("b", "a"):
        written(tmp_path, CASES.replace("refund", f"refund_{name}"), f"suites/more/{name}.yaml")
    assert [each.case.id for each in read_suite(path).cases] == ["refund", "refund_a", "refund_b"]


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        (("title: A cracked", "titel: A cracked"), "suite_unknown_key", 'line 7: unknown key "cases.0.titel"'),
        (("    turns:\n      - user", "    turn:\n      - user"), "suite_unknown_key", "line 9: unknown key"),
        (("      - user: My lamp is cracked, refund it.", "      - {}"), "suite_missing_key", '"cases.0.turns.0.user"'),
        (("created:", "priority: P7\n    created:"), "suite_bad_value", 'is "P7", not one of P0, P1, P2, P3'),
        (('"2026-11-01"', "2026-11-01"), "suite_not_plain", "line 8: a timestamp"),
        (("$.orders", "orders["), "suite_bad_value", "line 13: cases.0.expect.state.0.path"),
        (("id: refund", "id: Refund It"), "suite_bad_value", "line 6: cases.0.id"),
        (("tests_not: load, tone\n", ""), "suite_missing_key", '"tests_not" is missing'),
    ],
)
def test_what_does_not_fit_is_told_with_its_line(tmp_path: Path, change: tuple[str, str], code: str, told: str) -> None:
    text = HEAD + CASES
    assert change[0] in text
    error = refused(written(tmp_path, text.replace(*change, 1)))
    assert error.code == code
    assert told in error.message


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("    category: boundary\n    kind: leading\n", "suite_bad_value"),
        ("    tape: t\n    state: {orders: {}}\n", "suite_bad_value"),
        ("    overlay: [{service: orders, at: /x, value: 1}]\n", "suite_bad_value"),
        ("    branches: [{routes: {a: [x], b: [y]}, right: c}]\n", "suite_bad_value"),
        ('    valid_until: "2026-10-01"\n', "suite_bad_value"),
        ("  - {id: refund, title: Again, turns: [{user: hello}]}\n", "suite_double"),
    ],
)
def test_a_case_that_contradicts_itself_or_another_is_refused(tmp_path: Path, more: str, code: str) -> None:
    error = refused(written(tmp_path, HEAD + CASES + more))
    assert error.code == code
    assert "suites/orders.yaml" in error.message


@pytest.mark.parametrize(
    ("pattern", "code"), [("../x.yaml", "suite_outside"), ("/etc/*.yaml", "suite_outside"), ("no/*", "suite_missing")]
)
def test_an_include_stays_in_the_suite_s_folder_and_names_something(tmp_path: Path, pattern: str, code: str) -> None:
    error = refused(written(tmp_path, HEAD + f'include: ["{pattern}"]\n' + CASES))
    assert error.code == code
    assert "line 5" in error.message


def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + "include: [out.yaml]\n" + CASES)
    (tmp_path / "secret.yaml").write_text("cases: []\n")
    (tmp_path / "suites" / "out.yaml").symlink_to(tmp_path / "secret.yaml")
    assert refused(path).code == "suite_outside"


def test_a_value_that_stands_nowhere_and_a_template_that_makes_no_case_are_told_at_the_template(tmp_path: Path) -> None:
    error = refused(written(tmp_path, HEAD + TEMPLATE.replace('"{often}"', "1")))
    assert (error.code, "line 9: {often} stands nowhere" in error.message) == ("suite_value_unused", True)
    error = refused(written(tmp_path, HEAD + TEMPLATE.replace("[1, 2]", "[1, many]")))
    assert error.code == "suite_bad_value"
    assert "line 18: expect.called.0.at_least" in error.message


@pytest.mark.parametrize("text", ["", "- a\n", "name: &a x\n", "a: [\n", HEAD])
def test_what_is_no_suite_at_all_is_refused(tmp_path: Path, text: str) -> None:
    assert refused(written(tmp_path, text)).code.startswith("suite_")
