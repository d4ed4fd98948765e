"""What is taken for a secret, and what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proctor.redaction.redactor import Redactor
from tests.unit.core.values import interaction, request, response

STRONG = "Zx9-kQ2vB7mN4pT8"


def found(body: Any, media: str = "application/json") -> dict[str, str]:
    """The secrets that a body's first look finds, with their kinds."""
    data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    made = interaction(request(), response(data, headers=(("Content-Type", media),)))
    redactor = Redactor.over([made])
    redactor.interaction(made)
    kinds = {one.placeholder: one.kind for one in redactor.replaced}
    return {secret: kinds.get(stand_in, "") for secret, stand_in in redactor.known.items()}


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "Client-Secret",
        "clientSecret",
        "API_KEY",
        "x-api-key",
        "refresh_token",
        "access.token",
        "otp",
        "密码",
    ],
)
def test_a_value_under_a_secret_name_is_one_whatever_the_spelling_of_the_name(name: str) -> None:
    assert list(found({"a": {"b": [{name: "hunter2"}]}})) == ["hunter2"]


@pytest.mark.parametrize(
    "name",
    ["max_tokens", "next_page_token", "nextPageToken", "continuation_token", "token_type", "tokens", "secret_santa",
     "password_hint", "key", "code", "signature", "session_id", "client_token", "cursor", "author", "pinned"],
)  # fmt: skip
def test_a_name_that_is_on_no_list_makes_no_secret(name: str) -> None:
    assert found({name: STRONG}) == {}


@pytest.mark.parametrize("value", [None, True, False, "", "  ", 7, 12, [], {}])
def test_an_empty_value_a_flag_or_a_small_number_under_a_secret_name_is_none(value: Any) -> None:
    assert found({"password": value, "token": value}) == {}


def test_numbers_under_secret_names_are_secrets_and_stay_numbers() -> None:
    body = b'{"pin": 4711, "cvv":123, "amount": 4711.5}'
    made = interaction(request(), response(body))
    clean = Redactor.over([made]).interaction(made).response.body
    assert json.loads(clean) == {"pin": 9001, "cvv": 902, "amount": 4711.5}


def test_a_models_log_probabilities_are_text_not_tokens() -> None:
    pieces = [{"token": "understanding", "logprob": -0.1, "top_logprobs": [{"token": " Hello"}]}]
    assert found({"choices": [{"logprobs": {"content": pieces}}], "tokens": [{"token": "##ization"}]}) == {}
    assert list(found({"choices": [{"token": STRONG}]})) == [STRONG]


def test_a_scheme_before_a_secret_stays() -> None:
    made = interaction(request(), response(json.dumps({"authorization": f"Bearer {STRONG}"}).encode()))
    clean = Redactor.over([made]).interaction(made).response.body
    assert json.loads(clean) == {"authorization": "Bearer proctor-redacted-0001"}


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ({"name": "Authorization", "value": f"Bearer {STRONG}"}, STRONG),
        ({"name": "Cookie", "value": STRONG}, STRONG),
        ({"name": "DB_PASSWORD", "value": "hunter2hunter"}, "hunter2hunter"),
        ({"key": "x-api-key", "value": STRONG}, STRONG),
    ],
)
def test_a_value_that_its_neighbour_names_is_a_secret(value: Any, secret: str) -> None:
    assert list(found([value])) == [secret]


def test_a_value_whose_neighbour_names_something_else_is_none() -> None:
    assert found([{"name": "Colour", "value": STRONG}, {"name": "cookie jar", "value": STRONG}]) == {}


def test_only_strong_values_below_an_object_with_a_secret_name_are_secrets() -> None:
    assert list(found({"secret": {"type": "opaque", "data": {"x": STRONG}, "namespace": "default"}})) == [STRONG]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("see https://u:pa55word@host.test/x", "pa55word"),
        ("postgres://app:p%40ss-w0rd@db.test:5432/x", "p@ss-w0rd"),
        (f"https://{STRONG}@git.test/repo", STRONG),
        ("https://x.test/a?page=2&sig=ab%2Bcd1234&v=1", "ab+cd1234"),
        ("Server=db;User=sa;Password=hunt3r;Encrypt=yes", "hunt3r"),
        ("export ORDERS_API_KEY=abc123xyz890", "abc123xyz890"),
        ('api_key: "abc123xyz890"', "abc123xyz890"),
        ("密码：abc123xyz", "abc123xyz"),
        ("use Bearer abcdefgh12345678ijkl please", "abcdefgh12345678ijkl"),
        ("AKIAIOSFODNN7EXAMPLE is the id", "AKIAIOSFODNN7EXAMPLE"),
        ("<x:Password>hunter2</x:Password>", "hunter2"),
        ("<a token='1' secret=\"hunter2\"></a>", "hunter2"),
    ],
)
def test_a_secret_in_a_text_is_found_by_shape_or_by_the_name_before_it(text: str, secret: str) -> None:
    assert list(found({"note": text})) == [secret]
    assert list(found(text.encode(), "text/plain")) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "The password is on page 12, the token: none, secret=yes",
        "next_page_token=abc123xyz890 max_tokens: 4096000a",
        "mailto:a@b.test and http://host.test:8080/x@y",
        "https://x.test/a?page_token=abc123&key_only=1",
        "a risk-adjusted-return-of-12-percent-and-more",
        "<title>Password</title><p>secret</p>",
        "密码锁已发货，令牌环网络",
    ],
)
def test_prose_about_secrets_holds_none(text: str) -> None:
    assert found({"note": text}) == {}


def test_an_oauth_code_is_secret_only_where_oauth_is_spoken() -> None:
    form = "application/x-www-form-urlencoded"
    assert list(found(b"grant_type=authorization_code&code=abc", form)) == ["abc"]
    assert found(b"code=E17&page=2", form) == {}


def test_the_password_of_a_basic_credential_is_a_secret_of_its_own() -> None:
    headers = (("Authorization", "Basic YWxpY2U6aHVudGVyMi1sb25n"),)  # alice:hunter2-long
    made = interaction(request(b'{"note": "I am hunter2-long"}', headers=headers), response(b""))
    clean = Redactor.over([made]).interaction(made)
    assert b"hunter2-long" not in clean.request.body


def test_a_plain_word_in_a_cookie_is_replaced_there_only() -> None:
    made = interaction(request(b'{"theme": "darkmode"}', headers=(("Cookie", "theme=darkmode"),)), response(b""))
    clean = Redactor.over([made]).interaction(made).request
    assert clean.body == b'{"theme": "darkmode"}'
    assert "darkmode" not in dict(clean.headers)["Cookie"]


def test_a_plain_word_for_a_password_is_replaced_as_a_whole_word_only() -> None:
    body = b'{"password": "sunshine", "note": "sunshine, not sunshines"}'
    made = interaction(request(body), response(b""))
    clean = json.loads(Redactor.over([made]).interaction(made).request.body)
    assert clean == {"password": "proctor-redacted-0001", "note": "proctor-redacted-0001, not sunshines"}
