"""Which URL in an answer belongs to which service, and what the agent gets instead."""

from __future__ import annotations

import pytest

from proctor.proxy.addresses import Addresses, known_urls

SESSION = "http://127.0.0.1:4321/s/one"
REAL = {
    "desk": "https://staging.test/api",
    "files": "https://staging.test/api/files",
    "plain": "http://plain.test:8080",
    "root": "https://Root.test:443",
}
ADDRESSES = Addresses(SESSION, REAL)
ASKED = ADDRESSES.asked("desk", "/orders/7?x=1", "https://staging.test/api/orders/7?x=1")


@pytest.mark.parametrize(
    ("url", "ours"),
    [
        ("https://staging.test/api", "desk"),
        ("https://staging.test/api/", "desk/"),
        ("https://staging.test/api/x%2Fy/?a=%20b&&c#top", "desk/x%2Fy/?a=%20b&&c#top"),
        ("https://staging.test/api?page=2", "desk?page=2"),
        ("https://staging.test/api#f", "desk#f"),
        ("HTTPS://Staging.TEST:443/api/x", "desk/x"),
        ("https://staging.test:/api/x", "desk/x"),
        ("//staging.test/api/x", "desk/x"),
        ("https://staging.test/api/files/1", "files/1"),
        ("https://staging.test/api/filesystem", "desk/filesystem"),
        ("https://staging.test/api/a/../files/1", "files/1"),
        ("https://staging.test/other/../api/./x/..", "desk/"),
        ("https://staging.test/api/x?to=/../..", "desk/x?to=/../.."),
        ("http://plain.test:8080", "plain"),
        ("http://plain.test:8080/x", "plain/x"),
        ("https://root.test/x", "root/x"),
        ("https://root.test?q", "root?q"),
    ],
)
def test_a_url_below_a_service_gets_its_address_with_path_and_query_byte_for_byte(url: str, ours: str) -> None:
    assert ADDRESSES.ours(url, ASKED) == f"{SESSION}/{ours}"


@pytest.mark.parametrize(
    "url",
    [
        "https://staging.test/apix",
        "https://staging.test/API/x",
        "https://staging.test/",
        "https://staging.test",
        "https://staging.test/api/../x",
        "http://staging.test/api/x",
        "https://staging.test:8443/api/x",
        "https://staging.test.evil.test/api/x",
        "https://alice:pw@staging.test/api/x",
        "https://other.test/api/x",
        "http://plain.test/x",
        "ftp://staging.test/api/x",
        "mailto:desk@staging.test",
        "https:/staging.test/api",
        "https://[/api",
        "/api/x",
        "x",
        "",
    ],
)
def test_any_other_url_has_no_address_at_the_proxy(url: str) -> None:
    assert ADDRESSES.ours(url, ASKED) is None


@pytest.mark.parametrize("answering", ["a", "b"])
def test_of_two_services_with_one_url_the_one_that_answers_speaks_of_itself(answering: str) -> None:
    addresses = Addresses(SESSION, {"a": "https://x.test", "b": "https://x.test"})
    asked = addresses.asked(answering, "/", "https://x.test/")
    assert addresses.ours("https://x.test/y", asked) == f"{SESSION}/{answering}/y"


@pytest.mark.parametrize(
    ("reference", "sent"),
    [
        ("/api/orders/8", f"{SESSION}/desk/orders/8"),
        ("/api/files/1", f"{SESSION}/files/1"),
        ("/login?next=%2Fapi", "https://staging.test/login?next=%2Fapi"),
        ("//staging.test/api/x", f"{SESSION}/desk/x"),
        ("//plain.test:8080/x", "https://plain.test:8080/x"),
        ("//other.test/x", "https://other.test/x"),
        ("https://root.test/x", f"{SESSION}/root/x"),
        ("https://other.test/x", None),
        ("urn:isbn:1", None),
        ("", None),
        ("?page=2", None),
        ("#top", None),
        ("8", None),
        ("./8?x#y", None),
        ("../customers/1", None),
        ("../../api/orders/8", f"{SESSION}/desk/orders/8"),
        ("../../login", "https://staging.test/login"),
        ("../files/1", f"{SESSION}/files/1"),
        ("[//", None),
    ],
)
def test_a_reference_leads_the_agent_where_it_led_at_the_real_service(reference: str, sent: str | None) -> None:
    assert ADDRESSES.followed(reference, ASKED) == sent


def test_a_reference_from_a_services_bare_url_is_resolved_where_a_client_would_leave_the_service() -> None:
    asked = ADDRESSES.asked("root", "", "https://Root.test:443")
    assert ADDRESSES.followed("x", asked) == f"{SESSION}/root/x"


def test_an_absolute_path_in_the_answer_to_a_request_whose_url_is_no_url_stays() -> None:
    assert ADDRESSES.followed("/x", ADDRESSES.asked("desk", "/", "somewhere")) is None


def test_the_first_source_that_knows_a_usable_url_counts() -> None:
    sources = ({"a": "https://asked.test"}, {"a": "https://taped.test", "b": ""}, {"b": "https://set.test", "d": "x"})
    assert known_urls(["a", "b", "c", "d"], *sources) == {"a": "https://asked.test", "b": "https://set.test"}
