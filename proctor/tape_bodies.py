"""Bodies kept beside a tape: one file each in `NAME.bodies/`, named by the digest of its content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from proctor.errors import CassetteTorn
from proctor.tape_yaml import BodyFile

_NAME = re.compile(r"[0-9a-f]{32}\.body")
_RESTORE = "restore the file from version control (is it committed, and free of line-end changes?), or record again"


def body_folder(tape: Path) -> Path:
    """The folder for the bodies of the tape at that path."""
    return tape.with_suffix(".bodies")


@dataclass
class BodiesToWrite:
    """Collects, while a tape is rendered, the bodies over `limit` bytes; with no limit, none."""

    limit: int | None
    kept: dict[str, bytes] = field(default_factory=dict)

    def outside(self, body: bytes) -> BodyFile | None:
        """The file that will hold this body, or None for one that stays in the tape."""
        if self.limit is None or len(body) <= self.limit:
            return None
        name = body_name(body)
        self.kept[name] = body
        return BodyFile(name, len(body))


def write_bodies(folder: Path, bodies: dict[str, bytes]) -> None:
    """Write what is not there yet. What an older tape refers to stays: see `prune_bodies`. Raises OSError."""
    for name, body in bodies.items():
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        if not path.is_file() or path.read_bytes() != body:
            partial = folder / f".{name}.partial"
            partial.write_bytes(body)
            partial.replace(path)


def prune_bodies(folder: Path, bodies: dict[str, bytes]) -> None:
    """Delete the bodies that the tape now on disk does not refer to, and the folder when it is empty. Raises OSError.

    Only files that are named as `write_bodies` names them.
    """
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name not in bodies and _NAME.fullmatch(path.name.removeprefix(".").removesuffix(".partial")):
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def read_body(folder: Path | None, body: BodyFile) -> bytes:
    """The content of a body's file. Raises CassetteTorn where it is missing or another than was sealed."""
    if folder is None or not _NAME.fullmatch(body.name):
        raise CassetteTorn("cassette_body_name", f'"{body.name}" names no body beside the tape', _RESTORE)
    path = folder / body.name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CassetteTorn(
            "cassette_body_missing", f"its body {path} cannot be read: {error.strerror}", _RESTORE
        ) from None
    if len(content) != body.size or body_name(content) != body.name:
        raise CassetteTorn("cassette_body_changed", f"its body {path} is another than was sealed", _RESTORE)
    return content


def shown_body(body: BodyFile) -> bytes:
    """What stands for a body where a tape is only shown."""
    return f"(kept beside the tape: {body.name}, {body.size} bytes)".encode()


def body_name(body: bytes) -> str:
    """The name of the file that holds a body."""
    return f"{hashlib.blake2b(body, digest_size=16).hexdigest()}.body"


def strangers(folder: Path, bodies: Iterable[bytes]) -> list[Path]:
    """The files in a folder that are none of these bodies, sorted."""
    known = set(map(body_name, bodies)) if folder.is_dir() else set()
    return sorted(path for path in folder.iterdir() if path.name not in known) if folder.is_dir() else []
