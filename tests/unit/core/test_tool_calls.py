"""Calls joined with their results, and which results are failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor.tool_calls import Call, calls_of
from proctor.trajectory import Step, ToolCall, Trajectory
from tests.runs import run_of
from tools.records import labelled_runs


def only(line: dict[str, Any]) -> Call:
    (found,) = calls_of(run_of({"call": "t", **line}))
    return found


def asks(index: int, *ids: str) -> Step:
    return Step(index=index, role="assistant", tool_calls=tuple(ToolCall(name=f"t{i}", id=i) for i in ids))


def answers(index: int, identity: str, text: str | None) -> Step:
    return Step(index=index, role="tool", tool_call_id=identity, text=text)


def texts(*steps: Step) -> list[str | None]:
    return [call.result_text for call in calls_of(Trajectory(id="x", steps=steps))]


def test_the_calls_of_one_step_take_the_results_with_their_ids_in_any_order() -> None:
    assert texts(asks(0, "a", "b"), answers(1, "b", "B"), answers(2, "a", "A")) == ["A", "B"]


def test_a_repeated_id_is_joined_by_order() -> None:
    assert texts(asks(0, "a"), answers(1, "a", "1"), asks(2, "a"), answers(3, "a", "2"), asks(4, "a")) == [
        "1",
        "2",
        None,
    ]


def test_calls_without_an_id_take_the_results_that_follow() -> None:
    stray = answers(0, "", "before any call")
    assert texts(stray, asks(1, "", ""), answers(2, "", "1"), answers(3, "", "2")) == ["1", "2"]


def test_a_result_is_parsed_where_it_is_json() -> None:
    assert only({"result": {"a": [1]}}).result == {"a": [1]}
    assert only({"result": "plain words"}).result == "plain words"
    assert only({"result": "[" * 100_000}).result == "[" * 100_000
    assert only({"result": "1" * 5_000}).result == "1" * 5_000


@pytest.mark.parametrize(
    "line",
    [
        {"result": "fine", "failed": True},
        {"result": "fine", "status": 404},
        {"status": 500},
        {"result": {"error": "no such order"}},
        {"result": {"errors": ["x"]}},
        {"result": {"success": False}},
        {"result": {"ok": False}},
        {"result": {"status": "Failed"}},
        {"result": {"status": "error"}},
        {"result": "Error: payment method"},
        {"result": '"Error: in a JSON string"'},
        {"result": "错误：订单不存在"},
        {"result": "Traceback (most recent call last):"},
        {"result": "Exception in thread"},
    ],
)
def test_a_result_that_its_source_its_status_or_itself_calls_an_error_failed(line: dict[str, Any]) -> None:
    assert only(line).failed is True


@pytest.mark.parametrize(
    "line",
    [
        {"result": "fine", "status": 201},
        {"result": {"error": None, "errors": [], "success": True, "ok": True, "status": "delivered"}},
        {"result": {"status": 500}},
        {"result": "Errors found: 0"},
        {"result": "No error"},
        {"result": []},
        {"result": ""},
    ],
)
def test_any_other_result_did_not_fail(line: dict[str, Any]) -> None:
    assert only(line).failed is False


def test_a_call_without_an_answer_neither_failed_nor_succeeded() -> None:
    call = only({})
    assert (call.failed, call.result_step, call.result) == (None, None, None)


def test_every_call_of_the_real_runs_has_its_own_result(shared_data: Path) -> None:
    runs = labelled_runs(shared_data)
    assert len(runs) == 74
    with_repeats = 0
    for run in runs:
        calls = calls_of(run)
        ids = [asked.id for step in run.steps for asked in step.tool_calls if asked.id]
        with_repeats += len(set(ids)) < len(ids)
        joined = [call.result_step for call in calls if call.result_step is not None]
        assert len(joined) == len(set(joined))
        for call in calls:
            if call.result_step is not None:
                assert call.result_step > call.step
                assert run.steps[call.result_step].name in (None, call.name)
    assert with_repeats == 4
