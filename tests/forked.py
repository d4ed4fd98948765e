"""Processes for the real command that begin where every one of them would be after a third of a second.

Two servers have other people's libraries loaded, and nothing of Proctor's. A command is a fork of one of them: a
process of its own, with its own folder, environment and output, which imports Proctor anew and runs it as
`python -m proctor` does. The servers have other hash seeds and take turns, so that an order of a set which gets into a
tape or an output is no more hidden than with commands that are started one by one.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import itertools
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

LIBRARIES = ("aiohttp.web", "brotli", "click", "orjson", "pydantic", "yaml", "zstandard")
READ_AT_THE_START = ("PYTHON", "LC_", "LANG", "TZ", "SSL_")
"""What names of variables begin with that a running Python has already read."""
_SEEDS = (1, 2)
_turn = itertools.cycle(_SEEDS)


async def forked(arguments: Sequence[str], cwd: Path, env: Mapping[str, str]) -> tuple[int, bytes, bytes]:
    """Run `proctor` to its end: its exit status (-n where signal n ended it), its stdout, its stderr."""
    pipes = [os.pipe() for _ in range(3)]
    asked = json.dumps({"arguments": arguments, "cwd": str(cwd), "env": dict(env)}).encode()
    server = _server(next(_turn))
    socket.send_fds(server, [len(asked).to_bytes(4)], [theirs for _, theirs in pipes])
    server.sendall(asked)
    for _, theirs in pipes:
        os.close(theirs)
    stdout, stderr, status = await asyncio.gather(*(_all_of(ours) for ours, _ in pipes))
    return int(status), stdout, stderr


async def _all_of(pipe: int) -> bytes:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(pipe, "rb"))
    try:
        return await reader.read()
    finally:
        transport.close()


@cache
def _server(seed: int) -> socket.socket:
    """Start a server; gives what it is asked by. It ends when this process does."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.forked", str(theirs.fileno())],
            cwd=Path(__file__).parent.parent,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
    atexit.register(process.wait)
    atexit.register(ours.close)  # the last one registered is the first one called
    return ours


def _serve(control: socket.socket) -> dict[str, Any] | None:
    """Fork for each request; gives the request in the process that is to run it, None in the server at the end."""
    while True:
        length, pipes, _, _ = socket.recv_fds(control, 4, 3)
        if not length:
            return None
        asked = control.recv(int.from_bytes(length), socket.MSG_WAITALL)
        if os.fork() == 0:
            return _command(asked, *pipes)
        for pipe in pipes:
            os.close(pipe)


def _command(asked: bytes, stdout: int, stderr: int, status: int) -> dict[str, Any]:
    """In the fork: fork once more for the command, and here wait for it and tell its status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    command = os.fork()
    if command:
        os.close(stdout)
        os.close(stderr)
        _, ended = os.waitpid(command, 0)
        os.write(status, str(os.waitstatus_to_exitcode(ended)).encode())
        os._exit(0)
    os.close(status)
    for pipe, place in ((stdout, 1), (stderr, 2)):
        os.dup2(pipe, place)
        os.close(pipe)
    told: dict[str, Any] = json.loads(asked)
    return told


def _run(asked: Mapping[str, Any]) -> None:
    """What `python -m proctor` does, in this process."""
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.path[0] = asked["cwd"]
    sys.argv = ["proctor", *asked["arguments"]]
    runpy.run_module("proctor", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    for library in LIBRARIES:
        import_module(library)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as control:
        asked = _serve(control)
    if asked is not None:
        _run(asked)
