"""Calls joined with the traffic of the tools: one to one, by the surest evidence, and nothing hidden."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proctor.tool_calls import calls_of
from proctor.trajectories.attribution import Asked, attributed
from proctor.trajectories.exchange import ToolTraffic
from proctor.trajectories.from_session import from_session
from proctor.trajectory import ToolCall, Trajectory
from tests.property.counts import examples
from tests.unit.trajectories.traffic import Call, Conversation, numbered, row, summary

LOOK = Call("look_up", {"order": "A"}, {"paid": 9})
CALLS = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 2)), max_size=8)


def session(calls: list[Call], *extra: dict[str, Any], changed: dict[str, Any] | None = None) -> Trajectory:
    """One round of calls, then words. `changed` alters the first row of the tool; `extra` rows stand before it."""
    asked, *rest = Conversation("chat", "A", (("go", [calls, "Done."]),)).rows()
    rest[0] |= changed or {}
    (found,) = from_session(summary(), numbered([asked, *extra, *rest]))
    return found


def tool_row(**fields: Any) -> dict[str, Any]:
    return row(**{"service": "desk", "target": "/look_up", "tool": "look_up", "arguments": {"order": "A"}, **fields})


def test_the_facts_of_a_result_are_the_wires() -> None:
    found = session([LOOK], changed={"status": 503, "effect": "write", "fault": "down", "seconds": 2.5})
    (step,) = [step for step in found.steps if step.role == "tool"]
    assert (step.status, step.effect, step.fault, step.seconds, step.service) == (503, "write", "down", 2.5, "desk")
    assert step.text == '{"paid": 9}'
    assert calls_of(found)[0].failed is True


def test_parallel_calls_that_reach_the_wire_in_another_order_keep_their_own_results() -> None:
    calls = [Call("look_up", {"order": each}, {"of": each}) for each in "ABC"]
    asked, *rest = Conversation("chat", "A", (("go", [calls, "Done."]),)).rows()
    slow = [{**each, "seconds": float(place)} for place, each in enumerate(rest[:3])]
    (found,) = from_session(summary(), numbered([asked, *reversed(slow), rest[3]]))
    assert [step.seconds for step in found.steps if step.role == "tool"] == [0.0, 1.0, 2.0]


def test_arguments_that_the_agent_added_on_the_way_do_not_part_a_call_from_its_traffic() -> None:
    found = session([Call("look_up", {"order": "A"}, {"paid": 9}, sent={"order": "A", "channel": "chat"})])
    assert [step.status for step in found.steps if step.role == "tool"] == [200]
    assert (found.events, found.differences) == ((), ())


def test_a_failed_attempt_that_was_repeated_is_folded_into_its_call() -> None:
    failed = tool_row(result={"error": "busy"}, fault="busy", status=503)
    for told in ({}, {"result": "another wording than the model was told"}):
        found = session([LOOK], failed, failed, changed=told)
        (step,) = [step for step in found.steps if step.role == "tool"]
        assert (step.attempts, step.status, step.fault) == (3, 200, "busy")
        assert found.events == ()


def test_attempts_that_all_failed_are_one_failed_call() -> None:
    failed = tool_row(result={"error": "busy"}, status=503)
    found = session([LOOK], failed, failed, changed={"result": {"error": "gone"}, "status": 500})
    (step,) = [step for step in found.steps if step.role == "tool"]
    assert (step.attempts, step.status) == (3, 500)
    assert found.events == ()


def test_of_two_equal_calls_the_one_that_failed_stays_failed() -> None:
    busy = Call("look_up", {"order": "A"}, {"error": "busy"})
    asked, first, second, last = Conversation("chat", "A", (("go", [[busy, LOOK], "Done."]),)).rows()
    reworded = [{**first, "status": 503, "result": "x"}, {**second, "result": "y"}]
    (found,) = from_session(summary(), numbered([asked, *reworded, last]))
    assert [(s.status, s.attempts) for s in found.steps if s.role == "tool"] == [(503, 1), (200, 1)]


def test_two_equal_calls_that_were_both_repeated_have_their_attempts_each() -> None:
    failed = tool_row(result={"error": "busy"}, status=503)
    found = session([LOOK, LOOK], failed, failed)
    assert [(s.status, s.attempts) for s in found.steps if s.role == "tool"] == [(200, 2), (200, 2)]


def test_a_failure_after_the_answer_is_no_attempt_of_it() -> None:
    asked, tool, last = Conversation("chat", "A", (("go", [[LOOK], "Done."]),)).rows()
    (found,) = from_session(summary(), numbered([asked, tool, tool_row(result="busy", status=503), last]))
    assert [step.attempts for step in found.steps if step.role == "tool"] == [1]
    assert [(event.kind, event.data["status"]) for event in found.events] == [("unattributed_call", 503)]


def test_a_call_that_nothing_asked_for_stays_visible_as_an_event() -> None:
    found = session([LOOK], row(service="desk", target="/wipe", tool="wipe", arguments={}, result="ok", effect="write"))
    (event,) = found.events
    assert (event.kind, event.by) == ("unattributed_call", "proctor")
    assert event.data == {
        "exchange": 1,
        "service": "desk",
        "tool": "wipe",
        "arguments": {},
        "status": 200,
        "effect": "write",
    }


def test_the_same_successful_call_twice_on_the_wire_is_not_folded() -> None:
    found = session([LOOK], tool_row(result={"paid": 9}))
    assert [event.kind for event in found.events] == ["unattributed_call"]


def test_a_tool_that_nothing_names_is_known_by_its_answer() -> None:
    result = {"tracking": "ZX-1234567", "at": "Leiden"}
    changed = {"tool": None, "target": "/x?o=A", "arguments": None}
    found = session([Call("where", {"order": "A"}, result)], changed=changed)
    assert [(step.name, step.status) for step in found.steps if step.role == "tool"] == [("where", 200)]
    short = session([Call("where", {"order": "A"}, "ok")], changed=changed)
    assert [step.status for step in short.steps if step.role == "tool"] == [None]
    assert [event.data["tool"] for event in short.events] == ["POST /x"]


def test_a_result_that_no_model_was_told_is_in_the_steps_all_the_same() -> None:
    rows = list(Conversation("chat", "A", (("go", [[LOOK], "Done."]),)).rows())[:2]
    (found,) = from_session(summary(), numbered(rows))
    (call,) = calls_of(found)
    assert call.result == {"paid": 9}
    assert (found.steps[-1].role, found.steps[-1].status, found.steps[-1].name) == ("tool", 200, "look_up")
    assert (found.final_answer, found.events) == (None, ())


def test_a_result_that_the_agent_dropped_on_the_way_stands_before_what_was_said_next() -> None:
    other = Call("look_up", {"order": "B"}, {"paid": 1})
    asked, *tools, last = Conversation("chat", "A", (("go", [[LOOK, other], "Done."]),)).rows()
    del last["arguments"]["messages"][3]
    last["arguments"]["messages"].append({"role": "user", "content": "quick"})
    (found,) = from_session(summary(), numbered([asked, *tools, last]))
    assert [call.result for call in calls_of(found)] == [{"paid": 9}, {"paid": 1}]
    assert [step.role for step in found.steps] == ["system", "user", "assistant", "tool", "tool", "user", "assistant"]


def test_tools_inside_the_agent_have_results_and_no_facts() -> None:
    rows = list(Conversation("chat", "A", (("go", [[LOOK], "Done."]),), traffic=False).rows())
    (found,) = from_session(summary(), numbered(rows))
    (call,) = calls_of(found)
    assert (call.result, call.effect) == ({"paid": 9}, None)
    assert [step.status for step in found.steps if step.role == "tool"] == [None]


def test_traffic_before_the_call_or_after_the_next_request_is_not_the_calls() -> None:
    asked = [Asked((0, 0), ToolCall(name="a", arguments={}), after=1.0, before=2.0)]
    early, late = (ToolTraffic(i, "a", {}, None, started=at) for i, at in enumerate((0.5, 2.5)))
    joined = attributed(asked, [early, late])
    assert joined.found == {}
    assert joined.left == (early, late)


def test_earlier_traffic_of_the_same_name_is_not_taken_for_a_later_call() -> None:
    asked, tool, last = Conversation("chat", "A", (("go", [[LOOK], "Done."]),)).rows()
    (found,) = from_session(summary(), numbered([{**tool, "arguments": {"order": "Z"}}, asked, last]))
    assert [step.status for step in found.steps if step.role == "tool"] == [None]
    assert [event.data["arguments"] for event in found.events] == [{"order": "Z"}]
    assert found.differences == ()


def test_conversations_that_part_share_the_facts_of_the_calls_before_and_hide_no_traffic() -> None:
    asked, tool, last = Conversation("chat", "A", (("go", [[LOOK], "Done."]),)).rows()
    other = {**last["arguments"], "messages": [*last["arguments"]["messages"], {"role": "user", "content": "or else?"}]}
    runs = from_session(summary(), numbered([asked, tool, last, {**last, "arguments": other}]))
    assert [[step.status for step in run.steps if step.role == "tool"] for run in runs] == [[200], [200]]
    assert [run.events for run in runs] == [(), ()]


@given(asked=CALLS, executed=CALLS)
@examples(ci=200, soak=5000)
def test_joining_is_one_to_one_and_loses_nothing(asked: list[tuple[str, int]], executed: list[tuple[str, int]]) -> None:
    calls = [
        Asked((0, at), ToolCall(name=name, arguments={"n": n}), after=0, before=9) for at, (name, n) in enumerate(asked)
    ]
    rows = [ToolTraffic(i, name, {"n": n}, None, started=1.0, status=200) for i, (name, n) in enumerate(executed)]
    joined = attributed(calls, rows)
    used = [each.index for each in joined.found.values()]
    assert sorted([*used, *(each.index for each in joined.left)]) == list(range(len(rows)))
    for each in calls:
        assert each.key not in joined.found or joined.found[each.key].name == each.call.name
    for value in set(asked):
        same = [
            found
            for each, wanted in zip(calls, asked, strict=True)
            if wanted == value and (found := joined.found.get(each.key)) and found.arguments == {"n": value[1]}
        ]
        assert len(same) == min(asked.count(value), executed.count(value))
