"""A program by itself, between Proctor and an isolated command: `inside.py CHANNEL PORT COMMAND...`.

It moves into namespaces of its own, sends a socket that listens there out through CHANNEL, a file descriptor, and
becomes the command: so what Proctor waits for and signals is the command itself. It imports the standard library only,
since nothing in the command's environment or folder may change what happens here.

Each message is a packet of JSON. After one without `errno` it waits for an answer:

    {"step": "moved"}                 in new namespaces; ids are to be mapped
    {"step": "listens"} and a file    the socket
    {"step": NAME, "errno": N}        that failed, and this process ends
    end of file                       the command runs
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1
FAILED = 126


def main(arguments: Sequence[str]) -> None:
    """Become the command, or end with `FAILED`."""
    channel = socket.socket(fileno=int(arguments[0]))
    channel.set_inheritable(False)
    port, command = int(arguments[1]), tuple(arguments[2:])
    with step(channel, "moved"):
        move()
    ask(channel, "moved")
    with step(channel, "loopback"):
        bring_loopback_up()
    with step(channel, "listens"):
        listener = socket.create_server(("127.0.0.1", port), backlog=128)
    ask(channel, "listens", listener.fileno())
    listener.close()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the command would inherit that
        signal.signal(number, signal.SIG_DFL)
    with step(channel, "runs"):
        os.execvp(command[0], command)  # noqa: S606 - the very command that was given


def move() -> None:
    """Into a user namespace, which owns the network one: so nobody needs to be root. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def bring_loopback_up() -> None:
    """The only interface of a new network namespace is down. Raises OSError."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))


@contextmanager
def step(channel: socket.socket, name: str) -> Iterator[None]:
    """Tell of a failure, and end."""
    try:
        yield
    except OSError as error:
        channel.send(json.dumps({"step": name, "errno": error.errno}).encode())
        raise SystemExit(FAILED) from None


def ask(channel: socket.socket, name: str, *files: int) -> None:
    """Tell that a step is done, and wait; end where nobody is there any more."""
    try:
        socket.send_fds(channel, [json.dumps({"step": name}).encode()], files)
        answer = channel.recv(1)
    except OSError:
        answer = b""
    if not answer:
        raise SystemExit(FAILED)


if __name__ == "__main__":
    main(sys.argv[1:])
