"""The salt of this installation's fences: no author of a run can guess them, and they are the same each time."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path

from proctor.errors import PlatformError
from proctor.replacing import replace_file

SALT_BYTES = 32


def salt_in(folder: Path) -> bytes:
    """The one kept in a folder, drawn once at random. Raises PlatformError where it cannot be kept or read."""
    path = folder / "salt"
    with suppress(FileNotFoundError):
        salt = path.read_bytes()
        if len(salt) == SALT_BYTES:
            return salt
        raise PlatformError("salt_damaged", f"{path} is damaged", "delete it: prompts made with it are asked again")
    salt = secrets.token_bytes(SALT_BYTES)
    try:
        replace_file(path, salt, mode=0o600)
    except OSError as error:
        raise PlatformError("not_writable", f"{path} cannot be written: {error.strerror}") from None
    return salt
