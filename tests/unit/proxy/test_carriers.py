"""What names a session in a request's headers, and what goes on of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from proctor.errors import SessionError
from proctor.proxy.carriers import Claim, Located, claims_of, passed_on, real_credential
from proctor.service_config import ServiceConfig

HEADER, KEY, PATH = "the header x-proctor-session", "the key", "the path"
NAMES = st.sampled_from([b"Authorization", b"X-Api-Key", b"Cookie", b"X-Session", b"X-Proctor-Sessions", b"Accept"])


def claims(session: str, *headers: tuple[str, str]) -> list[Claim]:
    return claims_of(Located(session, "llm", "/"), CIMultiDictProxy(CIMultiDict(headers)))


@pytest.mark.parametrize(
    ("session", "headers", "found"),
    [
        ("_current", [], []),
        ("a", [], [Claim("a", PATH)]),
        ("a", [("X-Proctor-Session", "b")], [Claim("a", PATH), Claim("b", HEADER)]),
        (
            "_current",
            [("x-proctor-session", "a"), ("x-proctor-session", "b")],
            [Claim("a", HEADER), Claim("b", HEADER)],
        ),
        ("_current", [("authorization", "Bearer proctor-session-a.b-c")], [Claim("a.b-c", KEY)]),
        ("_current", [("authorization", "bearer  proctor-session-a ")], [Claim("a", KEY)]),
        ("_current", [("API-Key", "proctor-session-a")], [Claim("a", KEY)]),
        (
            "_current",
            [("x-goog-api-key", "proctor-session-a"), ("x-api-key", "proctor-session-a")],
            [Claim("a", KEY)] * 2,
        ),
        ("_current", [("authorization", "Bearer sk-proctor-session-a")], []),
        ("_current", [("proxy-authorization", "Bearer proctor-session-a"), ("x-key", "proctor-session-a")], []),
        ("_current", [("cookie", "sid=proctor-session-a")], []),
    ],
)
def test_a_request_names_a_session_by_path_header_and_key(
    session: str, headers: list[tuple[str, str]], found: list[Claim]
) -> None:
    assert claims(session, *headers) == found


def test_the_header_goes_no_further_and_the_key_is_swapped_where_it_stands() -> None:
    came = (
        (b"Authorization", b"Bearer proctor-session-a"),
        (b"X-PROCTOR-Session", b"a"),
        (b"x-api-key", b"proctor-session-a"),
        (b"X-Note", b"proctor-session-a"),
    )
    assert passed_on(came, "sk-real") == (
        (b"Authorization", b"Bearer sk-real"),
        (b"x-api-key", b"sk-real"),
        (b"X-Note", b"proctor-session-a"),
    )
    assert passed_on(came, "") == (came[0], *came[2:])


@given(st.lists(st.tuples(NAMES, st.binary(max_size=30))))
def test_headers_that_name_no_session_stay_byte_for_byte(headers: list[tuple[bytes, bytes]]) -> None:
    assert passed_on(tuple(headers), "sk-real") == tuple(headers)


@pytest.mark.parametrize(
    ("service", "environ", "credential"),
    [
        ({"preset": "openai"}, {"OPENAI_API_KEY": "sk"}, "sk"),
        ({"preset": "openai", "identities": {"a": "env:A"}}, {"OPENAI_API_KEY": "sk", "A": "of a"}, "of a"),
        ({"url": "http://x.test", "identities": {"a": "env:A"}}, {"A": "of a"}, "of a"),
        ({"preset": "openai", "credential": "env:PUT_ON"}, {"OPENAI_API_KEY": "sk", "PUT_ON": "put on"}, "put on"),
    ],
)
def test_a_key_stands_for_what_is_put_on_else_for_the_only_identity_else_for_the_key_of_the_preset(
    service: dict[str, object], environ: dict[str, str], credential: str
) -> None:
    assert real_credential("llm", ServiceConfig.model_validate(service), environ) == credential


@pytest.mark.parametrize(
    ("service", "code", "fix"),
    [
        ({"preset": "openai"}, "session_key_unbacked", "set OPENAI_API_KEY where the proxy runs"),
        ({"url": "http://x.test"}, "session_key_unbacked", "under [services.llm]"),
        (
            {"preset": "openai", "identities": {"a": "env:A", "b": "env:B"}},
            "session_key_ambiguous",
            "x-proctor-session beside it",
        ),
    ],
)
def test_where_nothing_says_for_which_credential_a_key_stands_the_error_says_what_to_do(
    service: dict[str, object], code: str, fix: str
) -> None:
    with pytest.raises(SessionError) as refused:
        real_credential("llm", ServiceConfig.model_validate(service), {"A": "of a", "B": "of b", "OPENAI_API_KEY": ""})
    assert (refused.value.code, fix in refused.value.fix) == (code, True)
