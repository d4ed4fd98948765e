"""What of an answer is rewritten: the headers that lead on, and the strings that are declared."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable

import pytest

from proctor.interaction import Headers, Response
from proctor.proxy.addresses import Addresses
from proctor.proxy.rewriting import Answer, Rewriter

SESSION, REAL = "http://127.0.0.1:4321/s/one", "https://staging.test/api"
OURS = f"{SESSION}/desk"
REWRITER = Rewriter(Addresses(SESSION, {"desk": REAL, "quiet": "https://quiet.test"}), {"desk": ("/next", "/l/*/href")})


def answered(headers: Headers = (), body: bytes = b"", service: str = "desk") -> Answer:
    """The answer to `GET /orders`, as the agent gets it."""
    return REWRITER.answer(service, "/orders", f"{REAL}/orders", Response(200, "OK", headers, body))


@pytest.mark.parametrize("name", ["Location", "content-location", "OPERATION-LOCATION", "Azure-AsyncOperation"])
def test_a_header_that_is_a_url_is_rewritten_and_told(name: str) -> None:
    answer = answered(((name, f"{REAL}/x?y=1"), ("X-Other", f"{REAL}/x")))
    assert answer.headers == ((name, f"{OURS}/x?y=1"), ("X-Other", f"{REAL}/x"))
    assert answer.rewrites == (f"header {name}: {REAL}/x?y=1 -> desk/x?y=1",)


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (f'<{REAL}/o?page=2>; rel="next"', f'<{OURS}/o?page=2>; rel="next"'),
        (f"<{REAL}/a>;rel=next,<{REAL}/b>;rel=last", f"<{OURS}/a>;rel=next,<{OURS}/b>;rel=last"),
        (f"< {REAL}/a >; rel=next", f"< {OURS}/a >; rel=next"),
        (
            '</api/o?page=2>; rel="next", <https://other.test/x>',
            f'<{OURS}/o?page=2>; rel="next", <https://other.test/x>',
        ),
        (f'<x>; title="see <{REAL}/a>, \\"b\\"", <{REAL}/b>', f'<x>; title="see <{REAL}/a>, \\"b\\"", <{OURS}/b>'),
        (f"<{REAL}/a,b>; rel=next", f"<{OURS}/a,b>; rel=next"),
        (f"<{REAL}/never-closed", f"<{REAL}/never-closed"),
    ],
)
def test_every_url_of_a_link_header_is_rewritten_and_nothing_else(value: str, sent: str) -> None:
    assert answered((("Link", value),)).headers == (("Link", sent),)


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (f"5; url={REAL}/x", f"5; url={OURS}/x"),
        (f"0;URL='{REAL}/x'", f"0;URL='{OURS}/x'"),
        (f'0, url="{REAL}/x" ', f'0, url="{OURS}/x" '),
        ("5; url=/api/x", f"5; url={OURS}/x"),
        ("5; url=https://other.test/", "5; url=https://other.test/"),
        ("5", "5"),
    ],
)
def test_the_url_of_a_refresh_header_is_rewritten(value: str, sent: str) -> None:
    assert answered((("Refresh", value),)).headers == (("Refresh", sent),)


TEXT = """{ "next":"REAL/o?p=2AND",
 "l": [{"href": "REAL"}, {"href": null}], "self": "https://staging.test/api/x", "n": 1.50 }"""
BODY = TEXT.replace("REAL", REAL).replace("AND", "\\u0026q")
SENT = TEXT.replace("REAL", OURS).replace("AND", "&q")


def deflated_raw(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


@pytest.mark.parametrize(
    ("coding", "pack", "unpack"),
    [
        ("identity", bytes, bytes),
        ("gzip", gzip.compress, gzip.decompress),
        ("deflate", zlib.compress, zlib.decompress),
        ("deflate", deflated_raw, zlib.decompress),
    ],
)
def test_declared_strings_are_rewritten_under_each_known_coding_and_the_length_is_true(
    coding: str, pack: Callable[[bytes], bytes], unpack: Callable[[bytes], bytes]
) -> None:
    body = pack(BODY.encode())
    headers = (
        ("Content-Type", "application/hal+json"),
        ("Content-Encoding", coding),
        ("content-length", str(len(body))),
    )
    answer = answered(headers, body)
    assert unpack(answer.body).decode() == SENT
    assert answer.headers == (*headers[:2], ("content-length", str(len(answer.body))))
    assert answer.rewrites == (
        f"body /next: {REAL}/o?p=2&q -> desk/o?p=2&q",
        f"body /l/0/href: {REAL} -> desk",
    )
    assert answer.note == ""


@pytest.mark.parametrize(
    ("headers", "body", "why"),
    [
        ((("Content-Encoding", "br"),), BODY.encode(), '"br" is unknown or damaged'),
        ((("Content-Encoding", "gzip"),), BODY.encode(), '"gzip" is unknown or damaged'),
        ((), BODY.encode()[:-1], "it is no JSON"),
        ((), b"\xff", "it is no JSON"),
    ],
)
def test_a_body_that_cannot_be_looked_into_goes_on_as_it_is_and_says_so(
    headers: Headers, body: bytes, why: str
) -> None:
    answer = answered((("Content-Type", "application/json"), *headers), body)
    assert (answer.body, answer.rewrites) == (body, ())
    assert answer.note.startswith("desk: ")
    assert answer.note.endswith(why)


@pytest.mark.parametrize("media", ["text/event-stream", "application/x-ndjson", "text/plain", "application/json-seq"])
def test_what_is_no_single_json_text_is_neither_held_nor_rewritten(media: str) -> None:
    headers = (("Content-Type", media),)
    assert not REWRITER.holds("desk", headers)
    answer = answered(headers, BODY.encode())
    assert (answer.body, answer.note) == (BODY.encode(), "")


def test_json_of_a_service_without_declared_pointers_is_neither_held_nor_rewritten() -> None:
    headers = (("Content-Type", "application/json; charset=utf-8"),)
    assert REWRITER.holds("desk", headers)
    assert not REWRITER.holds("quiet", headers)
    assert answered(headers, BODY.encode(), "quiet").body == BODY.encode()


def test_a_relative_reference_in_a_body_stays_since_a_client_may_join_it_either_way() -> None:
    body = json.dumps({"next": "/api/orders?page=2"}).encode()
    assert answered((("Content-Type", "application/json"),), body).body == body


def test_what_is_told_can_be_written_whatever_the_service_sent() -> None:
    body = json.dumps({"next": f"{REAL}/\ud800"}).encode()
    answer = answered((("Content-Type", "application/json"), ("Location", f"{REAL}/\udcff")), body)
    assert json.loads(answer.body) == {"next": f"{OURS}/\ud800"}
    assert [text.encode() for text in answer.rewrites] == [
        f"header Location: {REAL}/? -> desk/?".encode(),
        f"body /next: {REAL}/? -> desk/?".encode(),
    ]
