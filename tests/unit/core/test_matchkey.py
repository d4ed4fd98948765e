"""Which parts of a request make its key, in which form."""

from __future__ import annotations

import pytest

from proctor.canonical import Part, body_kind, multipart_parts, sorted_pairs
from proctor.matchkey import is_key_header, key_headers_of


@pytest.mark.parametrize(
    ("query", "pairs"),
    [
        (b"b=2&a=1&b=1", ((b"a", b"1"), (b"b", b"2"), (b"b", b"1"))),
        (b"a", ((b"a", None),)),
        (b"a=", ((b"a", b""),)),
        (b"a=b=c", ((b"a", b"b=c"),)),
        (b"a=%26%3D+%2B", ((b"a", b"&= +"),)),
        (b"%61=1", ((b"a", b"1"),)),
        (b"", ((b"", None),)),
        (b"a=1&", ((b"", None), (b"a", b"1"))),
        (b"a=%ff%zz", ((b"a", b"\xff%zz"),)),
    ],
)
def test_a_query_is_its_decoded_fields_by_name_and_no_value_is_not_the_empty_one(
    query: bytes, pairs: tuple[tuple[bytes, bytes | None], ...]
) -> None:
    assert sorted_pairs(query) == pairs


@pytest.mark.parametrize(
    ("accept", "counts"),
    [
        ("application/vnd.github+json", True),
        ("application/json; version=2", True),
        ("application/x.shop-v3+json", True),
        ("application/x.v1+json", True),
        ("application/json", False),
        ("*/*", False),
        ("text/html,application/xhtml+xml;q=0.9", False),
        ("video/mp4", False),
    ],
)
def test_accept_counts_where_it_names_a_version(accept: str, counts: bool) -> None:
    assert is_key_header("accept", accept) == counts


def test_key_headers_are_sorted_in_lower_case_with_the_order_of_one_name_kept() -> None:
    headers = (
        ("X-Tenant", "b"), ("Range", "bytes=0-1"), ("x-tenant", "a"), ("User-Agent", "u"), ("If-Match", '"1"'),
    )  # fmt: skip
    assert key_headers_of(headers) == (("if-match", '"1"'), ("range", "bytes=0-1"))
    assert key_headers_of(headers, ("x-tenant",)) == (
        ("if-match", '"1"'), ("range", "bytes=0-1"), ("x-tenant", "b"), ("x-tenant", "a"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("", "json"),
        ("application/json", "json"),
        ("APPLICATION/JSON; charset=utf-8", "json"),
        ("application/problem+json", "json"),
        ("application/x-amz-json-1.0", "json"),
        ("application/x-www-form-urlencoded; charset=utf-8", "form"),
        ("multipart/form-data; boundary=x", "multipart"),
        ("text/plain", "raw"),
        ("application/octet-stream", "raw"),
    ],
)
def test_how_a_body_is_compared_follows_its_content_type(content_type: str, kind: str) -> None:
    assert body_kind(content_type) == kind


TYPE = 'multipart/form-data; boundary="b1"'
PART = b'--b1\r\nContent-Disposition: form-data; name="a"\r\n\r\none\r\n'


def test_a_multipart_body_is_its_parts() -> None:
    part = Part((("content-disposition", 'form-data; name="a"'),), b"one")
    assert multipart_parts(TYPE, PART + b"--b1--\r\n") == [part]
    assert multipart_parts(TYPE, PART + PART + b"--b1--") == [part, part]
    assert part.name == "a"


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (TYPE, PART),
        (TYPE, b"junk\r\n" + PART + b"--b1--"),
        (TYPE, PART + b"--b1"),
        (TYPE, b"--b1\r\nno blank line\r\n--b1--"),
        (TYPE, b""),
        ("multipart/form-data", PART + b"--b1--"),
        ("multipart/form-data; boundary=other", PART + b"--b1--"),
        (TYPE, PART.replace(b"--b1", b"--b1x") + b"--b1--"),
    ],
)
def test_a_multipart_body_that_is_not_as_it_announces_is_compared_as_bytes(content_type: str, body: bytes) -> None:
    assert multipart_parts(content_type, body) is None
