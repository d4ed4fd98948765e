"""A service is asked through the proxy that its table names, and a proxy's failure is never called the service's."""

from __future__ import annotations

import pytest
import trustme

from proctor.errors import UsageError
from tests.integration.upstream.support import ask, between, configure, https, say_ok
from tests.support import Project, serving, session

USER = "ann:p4ss-of-ann"


async def test_a_plain_service_is_asked_through_it(project: Project) -> None:
    async with serving(say_ok) as url, between() as way:
        configure(project, url, f'proxy = "{way.url}"')
        recorded = await ask(project)
    assert (recorded.status, recorded.error) == (200, "")
    assert way.lines == [f"GET {url}/x HTTP/1.1"]
    assert (await ask(project, "replay")).body == recorded.body


async def test_a_service_behind_tls_is_tunnelled(project: Project) -> None:
    ca = trustme.CA()
    (project.root / "ca.pem").write_bytes(ca.cert_pem.bytes())
    async with https(ca.issue_cert("127.0.0.1")) as url, between() as way:
        configure(project, url, f'proxy = "{way.url}"', 'ca = "ca.pem"')
        recorded = await ask(project)
    assert (recorded.status, recorded.error) == (200, "")
    assert way.lines == [f"CONNECT {url.removeprefix('https://')} HTTP/1.1"]


async def test_its_user_and_password_come_from_the_environment_and_stay_there(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(say_ok) as url, between(USER) as way:
        monkeypatch.setenv("WAY_OUT", way.url.replace("//", f"//{USER}@"))
        configure(project, url, 'proxy = "env:WAY_OUT"')
        recorded = await ask(project)
        assert (recorded.status, recorded.error) == (200, "")
        assert len(way.given) == 1
        monkeypatch.setenv("WAY_OUT", way.url)
        refused = await ask(project)
    assert (refused.status, refused.error) == (502, "upstream_proxy")
    assert "wants a user and password (407)" in refused.told
    kept = [path.read_bytes() for path in project.root.rglob("*") if path.is_file()]
    assert not [data for data in kept if b"p4ss-of-ann" in data or way.given[0].encode() in data]


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", "wants a user and password (407)"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "answered what is no HTTP answer"),
    ],
)
async def test_what_a_proxy_does_wrong_is_told_as_its_own(project: Project, says: bytes, told: str) -> None:
    async with serving(say_ok) as url, between(says=says) as way:
        configure(project, url, f'proxy = "{way.url}"')
        refused = await ask(project)
    assert (refused.status, refused.error) == (502, "upstream_proxy")
    assert f"the proxy {way.url} {told}" in refused.told
    assert "lies behind it" in refused.told


async def test_a_tunnel_that_is_refused_names_the_proxy(project: Project) -> None:
    async with between(says=b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") as way:
        configure(project, "https://127.0.0.1:9", f'proxy = "{way.url}"')
        refused = await ask(project)
    assert refused.error == "upstream_proxy"
    assert f"the proxy {way.url} refused with status 403" in refused.told


async def test_a_proxy_that_is_down_is_told_as_that(project: Project) -> None:
    async with between() as way:
        pass
    configure(project, "http://127.0.0.1:9", f'proxy = "{way.url}"')
    refused = await ask(project)
    assert refused.error == "upstream_proxy"
    assert f"the proxy {way.url} cannot be reached" in refused.told


@pytest.mark.parametrize(
    ("proxy", "code"),
    [("env:NO_SUCH_VARIABLE", "service_proxy_unset"), ("env:SOCKS", "service_proxy_bad")],
)
async def test_a_variable_that_holds_no_proxy_is_refused_when_a_session_opens(
    project: Project, monkeypatch: pytest.MonkeyPatch, proxy: str, code: str
) -> None:
    monkeypatch.setenv("SOCKS", "socks5://ann:s3cret-word@127.0.0.1:9")
    configure(project, "http://127.0.0.1:9", f'proxy = "{proxy}"')
    with pytest.raises(UsageError) as raised:
        async with session(project, "t"):
            pass
    assert raised.value.code == code
    assert "s3cret-word" not in str(raised.value)
