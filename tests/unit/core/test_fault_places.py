"""Where faults fire, against a simple model of calls and thirds that shares nothing with the schedule."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import UsageError
from proctor.fault_plan import FaultPlanSpec
from proctor.fault_schedule import Call, Schedule, resolved

SERVICE_OF = {"query_order": "orders", "refund": "orders", "query_stock": "stock", "pay": "bank"}
MEANT_BY = {
    "query_order": {"query_order"},
    "refund": {"refund"},
    "pay": {"pay"},
    "query_*": {"query_order", "query_stock"},
    "orders": {"query_order", "refund"},
    "*": set(SERVICE_OF),
    "/v1/pay": {"pay"},
    "POST /v1/query_*": {"query_order", "query_stock"},
    "nobody": set(),
}
calls = st.lists(st.sampled_from(sorted(SERVICE_OF)), max_size=25)


@st.composite
def faults(draw: st.DrawFn) -> dict[str, Any]:
    """A fault as a plan file has it."""
    fault: dict[str, Any] = {"tool": draw(st.sampled_from(sorted(MEANT_BY))), "kind": "reset"}
    if draw(st.booleans()):
        fault["service"] = draw(st.sampled_from(["orders", "stock"]))
    when = draw(st.sampled_from(["call", "position", "first"]))
    if when == "call":
        fault["call"] = draw(st.integers(1, 6))
    if when == "position":
        fault["position"] = draw(st.sampled_from(["early", "mid", "late"]))
    return {**fault, "times": draw(st.integers(1, 3))}


def call(name: str) -> Call:
    return Call(SERVICE_OF[name], name, "POST", f"/v1/{name}")


def meant(fault: dict[str, Any], name: str) -> bool:
    return name in MEANT_BY[fault["tool"]] and fault.get("service", SERVICE_OF[name]) == SERVICE_OF[name]


def firsts(fault: dict[str, Any], tape: list[str]) -> set[int]:
    """The how-manieth of its calls a fault may begin at."""
    if "position" not in fault:
        return {fault.get("call", 1)}
    third = ["early", "mid", "late"].index(fault["position"])
    places = [place for place, name in enumerate(tape) if meant(fault, name)]
    return {nth for nth, place in enumerate(places, 1) if third * len(tape) <= 3 * place < (third + 1) * len(tape)}


@given(st.lists(faults(), min_size=1, max_size=4), calls, calls, st.sets(st.integers(0, 24)), st.integers(0, 9))
def test_faults_fire_where_the_plan_says_and_those_which_do_not_are_listed(
    plan: list[dict[str, Any]], tape: list[str], asked: list[str], taken: set[int], seed: int
) -> None:
    spec = FaultPlanSpec.model_validate({"fault": plan, "seed": seed})
    possible = [firsts(fault, tape) for fault in plan]
    try:
        planned = resolved(spec, [call(name) for name in tape])
    except UsageError:
        assert not all(possible)
        return
    assert all(each.first in some for each, some in zip(planned, possible, strict=True))
    schedule = Schedule(planned)
    seen: Counter[int] = Counter()
    fired: Counter[int] = Counter()
    for place, name in enumerate(asked):
        due = []
        for number, fault in enumerate(plan):
            if meant(fault, name):
                seen[number] += 1
                if planned[number].first <= seen[number] < planned[number].first + fault["times"]:
                    due.append(number)
        due = [] if place in taken else due[:1]
        fired.update(due)
        firing = schedule.next(call(name), taken=place in taken)
        assert (firing and (firing.fault, firing.call)) == ((spec.fault[due[0]], seen[due[0]]) if due else None)
    listed = [(each.fault, times, came) for each, times, came in schedule.unfired()]
    short = [number for number, fault in enumerate(plan) if fired[number] < fault["times"]]
    assert listed == [(spec.fault[number], fired[number], seen[number]) for number in short]


def test_a_call_whose_request_asked_for_a_fault_is_counted_and_fires_none_of_the_plan() -> None:
    spec = FaultPlanSpec.model_validate(
        {"fault": [{"tool": "pay", "kind": "reset"}, {"tool": "pay", "kind": "empty", "call": 2}]}
    )
    schedule = Schedule(resolved(spec))
    assert schedule.next(call("pay"), taken=True) is None
    second = schedule.next(call("pay"))
    assert second is not None
    assert second.planned == "pay:2=empty"
    assert [(each.fault.kind, fired, came) for each, fired, came in schedule.unfired()] == [("reset", 0, 2)]
