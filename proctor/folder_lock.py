"""One process works on a folder at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

from proctor.errors import UsageError, not_writable


class FolderLock:
    """Held until it is let go, or the process ends in whatever way."""

    def __init__(self, folder: Path, name: str, busy: Callable[[str], UsageError]) -> None:
        """Take it, by a file of that name. Raises what `busy` makes of who holds it, in words or empty; StoreError."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise not_writable(folder, error) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._file, 500).decode(errors="replace").strip()
            os.close(self._file)
            raise busy(holder) from None
        self.say(f"process {os.getpid()}")

    def say(self, holder: str) -> None:
        """Tell others who holds it."""
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, holder.encode(), 0)

    def let_go(self) -> None:
        """Let others in."""
        os.ftruncate(self._file, 0)
        os.close(self._file)
