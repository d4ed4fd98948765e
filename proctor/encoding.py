"""Content codings: looking inside a body that travels compressed, and packing it again."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import zstandard

_LARGEST = 512 * 2**20
"""Bytes beyond which a body that unpacks is not looked into: nothing that an agent reads is so long."""
_PIECE = 2**16


def codings(coding: str | None) -> list[str]:
    """The codings of a Content-Encoding, in the order in which they were laid on."""
    named = [name.strip().lower() for name in (coding or "").split(",")]
    return [name for name in named if name not in {"", "identity"}]


def decoded(body: bytes, coding: str | None) -> bytes | None:
    """`body` without its content codings; None where one is unknown or the bytes are damaged."""
    try:
        for name in reversed(codings(coding)):
            if name not in _UNPACK:
                return None
            body = _UNPACK[name](body)
    except (OSError, EOFError, ValueError, zlib.error, brotli.error, zstandard.ZstdError):
        return None
    return body


def encoded(body: bytes, coding: str | None) -> bytes:
    """`body` in codings that `decoded` understands; the same bytes for the same body on any day."""
    for name in codings(coding):
        body = _PACK[name](body) if name in _PACK else body
    return body


def _gunzipped(body: bytes) -> bytes:
    """All members of a gzip file."""
    whole = b""
    while body:
        stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
        whole += stream.decompress(body, _LARGEST - len(whole) + 1)
        if not stream.eof or len(whole) > _LARGEST:
            raise zlib.error("not one whole stream")
        body = stream.unused_data.lstrip(b"\0")
    return whole


def _inflated(body: bytes) -> bytes:
    """`deflate` means zlib by the standard and raw deflate by habit: accept both, and nothing behind the end."""
    try:
        return _whole(body, zlib.MAX_WBITS)
    except zlib.error:
        return _whole(body, -zlib.MAX_WBITS)


def _whole(body: bytes, window: int) -> bytes:
    stream = zlib.decompressobj(window)
    plain = stream.decompress(body, _LARGEST)
    if not stream.eof or stream.unused_data:
        raise zlib.error("not one whole stream")
    return plain


def _unbrotlied(body: bytes) -> bytes:
    stream = brotli.Decompressor()
    plain = _joined(body, stream.process)
    if not stream.is_finished():
        raise ValueError("not one whole stream")
    return plain


def _unzstd(body: bytes) -> bytes:
    stream = zstandard.ZstdDecompressor().decompressobj()
    plain = _joined(body, stream.decompress)
    if not stream.eof or stream.unused_data:
        raise ValueError("not one whole stream")
    return plain


def _joined(body: bytes, decompress: Callable[[bytes], bytes]) -> bytes:
    """What the pieces of a body come to. Raises ValueError where that is too long."""
    whole = []
    total = 0
    for at in range(0, len(body), _PIECE):
        whole.append(decompress(body[at : at + _PIECE]))
        total += len(whole[-1])
        if total > _LARGEST:
            raise ValueError("too long")
    return b"".join(whole)


_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gunzipped,
    "x-gzip": _gunzipped,
    "deflate": _inflated,
    "br": _unbrotlied,
    "zstd": _unzstd,
}
_PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, mtime=0),
    "x-gzip": lambda body: gzip.compress(body, mtime=0),
    "deflate": zlib.compress,
    "br": lambda body: bytes(brotli.compress(body)),
    "zstd": lambda body: zstandard.ZstdCompressor(write_content_size=True).compress(body),
}
