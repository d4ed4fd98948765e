"""The derived cache of a large tape: its canonical form, which loads many times faster than YAML.

Safe to delete, and never trusted over the file: it is used only where it was made from exactly these bytes, and where
its content has the digest that stands in the file's own seal.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import orjson

from proctor.tape_seal import digest

WORTH_IT = 256 * 1024
"""Tapes of fewer bytes are parsed each time."""


class TapeCache:
    """The cache of one tape, for the file's bytes as they are now."""

    def __init__(self, path: Path, data: bytes) -> None:
        """`path` is the cache's own; `data` what the tape's file holds."""
        self._path = path
        self._data = data
        self._head = b'{"proctor-tape-cache":1,"of":"%s"}\n' % hashlib.sha256(data).hexdigest().encode()

    def read(self) -> tuple[dict[str, Any], list[Any]] | None:
        """The seal and the items, as `read` of the YAML gives them; None where there is no cache of this file."""
        try:
            held = self._path.read_bytes()
        except OSError:
            return None
        if not held.startswith(self._head):
            return None
        form = held[len(self._head) :]
        sealed_with = digest(form)
        if b"digest: " + sealed_with.encode() not in self._data:
            return None
        try:
            seal, *items = map(orjson.loads, form.split(b"\n"))
        except ValueError:
            return None
        return {**seal, "digest": sealed_with}, items

    def write(self, form: bytes) -> None:
        """Keep the canonical form of the file; a disk that refuses costs only time."""
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=self._path.parent)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(self._head + form)
                Path(temporary).replace(self._path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
