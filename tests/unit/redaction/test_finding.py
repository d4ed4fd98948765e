"""What is taken for a secret, and what is not."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from proctor.redaction.redactor import Redactor
from tests.unit.core.values import interaction, request, response

FORM = ("Content-Type", "application/x-www-form-urlencoded")
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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("password", "Password"),
        ("password", "密码"),
        ("密码", "未设置"),
        ("api_key", "API key"),
        ("password", "Enter your password"),
        ("password", "string"),
        ("token", "true"),
        ("token", "expired"),
        ("token", " understanding"),
        ("token", "USDC"),
        ("authorization", "approved"),
        ("pin", "left"),
        ("otp", "none"),
        ("password", "********"),
        ("api_key", "sk-...abcd"),
        ("secret", "[REDACTED]"),
        ("password", "${DB_PASSWORD}"),
        ("token", "{{ token }}"),
        ("api_key", "<your-key>"),
    ],
)
def test_a_label_a_state_a_mask_or_a_template_under_a_secret_name_is_none(name: str, value: str) -> None:
    assert found({"form": {name: value}}) == {}
    assert found([{"name": name, "value": value}]) == {}


@pytest.mark.parametrize(
    "value", ["Password1", "sunshine", "correct horse battery", "пароль", "!@#$%^&*", "ab***cd***efghijk"]
)
def test_a_weak_password_is_still_one(value: str) -> None:
    assert list(found({"password": value})) == [value]


@pytest.mark.parametrize(
    "body",
    [
        {"password": ["This field may not be blank.", "is too short (minimum is 8 characters)"]},
        {"errors": {"password": "must be at least 8 characters", "otp": ["expired"]}},
        {"translations": {"de": {"login": {"password": "Kennwort"}}}},
        {"token": 1234, "usage": {"token": 51_200}},
        {"properties": {"token": {"$ref": "#/components/schemas/TokenV2", "pattern": "^[A-Za-z0-9_-]{20,64}$"}}},
        {"securitySchemes": {"token": {"flows": {"authorizationUrl": "https://pets3.test/oauth/authorize"}}}},
        {"secret": {"secretName": "my-app-tls-cert-2026"}, "authorization": {"id": "auth_1234567890abcdef"}},
        {"cookie": "with chocolate", "cookies": {"accepted": "2026-01-01"}},
    ],
)
def test_what_forms_schemas_and_counts_say_of_secrets_stays(body: Any) -> None:
    assert found(body) == {}


@pytest.mark.parametrize("query", ["key=title&sort=asc", "auth=true&signature=v4", "state=CA&code=SAVE10"])
def test_an_ordinary_value_of_a_short_parameter_stays(query: str) -> None:
    made = interaction(request(query.encode(), target=f"/x?{query}", headers=(FORM,)), response(b""))
    redactor = Redactor.over([made])
    assert redactor.interaction(made) == made
    assert found({"see": f"https://a.test/?{query}"}) == {}


@pytest.mark.parametrize(
    "text",
    [
        "token = get_token(user1)",
        "const apiKey = process.env.KEY2;",
        "secret = settings.SECRET_V2",
        ".token:nth-child(2n+1){color:#fff0a1}",
        "密钥是什么？口令为123456",
        "<password>Password</password><secret>false</secret>",
    ],
)
def test_code_and_prose_that_name_a_secret_hold_none(text: str) -> None:
    assert found(text.encode(), "text/plain") == {}


def test_the_sentence_around_a_secret_is_no_part_of_it() -> None:
    for text in (f"`API_KEY={STRONG}`", f"(password: {STRONG}).", f"密码是{STRONG}。", f"token={STRONG}\\nmore"):
        assert list(found({"note": text})) == [STRONG], text


@pytest.mark.parametrize(
    ("body", "secret"),
    [
        ({"headers": {"Cookie": f"theme=dark42; sid={STRONG}"}}, STRONG),
        ({"headers": {"set-cookie": [f"sid={STRONG}; Path=/; HttpOnly"]}}, STRONG),
        ({"headers": [{"name": "Cookie", "value": f"sid={STRONG}; a=b"}]}, STRONG),
        ({"cookies": [{"name": "sid", "value": STRONG, "domain": "app2.example.test"}]}, STRONG),
        ({"cookies": {"sid": STRONG}}, STRONG),
        ({"cmd": f"curl -H 'Cookie: sid={STRONG}' https://a.test"}, STRONG),
        ({"at": f"https://a.test/cb?code={STRONG}&state=x1"}, STRONG),
        ({"dsn": f"postgres://app:{STRONG}@2026@db.test/x"}, f"{STRONG}@2026"),
        ({"authorization": "Basic YWxpYzpodW50ZXIyLWxvbmc"}, "hunter2-long"),
    ],
)
def test_cookies_codes_and_passwords_in_bodies_are_found_by_themselves(body: Any, secret: str) -> None:
    assert secret in found(body)


@pytest.mark.parametrize(
    "text",
    [
        f"<a><password><![CDATA[{STRONG}]]></password></a>",
        f'<add key="password" value="{STRONG}"/>',
        f"<input type='hidden' name='csrf_token' value='{STRONG}'>",
        f'<meta name="csrf-token" content="{STRONG}">',
    ],
)
def test_what_a_tag_names_is_found(text: str) -> None:
    assert list(found(text.encode(), "text/html")) == [STRONG]


def test_cdata_may_hold_signs_of_markup() -> None:
    assert list(found(b"<a><secret><![CDATA[a<b]c>7]]></secret></a>", "text/xml")) == ["a<b]c>7"]


@pytest.mark.parametrize("charset", ["gbk", "utf-16", "utf-16-le", "utf-8-sig", "gb18030"])
def test_a_body_is_read_in_its_own_charset_and_written_in_it(charset: str) -> None:
    body = '{"用户": "王", "密码": "hunter2"}'.encode(charset)
    made = interaction(request(), response(body, headers=(("Content-Type", f"text/json; charset={charset}"),)))
    clean = Redactor.over([made]).interaction(made).response.body
    assert clean.decode(charset) == '{"用户": "王", "密码": "proctor-redacted-0001"}'


def test_an_escaped_key_names_a_number_as_any_other_does() -> None:
    assert list(found(b'{"p\\u0069n": 4711}')) == ["4711"]


def test_lines_of_json_may_be_indented() -> None:
    assert list(found(b'{"a": 1}\n  {"password": "hunter2"}\n', "application/x-ndjson")) == ["hunter2"]


def test_base64_in_a_path_is_opened() -> None:
    word = base64.urlsafe_b64encode(json.dumps({"password": STRONG}).encode()).decode().rstrip("=")
    assert list(Redactor.over([interaction(request(target=f"/open/{word}"))]).known) == [STRONG]


@pytest.mark.parametrize(
    ("media", "body"),
    [
        ("multipart/form-data; boundary=b", f'--b\nContent-Disposition: form-data; name="pin"\n\n{STRONG}\n--b--\n'),
        (
            "multipart/mixed; boundary=b",
            "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n"
            f'Content-Disposition: form-data; name="password"\r\n\r\n{STRONG}\r\n--c--\r\n--b--\r\n',
        ),
        ("application/x-www-form-urlencoded", f"password={STRONG}&x=1"),
    ],
)
def test_parts_in_parts_and_with_plain_line_ends_are_read(media: str, body: str) -> None:
    assert list(found(body.encode(), media)) == [STRONG]


def test_a_semicolon_in_a_form_belongs_to_the_value_unless_a_pair_follows() -> None:
    media = "application/x-www-form-urlencoded"
    assert list(found(b"password=ab;cd;ef&x=1", media)) == ["ab;cd;ef"]
    assert list(found(b"password=abcd;x=1", media)) == ["abcd"]


def test_a_parameter_without_a_value_and_a_parameters_name_are_looked_at() -> None:
    key = "sk-proj-abcdefgh12345678"
    for target in (f"/x?{key}", f"/x?a=1&{key}=2"):
        made = interaction(request(target=target))
        clean = Redactor.over([made]).interaction(made)
        assert clean.request.target == target.replace(key, "sk-proj-proctor-redacted-0001")


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
