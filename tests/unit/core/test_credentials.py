"""Which part of which header is a credential, and whose."""

from __future__ import annotations

import pytest

from proctor.credentials import Credential, credentials_of, secret_spans
from proctor.interaction import Headers
from proctor.placeholders import plain


def secrets(name: str, value: str) -> list[tuple[str, str]]:
    """Kind and text of every secret in a header."""
    return [(span.kind, value[span.start : span.end]) for span in secret_spans(name, value)]


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("authorization", "Bearer tok-1", "tok-1"),
        ("authorization", "bearer  tok-1 ", "tok-1"),
        ("authorization", "Basic YTpi", "YTpi"),
        ("authorization", "tok-1", "tok-1"),
        ("authorization", " tok-1 ", "tok-1"),
        ("authorization", "Bearer Bearer", "Bearer"),
        ("proxy-authorization", "Basic YTpi", "YTpi"),
        ("x-api-key", "key-1", "key-1"),
        ("api-key", "key-1", "key-1"),
        ("x-goog-api-key", "key-1", "key-1"),
        ("authorization", "Digest tok-1", "tok-1"),
        ("authorization", "AWS4-HMAC-SHA256 tok-1", "tok-1"),
        ("x-api-key", "aws4-key-1", "aws4-key-1"),
    ],
)
def test_the_scheme_stays_and_the_rest_is_secret(name: str, value: str, secret: str) -> None:
    assert secrets(name, value) == [("token", secret)]


def test_a_token_that_is_spelled_as_its_scheme_is_the_second_word() -> None:
    assert [span[:2] for span in secret_spans("authorization", "Bearer Bearer")] == [(7, 13)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("authorization", ""),
        ("authorization", "   "),
        ("cookie", ""),
        ("cookie", "sid="),
        ("set-cookie", "sid=; Max-Age=0; Path=/"),
        ("set-cookie", "sid=  ; Path=/"),
        ("content-type", "Bearer tok-1"),
        ("x-request-id", "abc"),
    ],
)
def test_an_empty_credential_or_another_header_holds_no_secret(name: str, value: str) -> None:
    assert secrets(name, value) == []


def test_each_cookie_is_a_secret_of_its_own_kind() -> None:
    assert secrets("cookie", "sid=abc; theme=dark;csrf=a=b==; empty=; spaced= x y ") == [
        ("cookie sid", "abc"),
        ("cookie theme", "dark"),
        ("cookie csrf", "a=b=="),
        ("cookie spaced", "x y"),
    ]


@pytest.mark.parametrize(
    "value",
    ["sid=abc; Path=/; Domain=abc.test; HttpOnly; Expires=Wed, 21 Oct 2015 07:28:00 GMT", " sid=abc;Path=/", "sid=abc"],
)
def test_of_a_set_cookie_only_the_value_is_secret_never_an_attribute(value: str) -> None:
    assert secrets("set-cookie", value) == [("cookie sid", "abc")]
    (span,) = secret_spans("set-cookie", value)
    assert value[: span.start].strip() == "sid="


def test_a_set_cookie_with_blanks_around_its_equals_sign_holds_its_secret_too() -> None:
    assert secrets("set-cookie", "sid = abc; Path=/") == [("cookie sid", "abc")]


def test_who_asks_is_every_credential_once_whatever_the_order() -> None:
    headers = (("Cookie", "b=2; a=1"), ("Authorization", "Bearer t"), ("X-Api-Key", "t"), ("Accept", "*/*"))
    expected = (("cookie a", "1"), ("cookie b", "2"), ("token", "t"))
    assert credentials_of(headers) == expected
    assert credentials_of(headers[::-1]) == expected


def test_what_the_proxy_was_told_and_what_the_service_set_are_not_who_asks() -> None:
    assert credentials_of((("Proxy-Authorization", "Basic YTpi"), ("Set-Cookie", "sid=abc"))) == ()


def test_placeholders_are_numbered_with_four_digits_and_grow() -> None:
    assert plain(1) == "proctor-redacted-0001"
    assert plain(12345) == "proctor-redacted-12345"


def test_two_signatures_of_one_aws_key_are_one_asker() -> None:
    def signed(day: str, signature: str, key: str = "AKIAEXAMPLE") -> tuple[tuple[str, str], ...]:
        scope = f"Credential={key}/{day}/eu-west-1/dynamodb/aws4_request"
        return (("Authorization", f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=host;x-amz-date, Signature={signature}"),)

    first = credentials_of(signed("20260101", "a" * 64))
    assert credentials_of(signed("20260102", "b" * 64)) == first
    assert credentials_of(signed("20260101", "a" * 64, "AKIAOTHERONE")) != first


@pytest.mark.parametrize("scheme", ["AWS", "GOOG1", "SharedKey", "SharedKeyLite"])
def test_two_signatures_of_one_storage_key_are_one_asker(scheme: str) -> None:
    first = credentials_of((("Authorization", f"{scheme} account:qnR8UCqJggD55PohusaBNviGoOJ67HC6Btry4qXLVZc="),))
    assert first == (Credential("token", "account"),)
    assert credentials_of((("Authorization", f"{scheme} account:frJIUN8DYpKDtOLCwo//yllqDzg="),)) == first
    assert credentials_of((("Authorization", f"{scheme} other:frJIUN8DYpKDtOLCwo//yllqDzg="),)) != first
    spans = secret_spans("authorization", f"{scheme} account:frJIUN8DYpKDtOLCwo//yllqDzg=")
    assert [span.kind for span in spans] == ["token", "signature"]


def test_two_answers_to_digest_challenges_of_one_user_are_one_asker() -> None:
    def digest(user: str, response: str, cnonce: str) -> Headers:
        told = f'Digest username="{user}", realm="r", nonce="n", uri="/", response="{response}", qop=auth, nc=00000001'
        return (("Authorization", f'{told}, cnonce="{cnonce}"'),)

    first = credentials_of(digest("alice", "6629fae49393a05397450978507c4ef1", "0a4f113b"))
    assert first == (Credential("token", "alice"),)
    assert credentials_of(digest("alice", "757a1b0bd5c9bf3ae2e2a0f5a6cb1d84", "c3ea0c11")) == first
    assert credentials_of(digest("bob", "6629fae49393a05397450978507c4ef1", "0a4f113b")) != first
    [(_, value)] = digest("alice", "6629fae49393a05397450978507c4ef1", "0a4f113b")
    secrets = [value[span.start : span.end] for span in secret_spans("authorization", value)]
    assert secrets == ["alice", "6629fae49393a05397450978507c4ef1", "0a4f113b"]
