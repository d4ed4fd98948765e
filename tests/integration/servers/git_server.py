"""`git http-backend` behind a small CGI server: the real smart-HTTP server of git."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web
from multidict import CIMultiDict

from tests.support import serving


@dataclass
class GitServer:
    """The repositories below a folder, and what was asked for them: headers as they came, bodies as they arrived."""

    root: Path
    url: str = ""
    asked: list[tuple[str, Mapping[str, str], bytes]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One CGI request."""
        body = await request.read()
        self.asked.append((f"{request.method} {request.raw_path}", request.headers, body))
        process = await asyncio.create_subprocess_exec(
            *("git", "http-backend"),
            env={**os.environ, **self._environment(request, body)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        head, _, content = (await process.communicate(body))[0].partition(b"\r\n\r\n")
        headers = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        told = CIMultiDict((name, value) for name, value in headers if name != "Status")
        return web.Response(status=status, headers=told, body=content)

    def _environment(self, request: web.Request, body: bytes) -> dict[str, str]:
        named = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in request.headers.items()}
        return named | {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": request.method,
            "PATH_INFO": request.path,
            "QUERY_STRING": request.query_string,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_ADDR": "127.0.0.1",
            "REMOTE_USER": "somebody",
        }


@asynccontextmanager
async def git_server(root: Path) -> AsyncIterator[GitServer]:
    """A server of the repositories below `root`, which takes pushes."""
    server = GitServer(root)
    async with serving(server.answer) as server.url:
        yield server


IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in {"NAME": "A", "EMAIL": "a@example.org", "DATE": "2026-01-02T03:04:05Z"}.items()
}
PLAIN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
"""So that no machine's settings count."""


def git(*arguments: str, cwd: Path) -> str:
    """Run git on this machine, outside any session."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=cwd,
        env={**os.environ, **IDENTITY, **PLAIN},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def repository(root: Path, name: str = "shop.git") -> Path:
    """A bare repository with a history that a fetch negotiates over, text and binary files, branches and a tag."""
    bare, work = root / name, root / "work"
    git("init", "-q", "--bare", "-b", "main", str(bare), cwd=root)
    git("init", "-q", "-b", "main", str(work), cwd=root)
    for number in range(60):
        (work / f"file-{number % 7}").write_bytes(bytes(range(256)) * number)
        git("add", "-A", cwd=work)
        git("commit", "-q", "--allow-empty", "-m", f"commit {number} 订单", cwd=work)
        if number % 2:
            git("branch", f"branch-{number}", cwd=work)
    git("tag", "-a", "v1", "-m", "first", cwd=work)
    git("push", "-q", "--mirror", str(bare), cwd=work)
    return bare
