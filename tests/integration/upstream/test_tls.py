"""A service behind TLS is asked by its own CA and with a client certificate; what is not believed says why."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from proctor.errors import UsageError
from proctor.wire import ERROR_HEADER, SessionSpec
from tests.integration.upstream.support import ask, between, configure, https, say_ok, write
from tests.support import Project, serving, session


@pytest.fixture(scope="module")
def ca() -> trustme.CA:
    return trustme.CA()


async def test_a_ca_of_ones_own_is_believed_and_replay_needs_neither_file_nor_service(
    project: Project, ca: trustme.CA
) -> None:
    write(project, "ca.pem", ca.cert_pem)
    async with https(ca.issue_cert("127.0.0.1")) as url:
        configure(project, url, 'ca = "ca.pem"')
        recorded = await ask(project)
    assert (recorded.status, recorded.error, bool(recorded.summary.sealed)) == (200, "", True)
    (project.root / "ca.pem").unlink()
    assert (await ask(project, "replay")).body == recorded.body


async def test_without_it_the_error_says_that_nobody_trusted_signed_and_names_the_key(
    project: Project, ca: trustme.CA
) -> None:
    async with https(ca.issue_cert("127.0.0.1")) as url:
        configure(project, url)
        refused = await ask(project)
    assert (refused.status, refused.error) == (502, "upstream_tls")
    assert "nobody who is trusted here signed its certificate" in refused.told
    assert 'ca = "FILE.pem" in [services.desk]' in refused.told
    assert not refused.summary.sealed


@pytest.mark.parametrize(
    ("name", "days", "told"),
    [
        ("other.example", 10, "its certificate is another host's"),
        ("127.0.0.1", -1, "its certificate has expired"),
    ],
)
async def test_a_certificate_that_is_not_right_is_never_overlooked(
    project: Project, ca: trustme.CA, name: str, days: int, told: str
) -> None:
    write(project, "ca.pem", ca.cert_pem)
    certificate = ca.issue_cert(name, not_after=datetime.now(UTC) + timedelta(days=days))
    async with https(certificate) as url:
        configure(project, url, 'ca = "ca.pem"')
        refused = await ask(project)
    assert refused.error == "upstream_tls"
    assert told in refused.told


async def test_a_client_certificate_is_shown_and_its_absence_is_told(project: Project, ca: trustme.CA) -> None:
    mine = ca.issue_cert("proctor@example.org")
    write(project, "ca.pem", ca.cert_pem)
    write(project, "me.pem", *mine.cert_chain_pems)
    write(project, "me.key", mine.private_key_pem)
    async with https(ca.issue_cert("127.0.0.1"), client_ca=ca) as url:
        configure(project, url, 'ca = "ca.pem"', 'client_cert = "me.pem"', 'client_key = "me.key"')
        shown = await ask(project)
        configure(project, url, 'ca = "ca.pem"')
        refused = await ask(project)
    assert (shown.status, shown.error) == (200, "")
    assert refused.status == 502
    assert 'client_cert = "FILE.pem" and client_key = "FILE.pem" in [services.desk]' in refused.told


async def test_sessions_share_connections_until_a_file_changes(project: Project, ca: trustme.CA) -> None:
    write(project, "ca.pem", ca.cert_pem)
    async with https(ca.issue_cert("127.0.0.1")) as url, between() as way:
        configure(project, url, 'ca = "ca.pem"', f'proxy = "{way.url}"')
        async with session(project, "t") as run:
            for tape, connections in (("one", 1), ("two", 1), ("three", 2)):
                if tape == "three":
                    write(project, "ca.pem", trustme.CA().cert_pem, ca.cert_pem)
                info = await run.control.open(SessionSpec(cassette=tape, modes={"desk": "live"}))
                async with run.http.get(f"{info.url}/desk/x") as got:
                    assert (got.status, (await got.json())["path"]) == (200, "/x")
                await run.control.close(info.session, 0)
                assert len(way.lines) == connections, way.lines
            write(project, "ca.pem", trustme.CA().cert_pem)
            info = await run.control.open(SessionSpec(cassette="four", modes={"desk": "live"}))
            async with run.http.get(f"{info.url}/desk/x") as got:
                assert got.headers[ERROR_HEADER] == "upstream_tls"
            await run.control.close(info.session, 0)


async def test_a_service_that_speaks_no_tls_is_told_as_that(project: Project) -> None:
    async with serving(say_ok) as url:
        configure(project, url.replace("http:", "https:"))
        refused = await ask(project)
    assert refused.error == "upstream_tls"
    assert "has the right scheme and port" in refused.told


def encrypted(folder: Path) -> None:
    """A key that wants a password."""
    command = ["openssl", "genpkey", "-algorithm", "RSA", "-aes-128-cbc", "-pass", "pass:secret", "-out", "locked.key"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("lines", "code", "told"),
    [
        (('ca = "none.pem"',), "service_ca_bad", "cannot be read: No such file"),
        (('ca = "text.pem"',), "service_ca_bad", "it is not in PEM"),
        (('ca = "empty.pem"',), "service_ca_bad", "there is no certificate in it"),
        (('client_cert = "me.pem"', 'client_key = "other.key"'), "service_client_key_bad", "not the certificate's key"),
        (('client_cert = "me.pem"', 'client_key = "locked.key"'), "service_client_key_bad", "its key wants a password"),
        (('client_cert = "me.pem"',), "service_client_cert_bad", "certificate and key cannot be read"),
    ],
)
async def test_a_file_that_is_not_right_is_refused_when_a_session_opens(
    project: Project, ca: trustme.CA, lines: tuple[str, ...], code: str, told: str
) -> None:
    mine, other = ca.issue_cert("a@example.org"), ca.issue_cert("b@example.org")
    write(project, "me.pem", *mine.cert_chain_pems)
    write(project, "other.key", other.private_key_pem)
    (project.root / "text.pem").write_text("no certificate\n")
    (project.root / "empty.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    encrypted(project.root)
    configure(project, "https://127.0.0.1:9", *lines)
    with pytest.raises(UsageError) as raised:
        async with session(project, "t"):
            pass
    assert raised.value.code == code
    assert told in raised.value.message
