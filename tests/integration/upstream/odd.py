"""Answers that are old, slow, oversize or malformed, with what is read of them or told about them."""

from __future__ import annotations

import asyncio
import contextlib
import gzip

from tests.integration.proxy.raw import Answering, Canned, canned, chunk

LONG = 60_000


def then_closes(data: bytes) -> Answering:
    """An answer that ends with its connection."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.close()

    return answer


def byte_by_byte(data: bytes) -> Answering:
    """An answer of which every byte is sent alone."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        for at in range(len(data)):
            writer.write(data[at : at + 1])
            await writer.drain()
            await asyncio.sleep(0)

    return answer


async def never(writer: asyncio.StreamWriter) -> None:
    """No answer at all."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()


FINE: dict[str, tuple[Canned, str]] = {
    "HTTP/1.0": (then_closes(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold"), "old"),
    "HTTP/1.0 with a length": (then_closes(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold"), "old"),
    "until the connection closes": (
        then_closes(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end"),
        "to the end",
    ),
    "early hints": (b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" + canned(b"after"), "after"),
    "two interim answers": (b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 E\r\n\r\n" + canned(b"after"), "after"),
    "a long header": (canned(b"{}", "X-Long: " + "a" * LONG), "{}"),
    "many headers": (canned(b"{}", *(f"X-{n}: {n}" for n in range(900))), "{}"),
    "byte by byte": (byte_by_byte(canned(b"slowly")), "slowly"),
    "an old word for no transfer coding": (
        then_closes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nplain"),
        "plain",
    ),
    "no reason": (canned(b"{}", status="200"), "{}"),
}
"""Each with the body that it has."""

NO_HTTP: dict[str, tuple[bytes, str]] = {
    "another protocol": (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "see what listens there"),
    "no number for a status": (b"HTTP/1.1 OK\r\n\r\n", "see what listens there"),
    "a header without a colon": (b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "see what listens there"),
    "a header over 64 KiB": (canned(b"{}", "X-Long: " + "a" * 70_000), "a line of its head is longer than 64 KiB"),
    "over 1024 headers": (canned(b"{}", *(f"X-{n}: {n}" for n in range(1_100))), "it has over 1024 headers"),
    "a malformed chunk": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"four") + b"zz\r\n",
        "see what listens there",
    ),
    "a length and chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"{}") + chunk(b""),
        "it has both Content-Length and Transfer-Encoding",
    ),
    "chunks and a length": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n" + chunk(b"{}") + chunk(b""),
        "have the service, or what stands before it, send one of the two",
    ),
    "a control character in a header": (canned(b"{}", "X-Name: a\x01b"), 'in its header "X-Name"'),
    "a control character in the status line": (canned(b"{}", status="200 O\x7fK"), "in its status line"),
    "a transfer coding that nobody asked for": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + chunk(gzip.compress(b"{}")) + chunk(b""),
        "its body comes with Transfer-Encoding: gzip, chunked",
    ),
    "two lengths": (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "no HTTP answer"),
}
"""Each, of a service that closes then, with what a person is told."""
