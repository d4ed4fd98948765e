"""What a call does to its service: declared before preset before method before a guess from its name."""

from __future__ import annotations

import pytest

from proctor.effects import effect_of, tool_of
from proctor.service_config import ServiceConfig

PLAIN = ServiceConfig(url="http://x.test", tools="POST /tools/{tool}")
LLM = ServiceConfig(preset="openai")


@pytest.mark.parametrize(
    ("service", "method", "name", "found"),
    [
        (ServiceConfig(url="http://x.test", writes=("get_*",)), "POST", "get_ticket", ("write", "declared")),
        (ServiceConfig(url="http://x.test", writes=("get_*",)), "GET", "get_ticket", ("write", "declared")),
        (ServiceConfig(url="http://x.test", reads=("cancel",)), "DELETE", "cancel", ("read", "declared")),
        (ServiceConfig(url="http://x.test", reads=("cancel",)), "POST", "cancel_all", ("write", "guessed")),
        (ServiceConfig(url="http://x.test", reads=("*",), writes=("pay",)), "POST", "pay", ("write", "declared")),
        (ServiceConfig(url="http://x.test", reads=("/orders/*",)), "POST", "orders/7", ("read", "declared")),
        (ServiceConfig(preset="openai", writes=("files",)), "POST", "files", ("write", "declared")),
        (PLAIN, "GET", "create_order", ("read", "method")),
        (PLAIN, "HEAD", "create_order", ("read", "method")),
        (PLAIN, "OPTIONS", "create_order", ("read", "method")),
        (PLAIN, "PUT", "get_order", ("write", "method")),
        (PLAIN, "PATCH", "get_order", ("write", "method")),
        (PLAIN, "DELETE", "get_order", ("write", "method")),
        (LLM, "POST", "chat/completions", ("pure", "preset")),
        (LLM, "GET", "models", ("read", "method")),
        (PLAIN, "POST", "query_order", ("read", "guessed")),
        (PLAIN, "POST", "QueryOrder", ("read", "guessed")),
        (PLAIN, "POST", "getOrder", ("read", "guessed")),
        (PLAIN, "POST", "GetHTTPStatus", ("read", "guessed")),
        (PLAIN, "POST", "list-orders", ("read", "guessed")),
        (PLAIN, "POST", "calc_refund", ("read", "guessed")),
        (PLAIN, "POST", "create_refund", ("write", "guessed")),
        (PLAIN, "POST", "CreateRefund", ("write", "guessed")),
        (PLAIN, "POST", "getaway_booking", ("write", "guessed")),
        (PLAIN, "POST", "cancel_and_get", ("write", "guessed")),
        (PLAIN, "POST", "", ("write", "guessed")),
        (PLAIN, "POST", "查询", ("write", "guessed")),
    ],
)
def test_an_effect_comes_from_the_surest_source(
    service: ServiceConfig, method: str, name: str, found: tuple[str, str]
) -> None:
    assert effect_of(service, method, f"/tools/{name}", name) == found


@pytest.mark.parametrize(
    ("path", "effect"),
    [("/orders/search", "read"), ("/orders/cancel", "write"), ("/search/orders", "write"), ("/", "write")],
)
def test_without_a_tool_the_last_part_of_the_path_is_the_name(path: str, effect: str) -> None:
    assert effect_of(PLAIN, "POST", path, None) == (effect, "guessed")


def test_without_a_tool_patterns_are_held_against_the_whole_path() -> None:
    service = ServiceConfig(url="http://x.test", reads=("orders/*/quote",))
    assert effect_of(service, "POST", "/orders/7/quote", None) == ("read", "declared")
    assert effect_of(service, "POST", "/orders/7/pay", None) == ("write", "guessed")


@pytest.mark.parametrize(
    ("method", "path", "tool"),
    [
        ("POST", "/tools/query_order", "query_order"),
        ("POST", "/tools/a.b-c", "a.b-c"),
        ("GET", "/tools/query_order", None),
        ("POST", "/tools/", None),
        ("POST", "/tools/a/b", None),
        ("POST", "/v1/tools/a", None),
        ("POST", "/", None),
    ],
)
def test_a_tool_is_named_by_the_template_or_not_at_all(method: str, path: str, tool: str | None) -> None:
    assert tool_of(PLAIN, method, path) == tool


def test_a_template_with_text_behind_the_tool_and_regex_signs_is_taken_literally() -> None:
    service = ServiceConfig(url="http://x.test", tools="POST /v1.0/{tool}/run")
    assert tool_of(service, "POST", "/v1.0/pay/run") == "pay"
    assert tool_of(service, "POST", "/v1x0/pay/run") is None
    assert tool_of(service, "POST", "/v1.0/pay") is None


@pytest.mark.parametrize(
    ("name", "value", "tool"),
    [
        ("X-Amz-Target", "DynamoDB_20120810.GetItem", "GetItem"),
        ("x-amz-target", "GetItem", "GetItem"),
        ("SOAPAction", '"http://shop.test/orders#Cancel"', "Cancel"),
        ("SOAPAction", '"http://shop.test/orders/Cancel"', "Cancel"),
        ("SOAPAction", '""', None),
        ("X-Other", "A.GetItem", None),
    ],
)
def test_an_rpc_header_names_the_tool_where_no_template_does(name: str, value: str, tool: str | None) -> None:
    assert tool_of(ServiceConfig(url="http://x.test"), "POST", "/", ((name, value),)) == tool


def test_the_template_goes_before_the_rpc_header() -> None:
    headers = (("X-Amz-Target", "Db.GetItem"),)
    assert tool_of(PLAIN, "POST", "/tools/pay", headers) == "pay"
    assert tool_of(PLAIN, "POST", "/", headers) == "GetItem"
