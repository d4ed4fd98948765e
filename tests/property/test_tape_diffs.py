"""Tapes of a few calls that repeat, are dropped, added, changed and reordered: every one is accounted for, once."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from proctor.cassette import Cassette
from proctor.interaction import Interaction, Request, Response
from proctor.tape_diff import diff_tapes
from proctor.tape_outline import outline

JSON = (("Content-Type", "application/json"),)
Call = tuple[str, int, int]
"""Tool, what is asked, what is answered."""

calls: st.SearchStrategy[Call] = st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.integers(0, 2))
tapes = st.lists(calls, max_size=12)


def tape(made: list[Call]) -> Cassette:
    return Cassette("t", tuple(interaction(index, each) for index, each in enumerate(made)))


def interaction(index: int, call: Call) -> Interaction:
    tool, asked, answer = call
    request = Request("desk", "POST", f"/{tool}", JSON, json.dumps({"n": asked}).encode())
    response = Response(200, "OK", JSON, json.dumps({"n": answer}).encode())
    return Interaction(index, request, response, f"https://desk.test/{tool}", "read", "declared", tool)


@given(tapes, tapes)
def test_every_interaction_of_both_tapes_is_in_one_pair_or_told_once(old: list[Call], new: list[Call]) -> None:
    found = diff_tapes(tape(old), tape(new))
    told_old = [change.old.index for change in found.changes if change.old]
    told_new = [change.new.index for change in found.changes if change.new]
    assert len(set(told_old)) == len(told_old)
    assert len(set(told_new)) == len(told_new)
    rest_old = [call for index, call in enumerate(old) if index not in told_old]
    assert rest_old == [call for index, call in enumerate(new) if index not in told_new]
    assert found.total == len(rest_old) + found.changed


@given(tapes, tapes)
def test_nothing_changed_exactly_where_the_tapes_and_their_outlines_are_equal(old: list[Call], new: list[Call]) -> None:
    changed = diff_tapes(tape(old), tape(new)).changed
    assert (changed == 0) == (old == new)
    assert (changed == 0) == (list(outline(tape(old), {})) == list(outline(tape(new), {})))


@given(st.lists(st.integers(0, 10**6), unique=True, max_size=30), st.data())
def test_requests_that_stand_once_are_told_as_dropped_and_added_and_no_other(
    kept: list[int], data: st.DataObject
) -> None:
    dropped = {n for n in kept if data.draw(st.booleans())}
    added = [-1 - n for n in range(data.draw(st.integers(0, 3)))]
    new = [n for n in kept if n not in dropped]
    for n in added:
        new.insert(data.draw(st.integers(0, len(new))), n)
    tools = {n: f"tool{n}" for n in (*kept, *added)}
    before, after = (tape([(tools[n], n, 0) for n in side]) for side in (kept, new))
    found = diff_tapes(before, after)
    assert {change.old.asked["body"]["n"] for change in found.changes if change.old} == dropped
    assert {change.new.asked["body"]["n"] for change in found.changes if change.new} == set(added)
    assert {change.kind for change in found.changes} <= {"added", "removed"}
