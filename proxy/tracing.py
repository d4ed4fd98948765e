"""Writing a session's trace while it runs, in batches, off the path of an answer."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from proctor.errors import PlatformError

_BATCH = 256
_SECONDS = 0.2


class TraceWriter:
    """Appends lines to `trace.jsonl`. `failed` keeps the first refusal of the disk."""

    def __init__(self, path: Path) -> None:
        """Create the file and its folder; raises PlatformError where the disk refuses."""
        self.path = path
        self.failed: PlatformError | None = None
        self._lines: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        except OSError as error:
            raise PlatformError("trace_unwritable", f"cannot create {path}: {error.strerror}") from None

    def write(self, line: bytes) -> None:
        """Take one line (with its line end); it is on disk within a fifth of a second."""
        self._lines.append(line)
        if len(self._lines) >= _BATCH:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_SECONDS, self.flush)

    def flush(self) -> None:
        """Write what is waiting, by one write."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        data, self._lines = b"".join(self._lines), []
        if not data or self.failed is not None:
            return
        try:
            written = os.write(self._file, data)
        except OSError as error:
            self.failed = PlatformError(
                "platform_error", f"the trace {self.path} could not be written: {error.strerror}"
            )
        else:
            if written != len(data):
                self.failed = PlatformError("platform_error", f"the disk took only part of the trace {self.path}")

    def close(self) -> None:
        """Flush and close, once."""
        self.flush()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
