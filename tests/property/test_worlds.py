"""Worlds under whatever an agent may send: stable codes, no half-applied write, sessions that never see each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import WorldFailed
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession
from tests.unit.world.shop import Shop

KIND, AGAIN = WorldKind(Shop), WorldKind(Shop)
FAULTY = frozenset({"break_down", "lie", "leak"})
"""Tools of the sample that break their word."""
LINE = {"sku": "TV01", "quantity": 2}
GOOD: dict[str, dict[str, Any]] = {
    "get_token": {},
    "query_order": {"order_id": "A1"},
    "list_orders": {"limit": 5},
    "place_order": {
        "lines": [LINE],
        "gift": False,
        "discount": 0.1,
        "due": "2026-03-01",
        "way": "post",
        "note": "n",
        "tags": {"a": "b"},
    },
    "cancel_order": {"order_id": "A2"},
    "calc_refund": {"order_id": "A1"},
    "create_refund": {"order_id": "A1", "amount": "3.50", "token": "tok"},
    "roll_dice": {},
    "dump_all": {},
}
VALUES: dict[str, list[Any]] = {
    "null": [None],
    "boolean": [True, False],
    "integer": [0, 7, 10**400],
    "number": [1.5, -1e300],
    "string": ["", "text", "\x00", "😀"],
    "array": [[], [[]]],
    "object": [{}, {"a": {}}],
}
"""By JSON type: some of its values."""


def bad_bodies() -> Iterator[Any]:
    """Each tool with each kind of bad argument: missing, unknown, of another type or out of range by its schema."""
    for name, good in GOOD.items():
        schema = KIND.tools[name].arguments.json_schema()
        yield pytest.param(name, {**good, "surplus": 1}, "argument_unknown", id=f"{name}-surplus")
        for argument, told in schema.get("properties", {}).items():
            if argument in schema.get("required", ()):
                less = {key: value for key, value in good.items() if key != argument}
                yield pytest.param(name, less, "argument_missing", id=f"{name}-without-{argument}")
            for kind, value in wrong(told, argument in KIND.tools[name].defaults):
                for code, worse in kind_of(kind, value):
                    yield pytest.param(name, {**good, argument: worse}, code, id=f"{name}-{argument}-{kind}")


def kind_of(kind: str, values: list[Any]) -> Iterator[tuple[str, Any]]:
    """Each value with the code that its kind must have."""
    for value in values:
        yield {"range": "argument_range", "value": "argument_value"}.get(kind, "argument_type"), value


def wrong(schema: dict[str, Any], may_be_null: bool) -> Iterator[tuple[str, list[Any]]]:
    """Values that a schema forbids, by kind: the name of a JSON type, `range` or `value`."""
    options = schema.get("anyOf", [schema])
    allowed = {option.get("type") for option in options} | ({"null"} if may_be_null else set())
    if "enum" in schema:
        yield "value", ["none of these", 7]
        return
    for kind, values in VALUES.items():
        if kind not in allowed and (kind != "integer" or "number" not in allowed):
            yield kind, values
    for option in options:
        for bound, step in (("minimum", -1), ("maximum", 1)):
            if bound in option and option["type"] == "integer":
                yield "range", [option[bound] + step]
        if "maxLength" in option:
            yield "range", ["x" * (option["maxLength"] + 1)]
        if "minItems" in option:
            yield "range", [[LINE] * (option["minItems"] - 1), [LINE] * (option["maxItems"] + 1)]
        if option.get("format") == "date":
            yield "value", ["soon", "2026-02-30"]


def fresh() -> WorldSession:
    """A session in which something has happened."""
    shop = WorldSession(KIND, 3)
    shop.call("place_order", json.dumps(GOOD["place_order"]).encode(), "alice")
    return shop


def test_the_sample_has_good_arguments_for_each_tool() -> None:
    assert set(GOOD) == set(KIND.tools) - FAULTY
    codes = {name: fresh().call(name, json.dumps(good).encode(), "alice").refused for name, good in GOOD.items()}
    assert {name: code for name, code in codes.items() if code} == {"create_refund": "token_invalid"}


@pytest.mark.req(107)
@pytest.mark.parametrize(("name", "arguments", "code"), list(bad_bodies()))
def test_each_kind_of_bad_argument_has_its_code_and_changes_nothing(
    name: str, arguments: dict[str, Any], code: str
) -> None:
    shop = fresh()
    before = shop.state_text(), shop.diff(), list(shop.log)
    answer = shop.call(name, json.dumps(arguments).encode(), "alice")
    told = json.loads(answer.body)
    assert answer.status == 422
    assert told["error"] == code
    assert told["argument"] in {*arguments, *KIND.tools[name].arguments.json_schema()["properties"]}
    assert told["argument"] in told["hint"]
    assert (shop.state_text(), shop.diff(), shop.log) == before


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, bytes, str]:
    """A call as an agent may make it: often right, sometimes with one argument as it should not be, or no JSON."""
    name = draw(st.sampled_from(sorted(KIND.tools)))
    arguments: Any = dict(GOOD.get(name, {"how": "throw"}))
    how = draw(st.sampled_from(["right", "right", "one", "less", "more", "other", "bytes"]))
    if how == "bytes":
        return name, draw(st.binary(max_size=20)), "alice"
    if how in ("one", "less") and arguments:
        argument = draw(st.sampled_from(sorted(arguments)))
        arguments[argument] = draw(ANY)
        if how == "less":
            del arguments[argument]
    if how == "more":
        arguments[draw(st.text(max_size=5))] = draw(ANY)
    if how == "other":
        arguments = draw(ANY)
    return name, json.dumps(arguments).encode(), draw(st.sampled_from(["alice", "bob", ""]))


def made(shop: WorldSession, call: tuple[str, bytes, str]) -> tuple[int, bytes]:
    """Status and body; where the world failed, 500 and the code."""
    try:
        answer = shop.call(*call)
    except WorldFailed as failed:
        return 500, failed.code.encode()
    return answer.status, answer.body


@given(st.lists(calls(), max_size=6))
def test_whatever_is_sent_only_a_call_that_succeeds_changes_anything(sent: list[tuple[str, bytes, str]]) -> None:
    shop = WorldSession(KIND, 3)
    for call in sent:
        before, writes = shop.state_text(), len(shop.log)
        status, body = made(shop, call)
        assert status != 500 or call[0] in FAULTY
        if status != 200:
            assert shop.state_text() == before
        if status not in (200, 500):
            assert json.loads(body)["error"]
        assert (len(shop.log) > writes) == (shop.state_text() != before) or call[0] == "leak"


@pytest.mark.req(131)
@given(st.lists(calls(), max_size=6))
def test_the_same_seed_and_calls_give_the_same_bytes_state_and_diff(sent: list[tuple[str, bytes, str]]) -> None:
    runs = []
    for kind in (KIND, AGAIN):
        shop = WorldSession(kind, 11)
        shop.call("cancel_order", b'{"order_id": "A1"}', "bob")
        shop.reset()
        runs.append(([made(shop, call) for call in sent], shop.state_text(), shop.diff(), shop.log))
        shop.reset()
        assert shop.diff() == []
    assert runs[0] == runs[1]


@given(st.lists(st.tuples(st.integers(0, 63), calls().filter(lambda call: call[0] != "leak")), max_size=12))
def test_interleaved_sessions_see_what_each_would_see_alone(sent: list[tuple[int, tuple[str, bytes, str]]]) -> None:
    together = [WorldSession(KIND, seed) for seed in range(64)]
    seen = [(which, made(together[which], call)) for which, call in sent]
    for which in {which for which, _ in sent}:
        alone = WorldSession(KIND, which)
        answers = [made(alone, call) for other, call in sent if other == which]
        assert answers == [answer for other, answer in seen if other == which]
        assert together[which].state_text() == alone.state_text()
        assert together[which].diff() == alone.diff()
