"""The match key: stable under what carries no meaning, different under every change that may carry some."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cassette import Cassette
from proctor.config import Config
from proctor.interaction import Headers, Interaction, Request, Response
from proctor.matchkey import ExactKey, key_headers_of
from proctor.proxy.playback import Tape
from proctor.service_config import ServiceConfig
from tests.property.counts import examples

CONFIG = Config(services={"desk": ServiceConfig(url="http://desk.test", key_headers=("X-Tenant",))}, root=Path("/"))
JSON = (("Content-Type", "application/json; charset=utf-8"), ("Accept", "*/*"), ("X-Tenant", "t1"))
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)
objects = st.dictionaries(st.text(max_size=5), values, min_size=1, max_size=5)


def tape_of(*requests: Request) -> Tape:
    """A tape that recorded these requests."""
    answer = Response(200, "OK", (), b"{}")
    made = tuple(
        Interaction(index, request, answer, "http://desk.test", "read", "declared")
        for index, request in enumerate(requests)
    )
    return Tape(Cassette("t", made), CONFIG)


def finds(tape: Tape, request: Request, identity: tuple[str, ...] = ()) -> bool:
    """Whether the tape answers a request: exactly, else by meaning, as replay looks it up."""
    headers = key_headers_of(request.headers, ("x-tenant",))
    exact = ExactKey(request.service, request.method, request.target, headers, identity, request.body)
    return bool(tape.exact(exact) or tape.canonical(request, headers, identity))


def post(body: Any, headers: Headers = JSON, target: str = "/tools/x?b=2&a=1&a=0") -> Request:
    """A JSON request."""
    return Request("desk", "POST", target, headers, json.dumps(body).encode("utf-8", "surrogatepass"))


def shuffled(value: Any, rng: random.Random) -> Any:
    """The same JSON value with its keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: shuffled(value[key], rng) for key in keys}
    return [shuffled(item, rng) for item in value] if isinstance(value, list) else value


@given(body=objects, seed=st.integers(0, 2**32))
@examples(ci=200, soak=1000)
def test_header_order_key_order_white_space_and_query_name_order_do_not_count(body: Any, seed: int) -> None:
    rng = random.Random(seed)
    headers = list(JSON)
    rng.shuffle(headers)
    text = json.dumps(shuffled(body, rng), indent=rng.choice([None, 1]), ensure_ascii=False)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = json.dumps(body).encode()
    other = Request("desk", "POST", "/tools/x?a=1&a=0&b=2", (*headers, ("User-Agent", "other")), data)
    assert finds(tape_of(post(body)), other)


def changed(value: Any, rng: random.Random) -> Any:
    """The same JSON object with one change that a receiver could tell."""
    kinds: list[Callable[[], Any]] = [
        lambda: {**value, f"added{rng.random()}": 1},
        lambda: {key: item for key, item in value.items() if key != next(iter(value))},
    ]
    key = rng.choice(sorted(value))
    inner = value[key]
    if isinstance(inner, dict) and inner:
        return {**value, key: changed(inner, rng)}
    if isinstance(inner, list) and len({json.dumps(item) for item in inner}) > 1:
        kinds.append(lambda: {**value, key: inner[::-1]} if inner != inner[::-1] else {**value, key: [*inner, None]})
    kinds.append(lambda: {**value, key: other_leaf(inner)})
    return rng.choice(kinds)()


def other_leaf(leaf: Any) -> Any:
    """A near relation: another type that looks alike, or the next value."""
    if isinstance(leaf, bool):
        return int(leaf)
    if isinstance(leaf, int):
        return float(leaf) if abs(leaf) < 2**50 else leaf + 1
    if isinstance(leaf, float):
        return str(leaf)
    if isinstance(leaf, str):
        return f"{leaf} "
    return False if leaf is None else None


REQUEST_CHANGES: dict[str, Callable[[Request], Request]] = {
    "method": lambda r: replace(r, method="PUT"),
    "path segment": lambda r: replace(r, target=r.target.replace("/tools/x", "/tools/y")),
    "encoded slash": lambda r: replace(r, target=r.target.replace("/tools/x", "/tools%2Fx")),
    "query value": lambda r: replace(r, target=r.target.replace("b=2", "b=3")),
    "query removed": lambda r: replace(r, target="/tools/x?a=1&a=0"),
    "order of one name": lambda r: replace(r, target="/tools/x?b=2&a=0&a=1"),
    "empty for none": lambda r: replace(r, target=r.target + "&c="),
    "declared key header": lambda r: replace(r, headers=(*r.headers[:2], ("X-Tenant", "t2"))),
    "declared key header removed": lambda r: replace(r, headers=r.headers[:2]),
    "target header": lambda r: replace(r, headers=(*r.headers, ("X-Amz-Target", "Db.GetItem"))),
    "range": lambda r: replace(r, headers=(*r.headers, ("Range", "bytes=0-9"))),
    "soap action": lambda r: replace(r, headers=(*r.headers, ("SOAPAction", '"do"'))),
    "if-match": lambda r: replace(r, headers=(*r.headers, ("If-Match", '"1"'))),
    "accept with a version": lambda r: replace(r, headers=(*r.headers, ("Accept", "application/vnd.x.v3+json"))),
    "body removed": lambda r: replace(r, body=b""),
}


@pytest.mark.parametrize("change", REQUEST_CHANGES)
def test_each_part_of_a_request_counts(change: str) -> None:
    request = post({"order_id": "A1"})
    assert finds(tape_of(request), request)
    assert not finds(tape_of(request), REQUEST_CHANGES[change](request))


def test_a_credential_counts() -> None:
    alice = replace(post({}), headers=(*JSON, ("Authorization", "Bearer proctor-redacted-0001")))
    tape = tape_of(alice)
    assert finds(tape, alice, ("proctor-redacted-0001",))
    assert not finds(tape, alice, ("proctor-redacted-0002",))
    assert not finds(tape, alice, ())
    assert not finds(tape_of(post({})), post({}), ("proctor-redacted-0001",))


@given(body=objects, seed=st.integers(0, 2**32))
@examples(ci=200, soak=1000)
def test_any_change_of_a_json_body_misses(body: Any, seed: int) -> None:
    assert not finds(tape_of(post(body)), post(changed(body, random.Random(seed))))


LOOKALIKES = [
    ("1", "1.0"), ("1", "true"), ("0", "false"), ("1", '"1"'), ("null", '""'), ("[]", "{}"), ('{"a":null}', "{}"),
    ("9007199254740993", "9007199254740992"), ("18446744073709551617", "18446744073709551616"),
    ("0.1", "0.1000000000000000000001"), ("1e400", "1e401"), ("NaN", "Infinity"), ('{"a":1,"a":2}', '{"a":2}'),
    ('"\\ud800"', '"\\ud801"'), ('"\\ud800"', '"?"'), ("[" * 3000 + "]" * 3000, "[" * 3001 + "]" * 3001),
    ("[1,2]", "[2,1]"), ('"a"', '"a "'), ('"e\\u0301"', '"\\u00e9"'), ("-0.0", "0.0"), ('"1.0"', "1.0"),
]  # fmt: skip


@pytest.mark.parametrize(("recorded", "asked"), LOOKALIKES, ids=[f"{a[:12]}~{b[:12]}" for a, b in LOOKALIKES])
def test_values_that_some_parsers_confuse_miss_each_other(recorded: str, asked: str) -> None:
    first, second = (replace(post({}), body=text.encode()) for text in (recorded, asked))
    assert not finds(tape_of(first), second)
    assert not finds(tape_of(second), first)
    assert finds(tape_of(first), first)


@pytest.mark.parametrize(("recorded", "asked"), [("1.0", "1.00"), ("10e-1", "1.0"), ('"\\u4f60"', '"你"')])
def test_two_spellings_of_one_value_match(recorded: str, asked: str) -> None:
    first, second = (replace(post({}), body=text.encode()) for text in (recorded, asked))
    assert finds(tape_of(first), second)


def form(body: bytes) -> Request:
    """A form request."""
    return Request("desk", "POST", "/f", (("Content-Type", "application/x-www-form-urlencoded"),), body)


def test_form_fields_count_and_their_order_across_names_does_not() -> None:
    tape = tape_of(form(b"a=1&b=x+y&b=z"))
    assert finds(tape, form(b"b=x%20y&b=z&a=1"))
    for other in (b"a=2&b=x+y&b=z", b"a=1&b=z&b=x+y", b"a=1&b=x+y", b"a=1&b=x+y&b=z&c", b"a=1&b=x%2By&b=z"):
        assert not finds(tape, form(other))


boundaries = st.text("abcdef0123456789", min_size=8, max_size=40)


def upload(boundary: str, content: bytes = b"RIFF\x00\xff", name: str = "f", filename: str = "a.wav") -> Request:
    """A multipart request."""
    disposition = f'Content-Disposition: form-data; name="{name}"; filename="{filename}"'.encode()
    head = [b"--" + boundary.encode(), disposition, b"Content-Type: audio/wav", b""]
    body = b"\r\n".join([*head, content, f"--{boundary}--".encode(), b""])
    return Request("desk", "POST", "/u", (("Content-Type", f"multipart/form-data; boundary={boundary}"),), body)


@given(
    old=st.text("abcdef0123456789", min_size=8, max_size=40), new=st.text("abcdef0123456789", min_size=8, max_size=40)
)
@examples(ci=50, soak=500)
def test_a_multipart_boundary_does_not_count_and_its_parts_do(old: str, new: str) -> None:
    tape = tape_of(upload(old))
    assert finds(tape, upload(new))
    for other in (upload(new, b"RIFF\x00\xfe"), upload(new, name="g"), upload(new, filename="b.wav")):
        assert not finds(tape, other)
