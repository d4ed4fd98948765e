"""Trajectories as hostile as their type allows: lone surrogates, deep nesting, huge numbers, None everywhere."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from proctor.trajectory import Event, Step, ToolCall, Trajectory, TurnState

NAMES = ("get_order", "cancel_order", "refund", "", "取消", "a*", "refund\ud800")
TEXTS = (
    "W1",
    "2026-12-01",
    "12月1日",
    "01/02/2026",
    "10",
    "$1,000.50",
    "Error: no",
    '{"error": "x"}',
    "[]",
    "?",
    "1e400",
    "W1 \udfff",
)


def nested(depth: int, inside: Any) -> Any:
    """A value under so many lists and objects."""
    for level in range(depth):
        inside = [inside] if level % 2 else {"a": inside}
    return inside


def _texts() -> st.SearchStrategy[str]:
    return st.sampled_from(TEXTS) | st.text(max_size=20)


def values() -> st.SearchStrategy[Any]:
    """What may stand in an argument, a state or an event."""
    odd = st.text(st.characters(exclude_categories=()), max_size=8)
    odd = odd | st.sampled_from(("\ud800", "\udfff W1"))
    numbers = st.integers() | st.floats() | st.just(1e308) | st.builds(pow, st.just(10), st.sampled_from((400, 5000)))
    leaves = st.none() | st.booleans() | numbers | odd | _texts()
    keys = st.sampled_from(("order_id", "a", "status", "a/b~c", "intent", "confidence", "skill", "")) | odd
    small = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4))
    return small | st.builds(nested, st.sampled_from((60, 70, 200, 3000)), leaves)


def tool_calls() -> st.SearchStrategy[ToolCall]:
    """Ids repeat and names do too, so that joining and matching have something to do."""
    return st.builds(
        ToolCall,
        name=st.sampled_from(NAMES),
        id=st.sampled_from(("", "1", "2")),
        arguments=values(),
        arguments_raw=st.none() | _texts(),
    )


def _steps() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"role": st.sampled_from(("system", "user", "assistant", "tool"))},
        optional={
            "turn": st.integers(0, 3),
            "text": st.none() | _texts(),
            "tool_calls": st.lists(tool_calls(), max_size=3).map(tuple),
            "tool_call_id": st.sampled_from((None, "", "1", "2")),
            "status": st.sampled_from((None, 0, 200, 500, 10**30)),
            "is_error": st.none() | st.booleans(),
            "attempts": st.none() | st.integers(1, 9),
            "effect": st.sampled_from((None, "read", "write", "pure")),
        },
    )


def _numbered(steps: list[dict[str, Any]]) -> tuple[Step, ...]:
    return tuple(Step(index=index, **step) for index, step in enumerate(steps))


def trajectories() -> st.SearchStrategy[Trajectory]:
    """Any trajectory that the type allows, small."""
    events = st.builds(
        Event,
        kind=st.sampled_from(("intent", "skill_routed", "state", "memory_hit")),
        data=values(),
        step=st.none() | st.integers(-(10**20), 10**20) | st.integers(0, 5),
    )
    expected = st.fixed_dictionaries({}, optional={"write_actions": values(), "outputs": values()}) | st.just(
        {"write_actions": [{"name": "refund", "arguments": {"order_id": "W1"}}, {"name": "refund"}], "outputs": ["10"]}
    )
    return st.builds(
        Trajectory,
        id=st.just("hostile"),
        steps=st.lists(_steps(), max_size=8).map(_numbered),
        events=st.lists(events, max_size=3).map(tuple),
        states=st.lists(st.builds(TurnState, turn=st.integers(0, 3), before=values(), after=values()), max_size=3).map(
            tuple
        ),
        end_state=values(),
        expected=st.none() | expected,
        final_answer=st.none() | _texts(),
    )
