"""Headers that count or digest a body, made true again where the body changed."""

from __future__ import annotations

import hashlib
import re
import zlib
from base64 import b64encode
from collections.abc import Callable

from proctor.interaction import Headers

_Digest = Callable[[bytes], bytes]


def _crc32(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(4, "big")


def _hashed(name: str) -> _Digest:
    return lambda body: hashlib.new(name, body, usedforsecurity=False).digest()


_WHOLE: dict[str, _Digest] = {
    "content-md5": _hashed("md5"),
    "x-amz-checksum-crc32": _crc32,
    "x-amz-checksum-sha1": _hashed("sha1"),
    "x-amz-checksum-sha256": _hashed("sha256"),
}
"""Headers whose value is one digest, in base64."""
_HEX: dict[str, _Digest] = {"x-amz-content-sha256": _hashed("sha256")}
_LISTED: dict[str, _Digest] = {
    "md5": _hashed("md5"),
    "sha": _hashed("sha1"),
    "sha-1": _hashed("sha1"),
    "sha-256": _hashed("sha256"),
    "sha-512": _hashed("sha512"),
}
"""Algorithms of `Digest`, `Content-Digest`, `Repr-Digest` and `X-Goog-Hash`, by their names there."""
_LISTS = frozenset({"digest", "content-digest", "repr-digest", "x-goog-hash"})
_MEMBER = re.compile(r"([A-Za-z0-9-]+)=(:?)([A-Za-z0-9+/]+=*)(:?)")


def remeasured(headers: Headers, old: bytes, new: bytes) -> Headers:
    """Headers that tell the length and the digests of `new`, where they told those of `old`."""
    if old == new:
        return headers
    return tuple([(name, _remade(name.lower(), value, old, new)) for name, value in headers])


def _remade(name: str, value: str, old: bytes, new: bytes) -> str:
    if name == "content-length":
        return str(len(new)) if value == str(len(old)) else value
    if name in _WHOLE:
        digest = _WHOLE[name]
        return _base64(digest(new)) if value.strip() == _base64(digest(old)) else value
    if name in _HEX:
        return _HEX[name](new).hex() if value.strip() == _HEX[name](old).hex() else value
    if name in _LISTS:
        return _MEMBER.sub(lambda match: _member(match, old, new), value)
    return value


def _member(match: re.Match[str], old: bytes, new: bytes) -> str:
    digest = _LISTED.get(match[1].lower())
    if digest is None or match[3] != _base64(digest(old)):
        return match[0]
    return f"{match[1]}={match[2]}{_base64(digest(new))}{match[4]}"


def _base64(digest: bytes) -> str:
    return b64encode(digest).decode()
