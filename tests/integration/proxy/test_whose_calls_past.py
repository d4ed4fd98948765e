"""A call past the services is booked on the session whose agent made it, where the client says whose it is."""

from __future__ import annotations

import asyncio
import shutil
import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from proctor.client import ControlClient
from proctor.config import CONFIG_NAME, load_config
from proctor.launch import agent_environment
from proctor.proxy.server import Proxy, start_proxy
from proctor.wire import Mode, SessionInfo, SessionSpec
from tests.integration.proxy.raw import Answer, canned, ended, parsed, raw_service
from tests.support import Finished, Project, run, services

ONE_CALL = "import sys\ntry: {call}\nexcept Exception as error: print(error)"
PROGRAMS = {
    "requests": "__import__('requests').get(sys.argv[1])",
    "httpx": "__import__('httpx').get(sys.argv[1])",
    "urllib": "__import__('urllib.request').request.urlopen(sys.argv[1])",
}
CLIENTS = {
    **{name: (sys.executable, "-c", ONE_CALL.format(call=call)) for name, call in PROGRAMS.items()},
    "curl": ("curl", "-s"),
}


@dataclass
class Two:
    """A proxy with two sessions."""

    project: Project
    proxy: Proxy
    control: ControlClient
    own: SessionInfo
    other: SessionInfo

    async def call(self, client: str, url: str) -> Finished:
        """A real client, started as the agent of the `own` session."""
        variables = agent_environment(self.proxy.registry.config, self.own)
        return await run(*CLIENTS[client], url, cwd=self.project.root, env=variables)

    async def send(self, line: str, user: str | None) -> Answer:
        """A request of raw bytes, with these proxy credentials."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.proxy.addressing.port)
        given = [] if user is None else [f"Proxy-Authorization: Basic {b64encode(f'{user}:x'.encode()).decode()}"]
        try:
            writer.write("\r\n".join([line, "Host: x", "Connection: close", *given, "", ""]).encode())
            return parsed(await reader.read())
        finally:
            await ended(writer)

    async def tried(self) -> tuple[list[str], list[str]]:
        """What is booked on the own session and on the other one, once both are closed."""
        found = []
        for info in (self.own, self.other):
            summary = await self.control.close(info.session, 0)
            found.append([f"{host.method} {host.host}" for host in summary.hosts])
            found[-1] += [f"{miss.code} {miss.target}" for miss in summary.misses]
        return found[0], found[1]


@asynccontextmanager
async def two(project: Project, mode: Mode = "live") -> AsyncIterator[Two]:
    proxy = await start_proxy(load_config(project.root / CONFIG_NAME))
    try:
        async with ControlClient(proxy.url, proxy.token) as control:
            tapes = "aa" if mode == "replay" else "ab"
            own, other = [await control.open(SessionSpec(cassette=tape, modes={"desk": mode})) for tape in tapes]
            yield Two(project, proxy, control, own, other)
    finally:
        await proxy.close()


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_real_clients_calls_past_the_services_fail_its_own_session_only(project: Project, client: str) -> None:
    if client == "curl" and shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    project.configure(services(desk="http://127.0.0.1:9"))
    async with two(project) as on:
        for scheme in ("http", "https"):
            await on.call(client, f"{scheme}://tool.invalid/x")
        assert await on.tried() == (["GET tool.invalid:80", "CONNECT tool.invalid:443"], [])


@pytest.mark.parametrize("client", CLIENTS)
async def test_no_service_and_no_tape_sees_what_a_client_tells_its_proxy(project: Project, client: str) -> None:
    """Its calls to the services come by way of the proxy too, with the same credentials."""
    if client == "curl" and shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    async with raw_service(canned(b"mine")) as service:
        project.configure(services(desk=service.url))
        async with two(project, "record") as on:
            await on.call(client, f"{on.own.url}/desk/x")
            assert on.own.session not in b"".join(service.requests).decode()
            assert "proxy-authorization" not in b"".join(service.requests).decode().lower()
            summary = await on.control.close(on.own.session, 0)
    assert summary.sealed
    assert summary.replaced == ()
    text = project.layout.cassette("a").read_text(encoding="utf-8")
    assert "proxy-authorization" not in text.lower()
    async with two(project, "replay") as on:
        await on.call(client, f"{on.own.url}/desk/x")
        summary = await on.control.close(on.own.session, 0)
    assert (summary.hits, summary.misses) == (1, ())


@pytest.mark.parametrize("user", [None, "", "_", "nobody", "closed"])
async def test_who_names_no_open_session_may_be_any_ones(project: Project, user: str | None) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with two(project) as on:
        await on.control.open(SessionSpec(cassette="c", modes={"desk": "live"}, session="closed"))
        await on.control.close("closed", 0)
        answer = await on.send("CONNECT tool.invalid:443 HTTP/1.1", user)
        assert answer.status == 403
        assert await on.tried() == (["CONNECT tool.invalid:443"],) * 2


@pytest.mark.parametrize("target", ["/s/nobody/desk/x", "/s/_current/desk/x", "/favicon.ico"])
async def test_a_stray_request_fails_the_session_that_its_proxy_credentials_name(project: Project, target: str) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with two(project) as on:
        line = f"GET {on.proxy.url}{target} HTTP/1.1"
        assert (await on.send(line, on.own.session)).status == 404
        assert await on.tried() == ([f"stray_request {target}"], [])
