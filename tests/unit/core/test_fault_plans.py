"""Fault plans: what is written is meant, what is wrong is named, and a fault is due exactly where it is planned."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from proctor.errors import ProctorError, UsageError
from proctor.fault_file import read_plan
from proctor.fault_plan import KINDS, POSITIONS, Fault, FaultPlanSpec
from proctor.fault_schedule import Call, Schedule, is_for, resolved, third_of
from proctor.fault_text import plan_of_text
from proctor.fault_told import explained, explained_lines

TOOLS = ("query_order", "refund", "query_stock")
WRITTEN = {
    "plan.toml": 'seed = 7\n[[fault]]\ntool = "refund"\ncall = 2\nkind = "error"\nstatus = 503\n',
    "plan.yaml": "seed: 7\nfault:\n- tool: refund\n  call: 2\n  kind: error\n  status: 503\n",
    "plan.json": '{"seed": 7, "fault": [{"tool": "refund", "call": 2, "kind": "error", "status": 503}]}',
}


def call(name: str) -> Call:
    return Call("orders", name, "POST", f"/tools/{name}")


faults = st.builds(
    Fault,
    tool=st.sampled_from((*TOOLS, "query_*", "orders", "/tools/refund")),
    kind=st.sampled_from(KINDS),
    call=st.none() | st.integers(1, 6),
    times=st.integers(1, 4),
)


@given(st.lists(faults, min_size=1, max_size=4), st.lists(st.sampled_from(TOOLS), max_size=25))
def test_a_fault_fires_at_the_calls_that_it_names_and_at_no_other(plan: list[Fault], asked: list[str]) -> None:
    schedule = Schedule(resolved(FaultPlanSpec(fault=tuple(plan))))
    fired = [schedule.next(call(name)) for name in asked]
    seen: Counter[int] = Counter()
    for name, firing in zip(asked, fired, strict=True):
        due = []
        for number, fault in enumerate(plan):
            if is_for(fault, call(name)):
                seen[number] += 1
                first = fault.call or 1
                due += [(fault, seen[number])] if first <= seen[number] < first + fault.times else []
        assert (firing and (firing.fault, firing.call)) == (due[0] if due else None)
    left = {number: times for number, times in enumerate(schedule.fired) if times < plan[number].times}
    assert [(each.fault, times) for each, times, _ in schedule.unfired()] == [(plan[n], t) for n, t in left.items()]


@given(faults)
def test_the_text_of_a_fault_is_that_fault(fault: Fault) -> None:
    assert plan_of_text(fault.told).fault == (fault,)


@given(st.lists(st.sampled_from(TOOLS), min_size=3, max_size=30), st.sampled_from(POSITIONS), st.integers(0, 99))
def test_a_position_is_one_of_the_calls_in_that_third_and_the_seed_decides(tape: list[str], at: str, seed: int) -> None:
    plan = FaultPlanSpec.model_validate({"fault": [{"tool": "*", "kind": "reset", "position": at}], "seed": seed})
    (found,) = resolved(plan, [call(name) for name in tape])
    assert third_of(found.first - 1, len(tape)) == at
    assert resolved(plan, [call(name) for name in tape]) == (found,)
    assert resolved(plan.model_copy(update={"reference": tuple(tape)})) == (found,)


def test_other_seeds_take_other_calls_of_a_third() -> None:
    tape = [call("refund")] * 30
    text = {"fault": [{"tool": "refund", "kind": "reset", "position": "mid"}]}
    first = {resolved(FaultPlanSpec.model_validate({**text, "seed": seed}), tape)[0].first for seed in range(50)}
    assert first == set(range(11, 21))


def test_a_reference_stands_before_the_tape() -> None:
    plan = FaultPlanSpec(fault=plan_of_text("refund:late=reset").fault, reference=("refund", "query_order", "refund"))
    assert resolved(plan, [call("refund")])[0].first == 2


@pytest.mark.parametrize(
    ("text", "tape", "code", "told"),
    [
        ("refund:late=reset", (), "fault_position_unknown", "say which call: refund:1=reset"),
        ("refund:late=reset", ("refund", "query_order", "query_order"), "fault_position_empty", "call 1 is early"),
        ("refnud:late=reset", ("refund", "query_order", "query_order"), "fault_position_empty", '"refund"?'),
    ],
)
def test_a_position_without_a_call_is_refused_by_name(text: str, tape: tuple[str, ...], code: str, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        resolved(plan_of_text(text), [call(name) for name in tape])
    assert refused.value.code == code
    assert text in refused.value.message
    assert told in refused.value.fix


def test_a_star_means_tool_calls_and_an_llm_is_meant_by_its_name_or_path_only() -> None:
    model = Call("openai", None, "POST", "/chat/completions", llm=True)
    meant = {name for name in ("*", "open*", "openai", "/chat/*") if is_for(Fault(tool=name, kind="reset"), model)}
    assert meant == {"openai", "/chat/*"}
    assert is_for(Fault(service="openai", kind="reset"), model)
    assert not is_for(Fault(service="orders", tool="*", kind="reset"), model)


def test_without_a_tool_s_name_the_end_of_the_path_is_it() -> None:
    fault = Fault(tool="refund", kind="reset")
    assert is_for(fault, Call("orders", None, "POST", "/tools/refund"))
    assert not is_for(fault, Call("orders", "other", "POST", "/tools/refund"))


@pytest.mark.parametrize("name", WRITTEN)
def test_the_three_kinds_of_file_say_the_same(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(WRITTEN[name], encoding="utf-8")
    assert read_plan(str(tmp_path / name)) == FaultPlanSpec(fault=plan_of_text("refund:2=503").fault, seed=7)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("refund=timeuot", 'did you mean "timeout"?'),
        ("refund:erly=timeout", 'did you mean "early"?'),
        ("refund", "TOOL[:CALL|:early|:mid|:late]=KIND"),
        ("refund=777", "777 is no status of an error"),
        ("refund=reset@3", "seconds is for timeout and slow only"),
        ("refund=reset*0", "greater than or equal to 1"),
        ("", "TOOL[:CALL"),
    ],
)
def test_a_wrong_text_is_named_with_the_nearest_right_one(text: str, told: str) -> None:
    with pytest.raises(UsageError, match="fault") as refused:
        plan_of_text(text)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("name", "content", "code", "told"),
    [
        ("p.toml", '[[fault]]\ntol = "a"\nkind = "reset"\n', "faults_unknown_key", 'did you mean "tool"?'),
        ("p.yaml", "fault:\n- {tool: a, kind: restt}\n", "faults_bad_value", 'did you mean "reset"?'),
        ("p.json", '{"fault": []}', "faults_bad_value", "it plans nothing"),
        ("p.json", '{"fault": [', "faults_syntax", "cannot be read"),
        ("p.yaml", "fault: [", "faults_syntax", "cannot be read"),
        ("p.yaml", "- a", "faults_bad_value", "p.yaml"),
    ],
)
def test_a_wrong_file_is_named_with_its_place(name: str, content: str, code: str, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ProctorError) as refused:
        read_plan(str(tmp_path / name))
    assert refused.value.code == code
    assert told in str(refused.value)


@pytest.mark.parametrize("fields", [{"kind": "reset"}, {"kind": "reset", "tool": ""}, {"kind": "slow", "status": 500}])
def test_a_fault_that_says_too_little_or_too_much_is_none(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Fault.model_validate(fields)


def test_explaining_says_which_calls_of_the_tape_are_meant_and_what_may_not_fire() -> None:
    plan = plan_of_text("query_order:2=slow@3, refund=rate_limited*2, refnud=reset, refund:2=empty, header")
    tape = [call(name) for name in ("query_order", "refund", "query_order", "query_stock")]
    told = explained(plan, tape)
    assert [each["on_tape"] for each in told] == [[2], [1], [], []]
    assert told[0]["what"].startswith("the answer comes 3 s late, and is right; then the source answers")
    assert told[0]["warning"] == ""
    assert told[1]["warning"].startswith("the tape has 1 such call only")
    assert told[2]["warning"] == 'the tape has no such call; did you mean "refund"?'
    assert told[3]["warning"].startswith("refund=rate_limited*2 stands first")
    lines = "\n".join(explained_lines(plan, told))
    assert "calls 1 to 2 of refund: status 429 comes, with Retry-After: 1; nobody else is asked" in lines
    assert "x-proctor-fault" in lines
    json.dumps(told)
