"""The wrong order, an order that does not exist, and arguments of the wrong type."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.checks.index import CHECKS
from tests.runs import call, refused, run_of

ORDERS = call("list_orders", {"orders": [{"order_id": "W1001"}, {"order_id": "W1002"}]})
MISSING = {"error": "order W9999 not found"}


def wrong_entity(*lines: Any) -> tuple[str, str]:
    result = CHECKS["wrong_entity"](run_of(*lines))
    return result.outcome, result.message


def test_an_id_of_nowhere_that_does_not_exist_is_found() -> None:
    lost = ("user: Cancel my order.", call("get_order", MISSING, order_id="W9999"))
    outcome, message = wrong_entity(*lost)
    assert outcome == "fail"
    assert message.endswith("it stands nowhere before, and the tool said that it does not exist")


def test_an_id_that_the_user_got_wrong_is_the_agents_error_only_when_used_again() -> None:
    once = ("user: Cancel W9999.", call("get_order", MISSING, order_id="W9999"), "agent: It was not found.")
    assert wrong_entity(*once)[0] == "pass"
    assert wrong_entity(*once, call("cancel_order", MISSING, order_id="W9999"))[0] == "fail"


def test_what_a_result_has_named_exists_though_it_may_not_be_to_be_had() -> None:
    listed = call("get_product", {"variants": [{"item_id": "31114"}]})
    sold_out = call("order_item", {"error": "item 31114 not found or available"}, item_id="31114")
    assert wrong_entity("user: One lamp.", listed, sold_out, sold_out)[0] == "pass"


def test_an_error_of_another_kind_says_nothing_of_the_id() -> None:
    assert wrong_entity("user: Go.", refused("get_order", order_id="W9999"))[0] == "pass"


def test_an_id_of_another_kind_is_found() -> None:
    found = call("get_order", {"items": [{"item_id": "61171", "product_id": "33776"}]}, order_id="W1001")
    start = ("user: Return the lamp of W1001.", found)
    assert wrong_entity(*start, call("return_items", "ok", item_ids=["61171"]))[0] == "pass"
    assert wrong_entity(*start, call("return_items", "ok", item_ids=["33776"]))[0] == "fail"
    assert wrong_entity(*start, call("return_items", "ok", itemIds=["33776"]))[0] == "fail"


def test_a_change_to_another_order_than_the_one_that_the_user_named_is_found() -> None:
    start = ("user: Cancel W1001.", ORDERS)
    assert wrong_entity(*start, call("cancel_order", "ok", order_id="W1001"))[0] == "pass"
    assert wrong_entity(*start, call("cancel_order", "ok", order_id="W1002"))[0] == "fail"
    assert wrong_entity(*start, call("get_order", "ok", order_id="W1002"))[0] == "pass"


def test_an_order_that_the_agent_told_the_user_of_may_be_meant() -> None:
    told = ("user: Cancel W1001.", ORDERS, "agent: There is W1002 too.", "user: That too.")
    assert wrong_entity(*told, call("cancel_order", "ok", order_id="W1002"))[0] == "pass"


SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "n": {"type": "integer"},
        "price": {"type": ["number", "null"]},
        "kind": {"enum": ["a", 1]},
        "lines": {"type": "array", "items": {"type": "object", "required": ["sku"]}},
        "who": {"anyOf": [{"type": "string"}, {"type": "object"}]},
        "flag": {"type": "boolean"},
    },
    "required": ["id"],
    "additionalProperties": False,
}
RIGHT: tuple[dict[str, Any], ...] = (
    {"id": "x"},
    {"id": "x", "n": 2, "price": None, "kind": 1, "flag": True},
    {"id": "x", "n": 2.0, "price": 2, "lines": [{"sku": 1}], "who": {}},
)
WRONG: dict[str, dict[str, Any]] = {
    "the whole of use at step 1 lacks id, which the schema requires": {"n": 1},
    "/n of use at step 1 is a string, and the schema wants integer": {"id": "x", "n": "2"},
    "/n of use at step 1 is a boolean, and the schema wants integer": {"id": "x", "n": True},
    "/lines of use at step 1 is a string, and the schema wants array": {"id": "x", "lines": "[]"},
    "/lines/0 of use at step 1 is a string, and the schema wants object": {"id": "x", "lines": ["{}"]},
    "/lines/0 of use at step 1 lacks sku, which the schema requires": {"id": "x", "lines": [{}]},
    "/kind of use at step 1 is none of the values that the schema lists": {"id": "x", "kind": True},
    "/who of use at step 1 fits none of the 2 forms that the schema allows": {"id": "x", "who": 7},
    "/more of use at step 1 is no argument of the schema": {"id": "x", "more": 1},
}


def types(arguments: Any) -> tuple[str, str]:
    tools = [{"name": "use", "parameters": SCHEMA}]
    result = CHECKS["argument_types"](run_of("user: Go.", {"call": "use", "arguments": arguments}, tools=tools))
    return result.outcome, result.message


@pytest.mark.parametrize("arguments", RIGHT, ids=range(len(RIGHT)))
def test_arguments_that_fit_their_schema_pass(arguments: dict[str, Any]) -> None:
    assert types(arguments)[0] == "pass"


@pytest.mark.req(126)
@pytest.mark.parametrize("message", WRONG, ids=range(len(WRONG)))
def test_arguments_of_the_wrong_type_are_found_and_named(message: str) -> None:
    assert types(WRONG[message]) == ("fail", message)


def test_arguments_that_are_no_json_fail_without_a_schema() -> None:
    run = run_of("user: Go.", {"call": "use"})
    asked = run.steps[1].tool_calls[0].model_copy(update={"arguments": None, "arguments_raw": '{"id": '})
    run = run.model_copy(update={"steps": (run.steps[0], run.steps[1].model_copy(update={"tool_calls": (asked,)}))})
    result = CHECKS["argument_types"](run)
    assert (result.outcome, result.message) == ("fail", "the arguments of use at step 1 are no JSON")
