"""A call is whole or it is not; it is refused by a stable code; what it changed is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proctor.errors import WorldFailed
from proctor.world.kind import WorldKind
from proctor.world.session import Answer, WorldSession
from tests.unit.world.shop import Shop

KIND = WorldKind(Shop)
PLACE = {"lines": [{"sku": "TV01"}], "gift": True, "discount": 0.5, "due": "2026-02-01", "way": "post"}


@pytest.fixture
def shop() -> WorldSession:
    return WorldSession(KIND, 7)


def asked(shop: WorldSession, name: str, caller: str = "", /, **arguments: Any) -> Any:
    """The result of a call that must succeed."""
    answer = shop.call(name, json.dumps(arguments).encode(), caller)
    assert answer.status == 200, answer.body
    return json.loads(answer.body)


def refused(shop: WorldSession, name: str, caller: str = "", /, **arguments: Any) -> dict[str, Any]:
    """The body of a refusal, with its status; nothing has changed."""
    before = shop.state_text()
    answer = shop.call(name, json.dumps(arguments).encode(), caller)
    assert answer.status >= 400
    assert shop.state_text() == before
    assert answer.patch == []
    return {**json.loads(answer.body), "status": answer.status}


@pytest.mark.req(104)
def test_a_write_is_seen_by_the_next_read_and_in_state_log_and_diff(shop: WorldSession) -> None:
    asked(shop, "cancel_order", "alice", order_id="A1")
    assert asked(shop, "query_order", order_id="A1")["status"] == "cancelled"
    changed = [
        {"op": "replace", "path": "/orders/A1/status", "value": "cancelled"},
        {"op": "add", "path": "/orders/A1/tags/by", "value": "alice"},
    ]
    assert shop.diff() == changed
    assert [(each.call, each.tool, each.patch) for each in shop.log] == [(1, "cancel_order", changed)]
    assert shop.state()["orders"]["A1"]["status"] == "cancelled"


@pytest.mark.req(107, 108)
@pytest.mark.parametrize(
    ("change", "code", "argument", "hint"),
    [
        ({"gift": None}, "argument_type", "gift", "change gift"),
        ({"gift": "yes"}, "argument_type", "gift", "change gift"),
        ({"discount": "0.5"}, "argument_type", "discount", "change discount"),
        ({"lines": []}, "argument_range", "lines", "change lines"),
        ({"lines": [{"sku": "TV01", "quantity": 100}]}, "argument_range", "lines", "change lines.0.quantity"),
        ({"lines": [{"sku": "tv"}]}, "argument_value", "lines", "change lines.0.sku"),
        ({"lines": [{}]}, "argument_missing", "lines", "give lines.0.sku"),
        ({"lines": [{"sku": "TV01", "colour": 1}]}, "argument_unknown", "lines", "leave out lines.0.colour"),
        ({"way": "ship"}, "argument_value", "way", "change way"),
        ({"due": "2026-02-31"}, "argument_value", "due", "change due"),
        ({"note": "x" * 21}, "argument_range", "note", "change note"),
        ({"notes": "x"}, "argument_unknown", "notes", 'leave out notes; did you mean "note"?'),
    ],
)
def test_a_wrong_argument_is_named_with_what_to_change(
    shop: WorldSession, change: dict[str, Any], code: str, argument: str, hint: str
) -> None:
    told = refused(shop, "place_order", **{**PLACE, **change})
    assert (told["status"], told["error"], told["argument"], told["hint"]) == (422, code, argument, hint)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "arguments_not_json"),
        (b"\xff", "arguments_not_json"),
        (b'{"order_id": "\\ud800"}', "arguments_not_json"),
        (b"[" * 5000, "arguments_not_json"),
        (b"[]", "arguments_not_object"),
        (b"null", "arguments_not_object"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused(shop: WorldSession, body: bytes, code: str) -> None:
    answer = shop.call("query_order", body)
    assert (answer.status, json.loads(answer.body)["error"]) == (400, code)


def test_null_stands_for_the_default_as_strict_schemas_make_models_say_it(shop: WorldSession) -> None:
    assert asked(shop, "list_orders", limit=None) == ["A1", "A2"]
    assert asked(shop, "list_orders", limit=1) == ["A1"]
    assert json.loads(shop.call("list_orders", b"").body) == ["A1", "A2"]


def test_an_unknown_tool_is_answered_with_the_nearest(shop: WorldSession) -> None:
    told = refused(shop, "query_orders")
    assert (told["status"], told["error"], told["hint"]) == (404, "tool_unknown", 'did you mean "query_order"?')


@pytest.mark.req(70)
@pytest.mark.parametrize(("caller", "allowed"), [("alice", True), ("bob", True), ("owner", False), ("", False)])
def test_who_calls_decides_what_may_be_called(shop: WorldSession, caller: str, allowed: bool) -> None:
    if allowed:
        assert asked(shop, "cancel_order", caller, order_id="A1")["tags"] == {"by": caller}
    else:
        told = refused(shop, "cancel_order", caller, order_id=7)
        assert (told["status"], told["error"]) == (403, "permission_denied")
        assert told["message"] == f"cancel_order is for buyer, not for {caller or 'anonymous'}"


@pytest.mark.req(105)
def test_a_token_and_an_earlier_step_are_wanted_first(shop: WorldSession) -> None:
    wanted = {"order_id": "A1", "amount": "5.00"}
    told = refused(shop, "create_refund", "alice", **wanted, token="guessed")
    assert (told["status"], told["error"], told["argument"]) == (401, "token_invalid", "token")
    token = asked(shop, "get_token")
    told = refused(shop, "create_refund", "alice", **wanted, token=token)
    assert (told["status"], told["error"], told["hint"]) == (409, "refund_amount_required", "call calc_refund first")
    asked(shop, "calc_refund", "alice", order_id="A1")
    assert asked(shop, "create_refund", "alice", **wanted, token=token).startswith("RF-")


def test_a_step_that_was_refused_does_not_count_as_done(shop: WorldSession) -> None:
    token = asked(shop, "get_token")
    refused(shop, "calc_refund", "alice", order_id="none")
    told = refused(shop, "create_refund", "alice", order_id="A1", amount="5.00", token=token)
    assert told["error"] == "refund_amount_required"


def test_a_token_expires_by_the_session_s_own_clock(shop: WorldSession) -> None:
    token = asked(shop, "get_token")
    asked(shop, "calc_refund", "alice", order_id="A1")
    for _ in range(60):
        shop.call("list_orders", b"{}")
    told = refused(shop, "create_refund", "alice", order_id="A1", amount="5.00", token=token)
    assert (told["status"], told["error"]) == (401, "token_expired")


@pytest.mark.req(108)
def test_a_business_error_after_changes_leaves_nothing_of_them(shop: WorldSession) -> None:
    token = asked(shop, "get_token")
    asked(shop, "calc_refund", "alice", order_id="A1")
    told = refused(shop, "create_refund", "alice", order_id="A1", amount="10.01", token=token)
    assert told == {
        "error": "refund_too_large",
        "message": "it did not cost that much",
        "hint": "give less",
        "argument": "amount",
        "status": 422,
    }
    first = asked(shop, "create_refund", "alice", order_id="A1", amount="10.00", token=token)
    other = WorldSession(KIND, 7)
    token = asked(other, "get_token")
    asked(other, "calc_refund", "alice", order_id="A1")
    assert asked(other, "create_refund", "alice", order_id="A1", amount="1.00", token=token) == first


@pytest.mark.parametrize(
    ("how", "code", "told"),
    [
        ("throw", "world_failed", "break_down threw KeyError at shop.py:"),
        ("exit", "world_failed", "break_down threw SystemExit"),
        ("oversell", "world_state_bad", "the state does not allow what was put at stock"),
        ("wrong_type", "world_state_bad", "the state does not allow what was put at notes"),
        ("wrong_result", "world_result_bad", "break_down gives what it does not declare"),
    ],
)
def test_a_world_that_fails_says_where_and_changes_nothing(shop: WorldSession, how: str, code: str, told: str) -> None:
    asked(shop, "cancel_order", "alice", order_id="A2")
    before = shop.state_text(), shop.diff(), list(shop.log)
    with pytest.raises(WorldFailed) as failed:
        shop.call("break_down", json.dumps({"how": how}).encode())
    assert failed.value.code == code
    assert told in failed.value.message
    assert (how == "throw") == ('raise KeyError("gone")' in failed.value.trace)
    assert (shop.state_text(), shop.diff(), shop.log) == before
    assert asked(shop, "list_orders") == ["A1", "A2"]


def test_a_tool_that_says_it_reads_and_writes_is_the_world_s_fault(shop: WorldSession) -> None:
    before = shop.state_text()
    with pytest.raises(WorldFailed, match="declared to read, and changed /notes/0") as failed:
        shop.call("lie", b"{}")
    assert failed.value.code == "world_effect"
    assert shop.state_text() == before


def test_the_effect_is_the_declared_one_or_what_the_call_did(shop: WorldSession) -> None:
    def effect(answer: Answer) -> tuple[str, bool]:
        return answer.effect, answer.declared

    assert effect(shop.call("query_order", b'{"order_id": "A1"}')) == ("read", True)
    assert effect(shop.call("cancel_order", b'{"order_id": "A1"}', "bob")) == ("write", True)
    assert effect(shop.call("roll_dice", b"")) == ("read", False)
    assert effect(shop.call("place_order", json.dumps(PLACE).encode())) == ("write", False)


@pytest.mark.req(131)
def test_time_ids_and_chance_come_from_the_seed_alone() -> None:
    def run(seed: int) -> list[Any]:
        shop = WorldSession(KIND, seed)
        told = [shop.call(name, b"").body for name in ("roll_dice", "get_token", "roll_dice")]
        return [*told, shop.call("place_order", json.dumps(PLACE).encode()).body, shop.state_text(), shop.diff()]

    assert run(1) == run(1)
    assert not set(map(str, run(1)[:5])) & set(map(str, run(2)[:5]))


@pytest.mark.req(222)
def test_a_reset_gives_the_start_again_with_the_same_ids_and_time(shop: WorldSession) -> None:
    start = shop.state_text()
    first = shop.call("place_order", json.dumps(PLACE).encode())
    shop.reset()
    assert (shop.state_text(), shop.diff(), shop.log, shop.calls) == (start, [], [], 0)
    assert shop.call("place_order", json.dumps(PLACE).encode()) == first


def test_the_whole_state_can_be_a_result(shop: WorldSession) -> None:
    assert asked(shop, "dump_all") == shop.state()
