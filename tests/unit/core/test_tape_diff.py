"""What counts as a change between two tapes, and what does not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from proctor.cassette import Cassette
from proctor.interaction import Headers, Interaction, Request, Response
from proctor.service_config import ServiceConfig
from proctor.tape_diff import diff_tapes

JSON: Headers = (("Content-Type", "application/json"),)


def asked(
    tool: str = "query", body: Any = None, answer: Any = None, headers: Headers = JSON, got: Headers = JSON, **more: Any
) -> Interaction:
    """One call; `body` and `answer` are JSON, or bytes as they are."""
    sent, came = (each if isinstance(each, bytes) else json.dumps(each).encode() for each in (body, answer))
    request = Request("desk", "POST", f"/tools/{tool}", headers, sent)
    response = Response(more.pop("status", 200), "OK", got, came, more.pop("complete", True))
    made = Interaction(0, request, response, "https://desk.test/tools", "read", "declared", tool)
    return replace(made, **more)


def tape(*interactions: Interaction, **stamp: Any) -> Cassette:
    placed = tuple(replace(each, index=index) for index, each in enumerate(interactions))
    return Cassette("t", placed, stamp)


def lines(old: Cassette, new: Cassette, **rules: ServiceConfig) -> list[str]:
    return list(diff_tapes(old, new, rules).lines())


NOTHING = "0 of 1 interactions really changed"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (asked(body=b'{"a": 1, "b": 1.50}'), asked(body=b'{"b":1.5,"a":1}')),
        (asked(answer=b'{"a": 1, "b": 2}'), asked(answer=b'{"b":2,"a":1}')),
        (asked(got=(*JSON, ("Date", "Tue, 01 Dec 2026 09:30:00 GMT"))), asked(got=JSON)),
        (asked(got=(("Last-Modified", "Tue, 01 Dec 2026 09:30:00 GMT"),)),
         asked(got=(("last-modified", "Wed, 02 Dec 2026 09:30:00 GMT"),))),
        (asked(got=(("X-Request-Id", "a1"), ("X-RateLimit-Remaining", "9"))),
         asked(got=(("x-request-id", "b2"), ("X-RateLimit-Remaining", "8")))),
        (asked(headers=(*JSON, ("User-Agent", "one"))), asked(headers=(("user-agent", "two"), *JSON))),
        (asked(started=1.0, seconds=0.5), asked(started=9.0, seconds=0.1)),
    ],
)  # fmt: skip
def test_what_means_the_same_is_no_change(old: Interaction, new: Interaction) -> None:
    assert lines(tape(old, recorded_at="a"), tape(new, recorded_at="b")) == [NOTHING]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (asked(body={"id": 1}), asked(body={"id": 2}), "request body /id: 1 -> 2"),
        (asked(body={"id": 1}), asked(body={"id": 1.0}), "request body /id: 1 -> 1.0"),
        (asked(body=b'{"n": 1.00000000000000000001}'), asked(body=b'{"n": 1.0}'), "request body /n: 1.0 -> 1.0"),
        (asked(answer={"s": True}), asked(answer={"s": 1}), "answer body /s: true -> 1"),
        (asked(answer=[1, 2]), asked(answer=[1]), "answer body /1: 2 -> nothing"),
        (asked(answer=b"{}"), asked(answer=b""), "answer body: {} -> nothing"),
        (asked(answer=b"null"), asked(answer=b""), "answer body: null -> nothing"),
        (asked(), asked(status=404), "answer status: 200 -> 404"),
        (asked(), asked(complete=False), "answer broke off: nothing -> true"),
        (asked(), asked(effect="write"), 'effect: "read" -> "write"'),
        (asked(), asked(effect_why="guessed"), 'effect: "read" -> "read (guessed)"'),
        (asked(), asked(stand_in="desk"), 'answer stand-in: nothing -> "desk"'),
        (asked(got=(("Location", "/1"),)), asked(got=(("Location", "/2"),)), 'answer header location: "/1" -> "/2"'),
        (asked(body=b"\xff", headers=()), asked(body=b"\xfe", headers=()), "request body /digest: "),
        (asked(headers=(*JSON, ("Range", "1"))), asked(), 'request header range: "1" -> nothing'),
    ],
)  # fmt: skip
def test_a_change_is_told_by_its_field(old: Interaction, new: Interaction, told: str) -> None:
    first, head, *fields = lines(tape(old), tape(new))
    assert (first, head) == ("1 of 1 interactions really changed", "~ #0 desk query: changed")
    assert len(fields) == 1
    assert fields[0].startswith(f"    {told}")


def test_a_declared_key_header_counts_and_no_other() -> None:
    one, two = (tape(asked(headers=(*JSON, ("X-Tenant", each)))) for each in "ab")
    assert lines(one, two) == [NOTHING]
    desk = ServiceConfig(url="https://desk.test", key_headers=("X-Tenant",))
    assert lines(one, two, desk=desk)[2:] == ['    request header x-tenant: "a" -> "b"']


def test_a_stream_is_compared_by_its_events() -> None:
    events = (("Content-Type", "text/event-stream"),)
    old = asked(answer=b'data: {"a": "x", "n": 1}\n\n: still here\n\ndata: [DONE]\n\n', got=events)
    same = asked(answer=b'data: {"n":1,"a":"x"}\r\n\r\ndata: [DONE]\r\n\r\n', got=events)
    other = asked(answer=b'data: {"n":1,"a":"y"}\n\ndata: [DONE]\n\n', got=events)
    assert lines(tape(old), tape(same)) == [NOTHING]
    assert lines(tape(old), tape(other))[2:] == ['    answer body /0/data/a: "x" -> "y"']


def kinds(old: Cassette, new: Cassette) -> list[tuple[str, int | None, int | None]]:
    found = diff_tapes(old, new).changes
    return [(each.kind, each.old.index if each.old else None, each.new.index if each.new else None) for each in found]


def test_a_changed_request_is_paired_by_its_tool_and_place() -> None:
    old = tape(asked("a", 1), asked("b", 1), asked("a", 2))
    new = tape(asked("a", 1), asked("b", 7), asked("a", 2))
    assert kinds(old, new) == [("changed", 1, 1)]


def test_an_answer_that_changed_between_the_same_neighbours_did_not_move() -> None:
    old = tape(asked("read", 1, "A"), asked("write", 1), asked("read", 1, "B"))
    new = tape(asked("read", 1, "B"), asked("write", 1), asked("read", 1, "A"))
    assert kinds(old, new) == [("changed", 0, 0), ("changed", 2, 2)]


def test_of_equal_requests_the_one_whose_answer_is_gone_was_dropped() -> None:
    first, second, done = (asked("poll", 1, answer) for answer in ("queued", "running", "done"))
    assert kinds(tape(first, second, done), tape(first, done)) == [("removed", 1, None)]
    assert kinds(tape(first, done), tape(first, second, done)) == [("added", None, 1)]


def test_a_call_made_at_another_place_has_moved() -> None:
    one, two, three = (asked("a", n) for n in range(3))
    assert kinds(tape(one, two, three), tape(two, three, one)) == [("moved", 0, 2)]


def test_a_call_that_moved_and_changed_is_told_once_as_both() -> None:
    old = tape(asked("a", 1, "x"), asked("b", 1), asked("c", 1))
    new = tape(asked("b", 1), asked("c", 1), asked("a", 1, "y"))
    assert lines(old, new)[1:] == ["~ #0 -> #2 desk a: changed, in another order", '    answer body: "x" -> "y"']


def test_the_order_of_calls_that_ran_beside_each_other_is_chance() -> None:
    old = tape(asked("a", 1), asked("b", 1, beside=(0,)))
    assert kinds(old, tape(asked("b", 1), asked("a", 1))) == []
    assert kinds(tape(asked("a", 1), asked("b", 1)), tape(asked("b", 1), asked("a", 1))) != []


def test_what_was_removed_stands_where_it_was() -> None:
    old = tape(asked("a", 1), asked("b", 1), asked("c", 1), asked("d", 1))
    new = tape(asked("a", 1, "other"), asked("c", 1, "other"))
    assert kinds(old, new) == [("changed", 0, 0), ("removed", 1, None), ("changed", 2, 1), ("removed", 3, None)]


def test_placeholders_that_are_numbered_otherwise_are_the_same() -> None:
    old = tape(asked(answer={"token": red(1)}), asked("b", {"t": red(1)}, {"key": f"sk-{red(2)}"}))
    new = tape(asked(answer={"token": red(7)}), asked("b", {"t": red(7)}, {"key": f"sk-{red(3)}"}))
    assert lines(old, new) == ["0 of 2 interactions really changed"]


def test_another_secret_in_the_place_of_one_that_stands_elsewhere_is_a_change() -> None:
    old = tape(asked("login", 1, red(1)), asked("a", red(1)), asked("b", red(1)))
    new = tape(asked("login", 1, red(5)), asked("a", red(5)), asked("b", red(6)))
    assert lines(old, new)[1:] == ["~ #2 desk b: changed", f'    request body: "{red(5)}" -> "{red(6)}"']


def test_a_named_identity_is_known_whatever_its_number() -> None:
    def as_user(number: int) -> Interaction:
        return asked(headers=(*JSON, ("Authorization", f"Bearer {red(number)}")))

    alice, bob = {"desk": {"alice": red(1), "bob": red(2)}}, {"desk": {"alice": red(2), "bob": red(1)}}
    assert lines(tape(as_user(1), identities=alice), tape(as_user(2), identities=bob)) == [NOTHING]
    changed = lines(tape(as_user(1), identities=alice), tape(as_user(1), identities=bob))
    assert changed[2:] == [f'    request credential token: "{red(2)}" -> "{red(1)}"']


def red(number: int) -> str:
    return f"proctor-redacted-{number:04d}"


def test_the_circumstances_are_told_and_only_some_of_them_count() -> None:
    old = tape(asked(), environment="staging", host="ci-1", services={"desk": "https://a.test"}, recorded_at="x")
    new = tape(asked(), environment="staging", host="ci-2", services={"desk": "https://a.test"}, recorded_at="y")
    found = diff_tapes(old, new)
    assert (found.different, list(found.lines())) == (False, [NOTHING, '  host: "ci-1" -> "ci-2"'])
    moved = replace(new, stamp={**new.stamp, "environment": "live", "tool_schemas": {"q_x": "5f"}})
    told = diff_tapes(old, moved)
    head = ['* environment: "staging" -> "live"', '* tool schemas: nothing -> {"q_x": "5f"}']
    assert (told.different, list(told.lines())[1:3]) == (True, head)


def test_a_long_diff_is_cut_unless_all_is_asked_for() -> None:
    old = tape(*(asked("a", n, dict.fromkeys(map(str, range(25)), 0)) for n in range(50)))
    new = tape(*(asked("a", n, dict.fromkeys(map(str, range(25)), 1)) for n in range(50)))
    found = diff_tapes(old, new)
    short, whole = list(found.lines()), list(found.lines(everything=True))
    assert short[0] == "50 of 50 interactions really changed"
    assert short[22:23] == ["    ... and 5 more fields"]
    assert short[-1] == "... and 10 more interactions"
    assert len(whole) == 1 + 50 * 26


def test_ten_thousand_interactions_of_which_many_are_alike_are_compared_without_comparing_each_with_each() -> None:
    made = [asked("poll", n % 3, n // 900) for n in range(10_000)]
    new = [*made[:4000], asked("poll", "new", 0), *made[4500:]]
    found = diff_tapes(tape(*made), tape(*new))
    assert (found.changed, found.total) == (500, 10_000)


DATED = ServiceConfig(
    url="http://desk.test",
    ignore=("/id", "?ts"),
    volatile=({"at": "/text", "pattern": r"Today is (\S+)"},),  # type: ignore[arg-type]
)


def test_declared_values_are_no_change_wherever_the_bound_one_stands_later() -> None:
    old, new = (
        tape(
            asked(body={"id": number, "text": f"Hi. Today is {day}"}, answer={"ok": True}),
            asked("book", body={"day": day}, answer={"booked": f"for {day}."}),
        )
        for number, day in ((1, "2026-11-30"), (2, "2026-12-02"))
    )
    assert lines(old, new, desk=DATED) == [
        "0 of 2 interactions really changed",
        "  2 values differ as ignore and volatile in proctor.toml say, and are not shown",
    ]
    assert lines(old, new)[0] == "2 of 2 interactions really changed"


def test_what_is_beside_a_declared_value_is_a_change() -> None:
    old, new = (
        tape(asked(body={"id": 1, "text": f"{hello} Today is {day}"})) for hello, day in (("Hi", "1"), ("Ho", "2"))
    )
    assert lines(old, new, desk=DATED)[0] == "1 of 1 interactions really changed"


def test_an_answer_s_field_is_not_hidden_because_a_request_s_is_ignored() -> None:
    old, new = (tape(asked(body={"id": number}, answer={"id": number})) for number in (1, 2))
    assert "answer body /id: 1 -> 2" in lines(old, new, desk=DATED)[-1]


def test_an_inserted_call_is_one_addition_though_every_prompt_names_another_day() -> None:
    def conversation(day: str, *questions: str) -> Cassette:
        return tape(*(asked(body={"text": f"Today is {day}", "q": question}) for question in questions))

    old, new = conversation("2026-11-30", "a", "b", "c"), conversation("2026-12-02", "a", "new", "b", "c")
    assert [each.kind for each in diff_tapes(old, new, {"desk": DATED}).changes] == ["added"]


def test_ids_that_a_model_minted_are_no_change_in_requests_nor_in_the_answers_that_minted_them() -> None:
    def conversation(minted: str, paired: str) -> Cassette:
        called = {"tool_calls": [{"id": minted, "function": {"name": "f"}}]}
        told = {"role": "tool", "tool_call_id": paired}
        return tape(asked(answer={"message": called}), asked("then", body={"messages": [called, told]}))

    llm = {"desk": ServiceConfig(preset="openai")}
    old = conversation("call_abcdef", "call_abcdef")
    assert not diff_tapes(old, conversation("call_uvwxyz", "call_uvwxyz"), llm).different
    assert diff_tapes(old, conversation("call_uvwxyz", "call_another"), llm).different
