"""The table of effects, and the entries that declare what is guessed: each names its calls, and no others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.effect_table import Confirmation, call_name, confirmations, effects_seen, toml_lines
from proctor.effects import effect_today, tool_today
from proctor.interaction import Interaction, Request, Response
from proctor.placeholders import plain
from proctor.service_config import ServiceConfig

DESK = ServiceConfig(url="http://x.test", tools="POST /tools/{tool}")


def made(target: str, method: str = "POST", service: str = "desk") -> Interaction:
    request = Request(service, method, target, (), b"")
    return Interaction(0, request, Response(200, "OK", (), b""), "http://x.test", "write", "guessed")


def declared(service: ServiceConfig, *calls: Interaction) -> ServiceConfig:
    """The service with everything confirmed that these calls leave guessed."""
    found = confirmations({"desk": service}, effects_seen({"desk": service}, calls)).get("desk", Confirmation())
    lists = {"reads": (*service.reads, *found.reads), "writes": (*service.writes, *found.writes)}
    return ServiceConfig.model_validate({**service.model_dump(), **lists})


def test_each_call_is_listed_once_for_each_effect_and_reason_with_its_count() -> None:
    config = DESK.model_copy(update={"writes": ("pay",)})
    calls = [made("/tools/pay"), made("/tools/query_order"), made("/tools/query_order?x=1"), made("/orders", "GET")]
    seen = effects_seen({"desk": config}, [*calls, made("/any", service="gone")])
    assert [(each.service, each.name, each.effect, each.why, each.count) for each in seen] == [
        ("desk", "GET /orders", "read", "method", 1),
        ("desk", "pay", "write", "declared", 1),
        ("desk", "query_order", "read", "guessed", 2),
        ("gone", "POST /any", "write", "guessed", 1),
    ]


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("/orders/7/pay", "POST /orders/*/pay"),
        ("/orders/8f14e45fceea167a/pay?x=1", "POST /orders/*/pay"),
        ("/orders/123e4567-e89b-12d3-a456-426614174000/pay", "POST /orders/*/pay"),
        (f"/orders/{plain(3)}/pay", "POST /orders/*/pay"),
        ("/v1/orders", "POST /v1/orders"),
        ("/orders/7", "POST /orders/7"),
        ("", "POST /"),
    ],
)
def test_ids_within_a_path_are_one_call(target: str, name: str) -> None:
    assert call_name(made(target), None) == name


def test_what_is_guessed_is_declared_and_a_get_of_the_same_path_stays_a_read() -> None:
    calls = [made("/orders"), made("/orders", "GET"), made("/orders/7/search"), made("/orders/8/search")]
    after = declared(DESK, *calls)
    assert (after.reads, after.writes) == (("POST /orders/*/search",), ("POST /orders",))
    found = [effect_today({"desk": after}, call) for call in calls]
    assert found == [("write", "declared"), ("read", "method"), ("read", "declared"), ("read", "declared")]


def test_an_entry_that_would_change_what_is_declared_is_not_offered() -> None:
    config = ServiceConfig(url="http://x.test", reads=("orders/7/pay",))
    seven, eight = made("/orders/7/pay"), made("/orders/8/pay")
    assert declared(config, seven, eight) == config
    assert declared(config, eight) == config, "nor where that call was not recorded"
    wild = ServiceConfig(url="http://x.test", reads=("orders/7*",))
    assert declared(wild, eight) == wild


def test_a_name_with_a_secret_in_it_and_a_service_that_is_gone_are_left_out() -> None:
    calls = [made(f"/orders/{plain(1)}"), made("/pay", service="gone")]
    assert confirmations({"desk": DESK}, effects_seen({"desk": DESK}, calls)) == {}


def test_the_lines_keep_what_the_lists_hold() -> None:
    config = {"desk": DESK.model_copy(update={"reads": ("query_*",)}), "other": DESK}
    confirmed = {"desk": Confirmation(("calc",), ("pay",)), "other": Confirmation(writes=("支付",))}
    assert toml_lines(config, confirmed) == (
        "[services.desk]",
        'reads = ["query_*", "calc"]',
        'writes = ["pay"]',
        "[services.other]",
        'writes = ["支付"]',
    )


WORDS = st.text(st.sampled_from("aZ7[]*?!-_.支 "), min_size=1, max_size=6)
PATHS = st.lists(st.one_of(WORDS, st.sampled_from(["7", "42", "get", "pay"])), max_size=4)


@given(
    tools=st.lists(WORDS.map(lambda word: word.replace("?", "")).filter(bool), max_size=4),
    paths=st.lists(PATHS.map(lambda parts: "/" + "/".join(part.replace("?", "") for part in parts)), max_size=4),
    methods=st.lists(st.sampled_from(["GET", "POST", "PUT"]), min_size=8, max_size=8),
    lists=st.tuples(st.lists(WORDS, max_size=2), st.lists(WORDS, max_size=2)),
)
def test_confirming_changes_no_effect_and_is_done_once(
    tools: list[str], paths: list[str], methods: list[str], lists: tuple[list[str], list[str]]
) -> None:
    calls = [made(f"/tools/{tool}") for tool in tools]
    calls += [made(path, method) for path, method in zip(paths, methods, strict=False)]
    try:
        service = ServiceConfig.model_validate({**DESK.model_dump(), "reads": lists[0], "writes": lists[1]})
    except ValueError:  # a name in both
        return
    after = declared(service, *calls)
    for call in calls:
        was, now = effect_today({"desk": service}, call), effect_today({"desk": after}, call)
        assert now.effect == was.effect
        assert now.why in {was.why, "declared"}
    assert declared(after, *calls) == after


def test_a_tool_named_by_todays_template_is_shown_by_it_whatever_the_tape_says() -> None:
    call = replace(made("/tools/pay"), tool="old name")
    assert tool_today({"desk": DESK}, call) == "pay"
    assert tool_today({}, call) == "old name"
    assert effects_seen({"desk": DESK}, [call])[0].name == "pay"
