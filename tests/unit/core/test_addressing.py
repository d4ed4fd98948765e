"""Which addresses are the proxy's own, and who may use it as a forward proxy."""

from __future__ import annotations

from base64 import b64encode

import pytest

from proctor.launch import proxy_address
from proctor.listening import base_url, local
from proctor.proxy.addressing import Addressing, proxy_user
from proctor.proxy.carriers import Located, PathCarrier


def basic(text: str) -> str:
    return "Basic " + b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("203.0.113.7", False),
        ("127.0.0.1.evil.test", False),
        ("desk.test", False),
    ],
)
def test_only_what_this_machine_alone_reaches_is_local(host: str, is_local: bool) -> None:
    assert local(host) is is_local


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("::1", "http://[::1]:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://[::1]:80"),
        ("desk.test", "http://desk.test:80"),
    ],
)
def test_the_address_on_this_machine_can_be_called(host: str, url: str) -> None:
    assert Addressing(host, 80).url == url
    assert Addressing(host, 80).agents_url == url
    assert Addressing(host, 80, "http://proxy.test").agents_url == "http://proxy.test"


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("http://127.0.0.1:80/s/x?y", "/s/x?y"),
        ("http://[::1]:80/", "/"),
        ("http://203.0.113.7:80/a", "/a"),
        ("http://proxy.test/a", "/a"),
        ("http://proxy.test", None),
        ("http://proxy.test.evil/a", None),
        ("http://127.0.0.1:8080/a", None),
        ("http://203.0.113.8:80/a", None),
    ],
)
def test_an_absolute_target_is_ones_own_by_host_and_port(target: str, path: str | None) -> None:
    assert Addressing("0.0.0.0", 80, "http://proxy.test").origin_form(target, "203.0.113.7") == path


@pytest.mark.parametrize(
    ("peer", "credentials", "may"),
    [
        ("127.0.0.1", "", True),
        ("203.0.113.7", basic("any:secret"), True),
        ("203.0.113.7", basic(":secret").replace("Basic", "basic"), True),
        ("203.0.113.7", "", False),
        ("203.0.113.7", basic("secret"), False),
        ("203.0.113.7", basic("any:secret2"), False),
        ("203.0.113.7", "Bearer secret", False),
        ("203.0.113.7", "Basic é", False),
        (None, "", False),
    ],
)
def test_a_stranger_may_not_proxy(peer: str | None, credentials: str, may: bool) -> None:
    assert Addressing("0.0.0.0", 80, path_token="secret").may_proxy(peer, credentials) is may
    assert Addressing("127.0.0.1", 80).may_proxy(peer, credentials) is True


@pytest.mark.parametrize(
    ("base", "proxy"),
    [
        ("http://s/s/mine", "http://mine:proctor@s"),
        ("http://[::1]:80/s/mine", "http://mine:proctor@[::1]:80"),
        ("http://a.test:80/p/secret/s/mine", "http://mine:secret@a.test:80"),
        ("http://a.test:80/s/a%20b@c:d", "http://a%2520b%40c%3Ad:proctor@a.test:80"),
        ("http://a.test:80/s/_current", "http://a.test:80"),
        ("http://a.test:80/p/secret/s/_current", "http://_:secret@a.test:80"),
    ],
)
def test_the_proxy_variables_name_the_session_and_have_the_path_token_as_password(base: str, proxy: str) -> None:
    assert proxy_address(base) == proxy


@pytest.mark.parametrize(
    ("credentials", "user"),
    [
        (basic("mine:secret"), "mine"),
        (basic("mine:").replace("Basic", "BASIC"), "mine"),
        (basic(":secret"), ""),
        (f"Bearer {basic('mine:secret')}", ""),
        ("Basic *", ""),
        ("Basic é", ""),
        ("Basic", ""),
        ("", ""),
    ],
)
def test_a_proxys_user_is_read_from_basic_credentials_only(credentials: str, user: str) -> None:
    assert proxy_user(credentials) == user


@pytest.mark.parametrize("token", ["", "secret"])
def test_an_address_that_the_carrier_makes_it_also_reads(token: str) -> None:
    carrier = PathCarrier(token)
    address = carrier.address("mine")
    assert carrier.locate(f"{address}/desk/a%20b?c=/d") == Located("mine", "desk", "/a%20b?c=/d")
    assert carrier.locate(f"{address}/desk") == Located("mine", "desk", "")
    assert carrier.locate(address) is None
    assert carrier.without_token(address) == "/s/mine"
    assert carrier.admits(address)
    assert base_url("h", 1) + address == f"http://h:1{'/p/secret' if token else ''}/s/mine"


@pytest.mark.parametrize("target", ["/s/mine/desk/a", "/p/secre/s/mine/desk", "/p/secreT/s/mine/desk", "/", "\udcff"])
def test_a_target_without_the_token_is_admitted_nowhere(target: str) -> None:
    carrier = PathCarrier("secret")
    assert (carrier.admits(target), carrier.locate(target)) == (False, None)
