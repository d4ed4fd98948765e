"""One writer a tape: a lock that the system releases when its holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from proctor.errors import CassetteBusy, CassetteUnwritable
from proctor.paths import Layout


class TapeLock:
    """Held from the begin of a recording to its sealing, and while a tape is accepted, recovered or sealed again."""

    def __init__(self, layout: Layout, name: str, holder: str) -> None:
        """Take the lock; `holder` is what a second writer is told. Raises CassetteBusy, CassetteUnwritable."""
        path = layout.lock(name)
        try:
            self._file = _opened(layout, path)
        except OSError as error:
            raise CassetteUnwritable(
                "cassette_unwritable", f"{path} cannot be written: {error.strerror}", "free the disk or the folder"
            ) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told = os.pread(self._file, 200, 0).decode("utf-8", "replace").strip() or "another program"
            self.release()
            raise CassetteBusy(
                "cassette_busy", f"tape {name} is being written by {told}", "let that end, or choose another --cassette"
            ) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{holder}, process {os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let the next writer in; the file stays, since deleting it would race with one that opens it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        """The lock is taken already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Release it."""
        self.release()


def _opened(layout: Layout, path: Path) -> int:
    layout.ensure_state()
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
