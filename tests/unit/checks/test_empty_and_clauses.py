"""Empty results made a fact, and clauses that no policy holds."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.checks.index import CHECKS
from tests.runs import call, run_of

NOTHING = "agent: There are no flights on that day."
EMPTY: tuple[Any, ...] = (
    [],
    {},
    None,
    "",
    "No results found.",
    {"data": [], "total": 0},
    {"orders": {"list": []}, "code": 0},
    "暂无数据",
)
NOT_EMPTY = ([0], {"status": "ok"}, "ok", {"data": [1], "total": 1}, 0, {"orders": [], "note": "closed today"})


def empty_asserted(*lines: Any) -> str:
    return CHECKS["empty_asserted"](run_of("user: Which flights on 20 May?", *lines)).outcome


@pytest.mark.req(34, 36)
@pytest.mark.parametrize("result", EMPTY, ids=range(len(EMPTY)))
def test_nothing_found_does_not_become_nothing_exists(result: Any) -> None:
    assert empty_asserted(call("search_flights", result), NOTHING) == "fail"


@pytest.mark.parametrize("result", NOT_EMPTY, ids=range(len(NOT_EMPTY)))
def test_a_result_with_something_in_it_is_not_empty(result: Any) -> None:
    assert empty_asserted(call("search_flights", result), NOTHING) == "pass"


@pytest.mark.req(36)
@pytest.mark.parametrize(
    "said",
    [
        "agent: I could not find any flights.",
        "agent: The search returned no flights. It seems there are none.",
        "agent: There are no flights. Let me transfer you to a human agent.",
        "agent: There are no flights. Could you confirm the date?",
        "agent: Are there no flights?",
        "agent: 没有查到航班，已为您转接人工。",
    ],
)
def test_saying_what_was_looked_for_looking_again_or_handing_over_is_right(said: str) -> None:
    assert empty_asserted(call("search_flights", []), said) == "pass"


def test_looking_twice_confirms_it() -> None:
    assert empty_asserted(call("search_flights", [], day=20), call("search_flights", [], day=20), NOTHING) == "pass"
    assert empty_asserted(call("search_flights", [], day=20), call("search_flights", [], day=21), NOTHING) == "fail"


@pytest.mark.req(34)
def test_a_value_told_after_nothing_but_empty_results_is_made_up() -> None:
    told = "agent: Flight HAT136 leaves at nine."
    assert empty_asserted(call("search_flights", []), told) == "fail"
    assert empty_asserted(call("search_flights", []), call("get_flight", {"n": "HAT136"}), told) == "pass"


def test_an_empty_answer_to_a_change_means_done() -> None:
    assert empty_asserted(call("cancel_order", ""), NOTHING) == "pass"
    assert empty_asserted(call("think", ""), NOTHING) == "pass"


POLICY = """# Rules

4.2 Basic fares cannot be changed.

## Section 7: bags

5. Be kind.
第十二条 不得转让。
Policy A-7 applies.
"""
HELD = (
    "By section 4.2.",
    "See Section 7.",
    "By rule 5.",
    "第12条规定如此。",
    "第十二条规定。",
    "See clause 7.",
    "Policy A-7.",
)
INVENTED = ("By section 4.3.", "By Section 42.", "By rule 6.", "第十三条规定如此。", "Policy A-8.", "§ 9 says so.")


def cited(said: str, *lines: Any, policy: str | None = POLICY) -> str:
    task = {"policy": policy}
    return CHECKS["cited_clause_exists"](run_of("user: Why?", *lines, f"agent: {said}", task=task)).outcome


@pytest.mark.req(23)
@pytest.mark.parametrize(
    "said",
    [
        "By section 4.2.",
        "See Section 7.",
        "By rule 5.",
        "第12条规定如此。",
        "第十二条规定如此。",
        "See clause 7.",
        "Policy A-7.",
    ],
)
def test_a_clause_of_the_policy_may_be_cited(said: str) -> None:
    assert cited(said) == "pass"


@pytest.mark.req(23)
@pytest.mark.parametrize("said", INVENTED)
def test_a_clause_that_nothing_holds_is_invented(said: str) -> None:
    assert cited(said) == "fail"


def test_a_clause_may_stand_in_an_earlier_result_and_never_in_a_later_one() -> None:
    looked_up = call("search_policy", "Section 9: no pets.")
    assert cited("By section 9.", looked_up) == "pass"
    run = run_of("user: Why?", "agent: By section 9.", looked_up, task={"policy": POLICY})
    assert CHECKS["cited_clause_exists"](run).outcome == "fail"


def test_what_the_user_cites_is_no_knowledge_and_denying_it_cites_nothing() -> None:
    asked = "user: Does section 9 not say so?"
    for said, outcome in (("Yes, by section 9.", "fail"), ("There is no section 9.", "pass")):
        run = run_of(asked, f"agent: {said}", task={"policy": POLICY})
        assert CHECKS["cited_clause_exists"](run).outcome == outcome


def test_without_any_knowledge_nothing_can_be_said() -> None:
    assert cited("By section 4.2.", policy=None) == "not_assessable"
    assert cited("No reason.", policy=None) == "pass"
