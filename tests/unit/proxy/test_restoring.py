"""An address of the proxy that a request quotes becomes the real service's, in the same spelling."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from proctor.proxy.restoring import Restorer

PROXIES = ("http://127.0.0.1:4321", "http://localhost:4321", "http://[::1]:4321")
REAL = {"desk": "https://staging.test/a%20pi", "desk-2": "http://two.test:81"}
STARTS = [f"{proxy}/s/{session}" for proxy in PROXIES for session in ("s.1", "_current")]
RESTORER = Restorer(STARTS, REAL)
OURS = "http://127.0.0.1:4321/s/s.1/desk"


def lower(text: str) -> str:
    """The text with small letters in its percent signs' digits."""
    return text.replace("%3A", "%3a").replace("%2F", "%2f")


@pytest.mark.parametrize(
    ("quoted", "real"),
    [
        (f"see {OURS}/x?y=1 now", "see https://staging.test/a%20pi/x?y=1 now"),
        (OURS, "https://staging.test/a%20pi"),
        (f'"{OURS}"', '"https://staging.test/a%20pi"'),
        (f"{OURS}-2/x", "http://two.test:81/x"),
        ("http://localhost:4321/s/s.1/desk/x", "https://staging.test/a%20pi/x"),
        ("http://[::1]:4321/s/s.1/desk/x", "https://staging.test/a%20pi/x"),
        ("http://127.0.0.1:4321/s/_current/desk/x", "https://staging.test/a%20pi/x"),
        (OURS.replace("/", "\\/") + "\\/x", "https:\\/\\/staging.test\\/a%20pi\\/x"),
        (OURS.replace("/", "\\\\/"), "https:\\\\/\\\\/staging.test\\\\/a%20pi"),
        (quote(f"{OURS}/x", safe=""), "https%3A%2F%2Fstaging.test%2Fa%2520pi%2Fx"),
        (lower(quote(f"{OURS}/x", safe="")), "https%3a%2f%2fstaging.test%2fa%2520pi%2fx"),
        (quote(f"{OURS}/x"), "https%3A//staging.test/a%2520pi/x"),
        (quote("http://[::1]:4321/s/s.1/desk", safe=""), "https%3A%2F%2Fstaging.test%2Fa%2520pi"),
        (f"{OURS},{OURS}", "https://staging.test/a%20pi,https://staging.test/a%20pi"),
    ],
)
def test_each_spelling_becomes_the_real_url_in_that_spelling(quoted: str, real: str) -> None:
    assert RESTORER.text("body", quoted, []) == real
    assert RESTORER.data("body", quoted.encode(), []) == real.encode()


@pytest.mark.parametrize(
    "text",
    [
        f"{OURS}s/x",
        f"{OURS}_x",
        f"{OURS}-3",
        OURS.replace("desk", "other"),
        OURS.replace("s.1", "s-1"),
        OURS.replace("4321", "43210"),
        OURS.replace("127.0.0.1", "10.0.0.1"),
        OURS.replace("http", "https"),
        OURS.replace("//", "\\/\\/"),
        "http://127.0.0.1:4321/s/s.1",
        "order 4321",
        "",
    ],
)
def test_anything_else_stays_the_very_same_object(text: str) -> None:
    told: list[str] = []
    data = text.encode()
    assert RESTORER.data("body", data, told) is data
    assert RESTORER.text("target", text, told) == text
    assert told == []


def test_bytes_that_are_no_utf8_stay_around_what_is_replaced() -> None:
    assert RESTORER.data("body", b"\xff" + OURS.encode() + b"/\xfe", []) == b"\xffhttps://staging.test/a%20pi/\xfe"
    assert RESTORER.text("header x", f"\udcff{OURS}", []) == "\udcffhttps://staging.test/a%20pi"


def test_what_was_replaced_is_told_once_a_place_and_service_without_port_or_session() -> None:
    told: list[str] = []
    RESTORER.data("body", f"{OURS} {OURS}/x {OURS}-2".encode(), told)
    headers = (("Host", "127.0.0.1:4321"), ("Referer", f"{OURS}/y"), ("X-Back", f"{OURS}/z"))
    restored = RESTORER.headers(headers, told)
    RESTORER.headers(headers, told)
    assert restored[0] == headers[0]
    assert restored[1] == ("Referer", "https://staging.test/a%20pi/y")
    assert told == [
        "request body: desk -> https://staging.test/a%20pi (2 times)",
        "request body: desk-2 -> http://two.test:81",
        "request header referer: desk -> https://staging.test/a%20pi",
        "request header x-back: desk -> https://staging.test/a%20pi",
    ]


def test_where_no_real_url_is_known_nothing_is_replaced() -> None:
    assert Restorer(STARTS, {}).text("body", OURS, []) == OURS


def test_an_advertised_address_with_a_path_token_is_known_in_each_spelling() -> None:
    start = "https://proctor.test/p/To-ken_1/s/s.1"
    restorer = Restorer([start, "http://127.0.0.1:41807/p/To-ken_1/s/s.1"], REAL)
    for spelled in (f"{start}/", f"{start}/".replace("/", "\\/"), "http://127.0.0.1:41807/p/To-ken_1/s/s.1/"):
        name = next(iter(REAL))
        slash = "\\/" if "\\" in spelled else "/"
        assert restorer.text("body", f"see {spelled}{name}", []) == "see " + REAL[name].replace("/", slash)
    assert restorer.text("body", "https://proctor.test/p/other/s/s.1/orders", []).startswith(
        "https://proctor.test/p/other"
    )
