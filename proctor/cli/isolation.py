"""Running a command where nothing but the proxy can be reached (Linux): a network namespace with loopback only.

The command's side is `inside.py`. The proxy listens there too, on a socket that was made inside and handed out: so
addresses are the same as ever, and nothing has to pass bytes on.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.cli.listening import LOOPBACK, Listening
from proctor.errors import PlatformError, UsageError
from proctor.wire import SessionSpec

Listen = Callable[[socket.socket], Awaitable[None]]
"""Lets the proxy accept connections from one more socket."""

_INSIDE = Path(__file__).with_name("inside.py")
_PACKET = 4096
_GO = b"+"
_FIX = (
    "the kernel, the container's runtime or a security module forbids namespaces: in docker allow them with "
    "--security-opt seccomp=unconfined, on Ubuntu with sysctl kernel.apparmor_restrict_unprivileged_userns=0; or leave "
    "out --isolate: calls past the proxy are then seen only of clients that honour proxy variables"
)


@dataclass(frozen=True)
class Isolation:
    """What an isolated command reaches: the proxy at `port` of its own loopback, by way of `listen`."""

    port: int
    listen: Listen

    async def start(self, command: Sequence[str], **options: Any) -> asyncio.subprocess.Process:
        """Start a command in a network of its own; `options` are those of `asyncio.create_subprocess_exec`.

        Raises UsageError where the machine does not permit that, OSError where the command is no program, PlatformError
        where the way there broke off.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours:
            ours.setblocking(False)
            with theirs:
                program = (sys.executable, "-I", "-S", str(_INSIDE), str(theirs.fileno()), str(self.port), *command)
                process = await asyncio.create_subprocess_exec(*program, pass_fds=(theirs.fileno(),), **options)
            try:
                await self._admit(ours, process.pid)
            except BaseException:
                if process.returncode is None:
                    process.kill()
                await process.wait()
                raise
        return process

    async def _admit(self, channel: socket.socket, pid: int) -> None:
        """Take the command's side through its steps, until it is the command."""
        loop = asyncio.get_running_loop()
        name = ""
        while (told := await _next(channel)) is not None:
            name, files = told
            if name == "moved":
                _map_ids(pid)
            elif name == "listens":
                await self.listen(socket.socket(fileno=files[0]))
            await loop.sock_sendall(channel, _GO)
        if name != "listens":
            raise PlatformError("isolate_failed", f"--isolate: {_INSIDE} ended before the command could begin")


def check_isolation(spec: SessionSpec, where: Listening) -> None:
    """Raise UsageError for what no isolated command can have."""
    if sys.platform != "linux":
        told = "--isolate needs the network namespaces of Linux"
        raise UsageError("isolate_needs_linux", told, "leave it out here, and isolate where CI runs on Linux")
    if where.host != LOOPBACK or where.advertised:
        told = "an isolated command reaches the proxy at its own loopback, not where --host or --advertise say"
        raise UsageError("isolate_with_host", told, "leave out either")
    if spec.passed:
        told = f"pass_hosts lets {', '.join(spec.passed)} go direct, and an isolated command reaches the proxy only"
        fix = "make each a service with --mode NAME=live, or leave out --isolate"
        raise UsageError("isolate_with_pass_hosts", told, fix)


async def _next(channel: socket.socket) -> tuple[str, list[int]] | None:
    """The next step that is done, with the files sent along; None where the command runs. Raises as `start` does."""
    await _readable(channel)
    packet, files, _, _ = socket.recv_fds(channel, _PACKET, 1)
    if not packet:
        return None
    told = json.loads(packet)
    if "errno" not in told:
        return str(told["step"]), files
    error = OSError(told["errno"], os.strerror(told["errno"]))
    if told["step"] == "runs":
        raise error
    raise _refused(f"step {told['step']}", error)


async def _readable(channel: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(channel, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(channel)


def _map_ids(pid: int) -> None:
    """Let every user and group be itself inside; where only root may do that, at least the one who asks."""
    try:
        _map("uid", pid, os.geteuid())
        _map("gid", pid, os.getegid())
    except OSError as error:
        raise _refused("step ids", error) from None


def _map(kind: str, pid: int, own: int) -> None:
    ranges = [line.split() for line in Path(f"/proc/self/{kind}_map").read_text(encoding="ascii").splitlines()]
    path = Path(f"/proc/{pid}/{kind}_map")
    try:
        path.write_text("".join(f"{first} {first} {count}\n" for first, _, count in ranges), encoding="ascii")
    except PermissionError:
        if kind == "gid":
            Path(f"/proc/{pid}/setgroups").write_text("deny", encoding="ascii")
        path.write_text(f"{own} {own} 1\n", encoding="ascii")


def _refused(where: str, error: OSError) -> UsageError:
    told = f"--isolate: this machine gives the command no network of its own ({where}: {error.strerror})"
    return UsageError("isolate_not_permitted", told, _FIX)
