"""Content codings: looking inside a body that travels compressed, and packing it again."""

from __future__ import annotations

import gzip
import zlib


def decoded(body: bytes, coding: str | None) -> bytes | None:
    """`body` without its content coding; None where the coding is unknown, stacked or the bytes are damaged."""
    name = (coding or "identity").strip().lower()
    try:
        if name in {"", "identity"}:
            return body
        if name in {"gzip", "x-gzip"}:
            return gzip.decompress(body)
        if name == "deflate":
            return _inflated(body)
    except (OSError, EOFError, zlib.error):
        return None
    return None


def encoded(body: bytes, coding: str | None) -> bytes:
    """`body` in a coding that `decoded` understands; the same bytes for the same body on any day."""
    name = (coding or "identity").strip().lower()
    if name in {"gzip", "x-gzip"}:
        return gzip.compress(body, mtime=0)
    if name == "deflate":
        return zlib.compress(body)
    return body


def _inflated(body: bytes) -> bytes:
    """`deflate` means zlib by the standard and raw deflate by habit: accept both, and nothing behind the end."""
    try:
        return _whole(body, zlib.MAX_WBITS)
    except zlib.error:
        return _whole(body, -zlib.MAX_WBITS)


def _whole(body: bytes, window: int) -> bytes:
    stream = zlib.decompressobj(window)
    plain = stream.decompress(body) + stream.flush()
    if not stream.eof or stream.unused_data:
        raise zlib.error("not one whole stream")
    return plain
