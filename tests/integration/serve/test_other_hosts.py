"""On a host that others reach, only those who were given an address are heard."""

from __future__ import annotations

import asyncio
import json
import socket
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from aiohttp import ClientSession, ServerDisconnectedError

from proctor.client import ControlClient
from proctor.config import load_config
from proctor.launch import agent_environment
from proctor.proxy.server import Proxy, start_proxy
from proctor.trace import SessionSummary
from proctor.wire import Mode, SessionInfo, SessionSpec
from tests.integration.cli.support import Desk, error_of, record
from tests.integration.proxy.raw import Answer, ended, parsed
from tests.integration.serve.support import samples, serve
from tests.support import Project, services, serving

ANY = "0.0.0.0"
UNWRITABLE = """
interactions:
- request: {method: GET, uri: "http://desk.test/x", headers: {}, body: null}
  response:
    status: {code: 200, message: OK}
    headers: {X-Name: ["a\\x01b"]}
    body: {string: "{}"}
version: 1
"""
"""A tape, as vcrpy wrote it, with a control character in a header."""


def other_address() -> str | None:
    """An address of this machine that is not the loopback one; None where it has no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("203.0.113.1", 9))  # sends nothing: it only chooses an interface
        except OSError:
            return None
        found: str = probe.getsockname()[0]
    return None if found.startswith("127.") else found


ELSEWHERE = other_address()
elsewhere = pytest.mark.skipif(ELSEWHERE is None, reason="this machine has the loopback address only")


@dataclass
class Open:
    """A proxy on every interface, with a recording session."""

    proxy: Proxy
    control: ControlClient
    info: SessionInfo
    http: ClientSession

    @property
    def path(self) -> str:
        """The path of the session's addresses."""
        return "/" + self.info.url.split("/", 3)[3]

    async def get(self, path: str) -> tuple[int, bytes]:
        """A request to the proxy's own address."""
        async with self.http.get(self.proxy.url + path) as answer:
            return answer.status, await answer.read()

    async def close(self) -> SessionSummary:
        """End the session."""
        return await self.control.close(self.info.session, 0)

    async def send(self, host: str, *lines: str) -> Answer:
        """Bytes to the port at one of this machine's addresses, which is then the client's address too."""
        reader, writer = await asyncio.open_connection(host, self.proxy.addressing.port)
        try:
            writer.write("\r\n".join((*lines, "Connection: close", "", "")).encode())
            return parsed(await reader.read())
        finally:
            await ended(writer)


@asynccontextmanager
async def opened(project: Project, advertised: str = "", mode: Mode = "record") -> AsyncIterator[Open]:
    proxy = await start_proxy(load_config(project.root / "proctor.toml"), ANY, advertised=advertised)
    try:
        async with ControlClient(proxy.url, proxy.token) as control, ClientSession() as http:
            info = await control.open(SessionSpec(cassette="t", modes={"desk": mode}))
            yield Open(proxy, control, info, http)
    finally:
        await proxy.close()


async def test_an_address_without_the_path_token_is_a_bare_404_and_no_session_sees_it(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with opened(project) as on:
            token = on.proxy.addressing.path_token
            assert len(token) >= 32
            assert on.path == f"/p/{token}/s/{on.info.session}"
            for path in (
                f"/s/{on.info.session}/desk/a",
                "/s/_current/desk/a",
                f"/p/{token[:-1]}/s/{on.info.session}/desk/a",
                f"/p/{token[:-1]}x/s/{on.info.session}/desk/a",
                f"/p//s/{on.info.session}/desk/a",
                "/p/%C3%A4/s/x/desk",
                "/",
                "/robots.txt",
            ):
                assert await on.get(path) == (404, b""), path
            assert await on.get(f"{on.path}/desk/a") == (200, b'{"path": "/a", "said": ""}')
            assert await on.get(f"/p/{token}/s/_current/desk/b") == (200, b'{"path": "/b", "said": ""}')
            assert samples(await on.control.metrics())[("strangers_total",)] == 8
            summary = await on.close()
    assert (summary.recorded, summary.exchanges, summary.misses, summary.errors) == (2, 2, (), ())
    assert summary.sealed


async def test_bytes_that_cannot_be_read_as_http_fail_no_session_either(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with opened(project) as on:
            await on.get(f"{on.path}/desk/a")
            for line in ("\x16\x03\x01 as TLS begins", "GET / HTTP/1.1\r\nX-Huge: " + "x" * 70_000):
                assert (await on.send("127.0.0.1", line)).status == 400
            assert samples(await on.control.metrics())[("strangers_total",)] == 1
            assert (await on.close()).errors == ()


async def test_a_request_of_an_agent_that_cannot_be_read_fails_the_session_and_tells_no_token(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with opened(project) as on:
            await on.get(f"{on.path}/desk/a")
            assert (await on.send("127.0.0.1", f"GET {on.path}/desk/caf\u00e9 HTTP/1.1", "Host: x")).status == 400
            summary = await on.close()
    assert [error.code for error in summary.errors] == ["unreadable_request"]
    assert f"/s/{on.info.session}/desk/caf" in summary.errors[0].message
    assert on.proxy.addressing.path_token not in summary.model_dump_json()


async def test_an_answer_of_the_tape_that_cannot_be_written_fails_the_session(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    project.layout.cassettes.mkdir()
    project.layout.cassette("t").write_text(UNWRITABLE, encoding="utf-8")
    async with opened(project, mode="replay") as on:
        with pytest.raises(ServerDisconnectedError):
            await on.get(f"{on.path}/desk/x")
        summary = await on.close()
    (error,) = summary.errors
    assert (error.code, "an answer could not be written" in error.message) == ("platform_error", True)


async def test_a_stray_request_of_an_agent_still_fails_its_session_and_tells_no_token(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with opened(project) as on:
            token = on.proxy.addressing.path_token
            status, told = await on.get(f"/p/{token}/s/nobody/desk/x")
            assert (status, json.loads(told)["error"]) == (404, "stray_request")
            summary = await on.close()
    assert [(miss.code, miss.target) for miss in summary.misses] == [("stray_request", "/s/nobody/desk/x")]
    assert token not in summary.model_dump_json()


@elsewhere
async def test_calls_past_the_services_want_the_token_as_proxy_password_unless_they_are_local(
    project: Project,
) -> None:
    assert ELSEWHERE is not None
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with opened(project) as on:
            await on.get(f"{on.path}/desk/a")
            right = b64encode(f"any:{on.proxy.addressing.path_token}".encode()).decode()
            wrong = b64encode(b"any:thing").decode()
            for line in ("CONNECT evil.test:443 HTTP/1.1", "GET http://evil.test/ HTTP/1.1"):
                for given in ("X-None: x", f"Proxy-Authorization: Basic {wrong}", "Proxy-Authorization: Basic *"):
                    answer = await on.send(ELSEWHERE, line, "Host: x", given)
                    assert (answer.status, answer.body) == (407, b""), given
            assert samples(await on.control.metrics())[("strangers_total",)] == 6
            for host, given in ((ELSEWHERE, f"Proxy-Authorization: Basic {right}"), ("127.0.0.1", "X-None: x")):
                answer = await on.send(host, "CONNECT evil.test:443 HTTP/1.1", "Host: x", given)
                assert (answer.status, b"host_refused" in answer.body) == (403, True)
            assert samples(await on.control.metrics())[("calls_past_total",)] == 2
            assert [(host.host, host.count) for host in (await on.close()).hosts] == [("evil.test:443", 2)]


@elsewhere
async def test_an_agent_elsewhere_works_with_the_variables_and_by_way_of_its_own_proxy(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with opened(project) as on:
            base = f"http://{ELSEWHERE}:{on.proxy.addressing.port}"
            info = on.info.model_copy(update={"url": base + on.path})
            variables = agent_environment(load_config(project.root / "proctor.toml"), info)
            async with on.http.get(variables["DESK_URL"] + "/a") as answer:
                assert answer.status == 200
            async with on.http.get(variables["DESK_URL"] + "/b", proxy=variables["HTTP_PROXY"]) as answer:
                assert answer.status == 200
            async with on.http.get("http://evil.test/", proxy=variables["HTTP_PROXY"]) as answer:
                assert answer.status == 403
            async with on.http.get("http://evil.test/", proxy=base) as answer:
                assert answer.status == 407
            summary = await on.close()
    assert (summary.recorded, [host.count for host in summary.hosts]) == (2, [1])


@elsewhere
async def test_the_control_api_wants_its_token_elsewhere_too(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with opened(project) as on:
        base = f"http://{ELSEWHERE}:{on.proxy.addressing.port}"
        async with ControlClient(base, on.proxy.addressing.path_token) as wrong:
            assert (await wrong.health()).status == "ok"
            with pytest.raises(Exception, match="wants the run's token"):
                await wrong.sessions()
        async with ControlClient(base, on.proxy.token) as right:
            assert [info.session for info in await right.sessions()] == [on.info.session]


async def test_what_is_advertised_begins_every_address_and_is_known_as_ones_own(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with opened(project, "http://proxy.test:4711") as on:
            assert on.info.url == f"http://proxy.test:4711/p/{on.proxy.addressing.path_token}/s/{on.info.session}"
            line = f"GET http://proxy.test:4711{on.path}/desk/a HTTP/1.1"
            assert (await on.send("127.0.0.1", line, "Host: proxy.test:4711")).status == 200
            assert (await on.close()).recorded == 1


async def test_serve_on_every_interface_says_how_it_is_reached_and_how_many_strangers_came(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with serve(project, "--host", ANY, "--advertise", "http://proxy.test:4711/") as on:
            assert on.ready["url"] == "http://proxy.test:4711"
            assert on.ready["control"].startswith("http://127.0.0.1:")
            _, info = await on.ask("POST", "/sessions", {"cassette": "t", "modes": {"desk": "record"}})
            assert info["url"].startswith("http://proxy.test:4711/p/")
            local = on.ready["control"].removesuffix("/_proctor")
            for path, status in (
                (f"/s/{info['session']}/desk/a", 404),
                ("/" + info["url"].split("/", 3)[3] + "/desk/a", 200),
            ):
                async with on.http.get(local + path) as answer:
                    assert answer.status == status
            _, closed = await on.ask("POST", f"/sessions/{info['session']}/close")
            assert closed["status"] == 0
            stopped = await on.stop()
    assert stopped.status == 0
    assert "1 requests lacked the path token and were refused" in stopped.stderr


async def test_record_listens_for_other_machines_too_and_hears_only_who_was_given_an_address(project: Project) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    source = """
base, path = DESK.split("/p/")
print(base, call(DESK + "/a")[0], call(base + "/s/" + path.split("/s/")[1] + "/a")[0])
print(os.environ["HTTP_PROXY"])
"""
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        options = ("--host", ANY, "--port", str(port), "--advertise", f"http://localhost:{port}")
        ended = await record(project, source, *options)
    assert ended.status == 0, ended.stderr
    first, proxy = ended.stdout.splitlines()[:2]
    assert first == f"http://localhost:{port} 200 404"
    assert proxy.startswith(f"http://{ended.summary['session']}:")
    assert proxy.endswith(f"@localhost:{port}")
    assert ended.summary["exchanges"] == 1
    bad = await record(project, source, "--advertise", "localhost:80")
    assert (bad.status, error_of(bad)["code"]) == (2, "bad_advertise")
