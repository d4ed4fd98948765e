"""The control API's token: where it comes from, and the file that tells it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from proctor.errors import UsageError

VARIABLE = "PROCTOR_TOKEN"
_SHORTEST = 16


def chosen_token(environ: Mapping[str, str]) -> str:
    """The token of the environment, or an empty string for one to be made. Raises UsageError for one that is weak."""
    token = environ.get(VARIABLE)
    if token is None:
        return ""
    if len(token) < _SHORTEST:
        told = f"{VARIABLE} holds {len(token)} characters, and a token has at least {_SHORTEST}"
        raise UsageError("token_short", told, f"make it longer, or unset {VARIABLE}: Proctor then makes one")
    if not token.isascii() or not token.isprintable() or " " in token:
        told = f"{VARIABLE} holds what a header cannot carry"
        raise UsageError("token_unfit", told, "use letters, digits and punctuation of ASCII")
    return token


def write_token_file(path: Path, token: str) -> None:
    """Write a token for its owner's eyes: mode 0600, whole or not at all. Raises UsageError where that fails."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(file, token.encode() + b"\n")
        finally:
            os.close(file)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        told = f"cannot write the token to {path}: {error.strerror}"
        raise UsageError("token_file_unwritable", told, "--token-file takes a path in a folder that is there") from None
