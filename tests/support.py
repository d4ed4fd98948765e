"""What many tests need: a project of its own, a real upstream, a real proxy, the real command."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, web

from proctor.cassette import Cassette, load_cassette
from proctor.client import ControlClient
from proctor.config import CONFIG_NAME, load_config
from proctor.events import Trace, trace_of
from proctor.paths import Layout
from proctor.proxy.server import Proxy, start_proxy
from proctor.trace import SessionSummary, TraceRow
from proctor.wire import Mode, SessionInfo, SessionSpec
from tests.forked import READ_AT_THE_START, forked

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def summary(self) -> dict[str, Any]:
        """The last line of stdout, where the command was given `--json`."""
        told: dict[str, Any] = json.loads(self.stdout.splitlines()[-1])
        return told

    @property
    def printed(self) -> list[str]:
        """The lines before that one, without the empty one that sets it apart."""
        lines = self.stdout.splitlines()[:-1]
        return lines if lines and lines[-1] else lines[:-1]


@dataclass(frozen=True)
class Project:
    """A folder with a `proctor.toml`, as a user has one."""

    root: Path

    @property
    def layout(self) -> Layout:
        """Where its files lie."""
        return Layout(self.root)

    def configure(self, toml: str) -> None:
        """Write `proctor.toml`."""
        (self.root / CONFIG_NAME).write_text(toml, encoding="utf-8")

    def tape(self, name: str) -> Cassette:
        """A tape of the project, loaded strictly."""
        return load_cassette(self.layout, name)

    def trace(self, session: str) -> list[TraceRow]:
        """The exchanges in the trace that a closed session left."""
        return self.whole_trace(session).exchanges

    def whole_trace(self, session: str) -> Trace:
        """The same with what the agent told."""
        return trace_of((self.layout.sessions / session / "trace.jsonl").read_bytes())

    def script(self, name: str, source: str) -> Path:
        """A Python program of the project, to be run as an agent."""
        path = self.root / name
        path.write_text(source, encoding="utf-8")
        return path

    async def proctor(self, *arguments: str, env: Mapping[str, str] | None = None) -> Finished:
        """Run the real command in the project, as a user does."""
        # What libraries of macOS have begun may not go on in a fork.
        if sys.platform == "darwin" or any(name.startswith(READ_AT_THE_START) for name in env or ()):
            return await run(sys.executable, "-m", "proctor", *arguments, cwd=self.root, env=env)
        status, stdout, stderr = await forked(arguments, self.root, {**clean_environment(), **(env or {})})
        return Finished(status, stdout.decode(), stderr.decode())


async def run(*command: str, cwd: Path, env: Mapping[str, str] | None = None) -> Finished:
    """Run a program to its end. Proxy variables of the test machine are not inherited."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env={**clean_environment(), **(env or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    stdout, stderr = await process.communicate()
    assert process.returncode is not None
    return Finished(process.returncode, stdout.decode(), stderr.decode())


def clean_environment() -> dict[str, str]:
    """The environment without proxy variables, and with the repository importable."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {**kept, "PYTHONPATH": str(ROOT)}


def running(process: int) -> bool:
    """It is there, and not only waiting for somebody to take notice of its end (Linux)."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def namespaces_permitted() -> bool:
    """Whether this machine lets anybody make user and network namespaces."""
    try:
        return subprocess.run(["unshare", "--user", "--net", "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """A real server whose every request goes to `handler`, its body as it was sent; gives its URL as `serving_app`."""
    app = web.Application(client_max_size=256 * 1024**2)
    app.router.add_route("*", "/{tail:.*}", handler)
    async with serving_app(app, auto_decompress=False) as url:
        yield url


@asynccontextmanager
async def serving_app(app: web.Application, *, auto_decompress: bool = True) -> AsyncIterator[str]:
    """A real server of an aiohttp application; gives its URL, without a trailing slash."""
    runner = web.AppRunner(app, access_log=None, auto_decompress=auto_decompress)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@dataclass
class Running:
    """A proxy with one open session, and a client that adds nothing of its own."""

    proxy: Proxy
    control: ControlClient
    info: SessionInfo
    http: ClientSession

    def url(self, service: str, target: str = "") -> str:
        """The address of a service in this session."""
        return f"{self.info.url}/{service}{target}"

    async def close(self, command_status: int | None = 0) -> SessionSummary:
        """End the session."""
        return await self.control.close(self.info.session, command_status)


@asynccontextmanager
async def session(
    project: Project, cassette: str, mode: Mode = "record", modes: Mapping[str, Mode] | None = None, **spec: Any
) -> AsyncIterator[Running]:
    """A real proxy in this process, with a session over every service of the project."""
    config = load_config(project.root / CONFIG_NAME)
    chosen: dict[str, Mode] = {**dict.fromkeys(config.services, mode), **(modes or {})}
    proxy = await start_proxy(config)
    try:
        async with (
            ControlClient(proxy.url, proxy.token) as control,
            ClientSession(auto_decompress=False, skip_auto_headers=("User-Agent", "Accept-Encoding", "Accept")) as http,
        ):
            info = await control.open(SessionSpec(cassette=cassette, modes=chosen, **spec))
            yield Running(proxy, control, info, http)
    finally:
        await proxy.close()


def services(**urls: str) -> str:
    """A minimal `proctor.toml`: each name with its URL."""
    return "\n".join(f'[services.{name}]\nurl = "{url}"\nenv = ["{name.upper()}_URL"]\n' for name, url in urls.items())
