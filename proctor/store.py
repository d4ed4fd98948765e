"""SQLite files, through sqlite-utils: one writer thread, which commits together whatever waits for it.

The one module that imports sqlite-utils. Any SQLite tool can read a store while it is open (WAL); one process writes.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Self, TypeVar

from proctor.errors import StoreError, not_writable

if TYPE_CHECKING:
    from sqlite_utils import Database as Database

T = TypeVar("T")
Step = Callable[["Database"], None]
"""One step of a schema: applied once to each file, in order, and never changed once it was released."""

_MOST_TOGETHER = 200
"""Works in one transaction."""
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "foreign_keys=ON", "cache_size=-4000")
"""FULL: what was told to be kept is kept when the power fails. The cache is 4 MB."""


@dataclass
class _Job:
    """Some work, and who waits for it."""

    work: Callable[[Database], Any]
    done: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None

    def settle(self) -> None:
        """Tell whoever waits, if he still does. Runs on his loop."""
        if self.done.done():
            return
        if self.error is None:
            self.done.set_result(self.result)
        else:
            self.done.set_exception(self.error)


class Store:
    """A SQLite file that is open for writing. Work is a function of the `sqlite_utils.Database`, run in one thread."""

    def __init__(self, path: Path, database: Database) -> None:
        """See `open`."""
        self.path = path
        self._database = database
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=f"store {path.name}", daemon=True)
        self._thread.start()

    @classmethod
    async def open(cls, path: Path, steps: Sequence[Step]) -> Self:
        """Open or make the file, and bring it up to these steps. Raises StoreError.

        Codes: store_newer (more steps than we know), store_damaged (no SQLite file), not_writable.
        """
        return cls(path, await asyncio.to_thread(_opened, path, steps))

    async def run(self, work: Callable[[Database], T]) -> T:
        """Do some work: what it writes is on disk before this returns. What it raises undoes it, and it alone.

        Cancelling whoever waits does not stop work that is queued. Raises StoreError where the disk refuses it.
        """
        if self._closed:
            raise StoreError("store_closed", f"{self.path} is closed")
        job = _Job(work, asyncio.get_running_loop().create_future())
        self._jobs.put(job)
        result: T = await job.done
        return result

    async def close(self) -> None:
        """Finish what was asked for, then close the file."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while (first := self._jobs.get()) is not None:
            jobs, last = [first], False
            while len(jobs) < _MOST_TOGETHER and not last:
                try:
                    following = self._jobs.get_nowait()
                except Empty:
                    break
                if following is None:
                    last = True
                else:
                    jobs.append(following)
            self._together(jobs)
            if last:
                break
        self._database.close()

    def _together(self, jobs: list[_Job]) -> None:
        try:
            self._database.execute("BEGIN IMMEDIATE")  # a reader that turns writer could not wait for another process
            for job in jobs:
                self._one(job)
                if job.error is not None and not self._database.conn.in_transaction:
                    raise job.error  # a full disk ends the whole transaction, with all that was done in it
            self._database.commit()
        except Exception as error:  # nothing of it is kept
            self._database.rollback()
            for job in jobs:
                job.error = _refused(self.path, error)
        by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
        for job in jobs:
            by_loop.setdefault(job.done.get_loop(), []).append(job)
        for loop, settled in by_loop.items():
            with suppress(RuntimeError):  # a loop that ended waits for nothing
                loop.call_soon_threadsafe(_settle, settled)

    def _one(self, job: _Job) -> None:
        try:
            with self._database.atomic():
                job.result = job.work(self._database)
        except Exception as error:
            job.error = _refused(self.path, error)


def _settle(jobs: list[_Job]) -> None:
    for job in jobs:
        job.settle()


def _opened(path: Path, steps: Sequence[Step]) -> Database:
    from sqlite_utils import Database

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=True)
        connection = sqlite3.connect(path, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise _refused(path, error) from None
    try:
        database = Database(connection)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        _migrate(database, path, steps)
    except sqlite3.Error as error:
        connection.close()
        raise _refused(path, error) from None
    except BaseException:
        connection.close()
        raise
    return database


def _migrate(database: Database, path: Path, steps: Sequence[Step]) -> None:
    """Apply the steps that a file has not seen, each whole or not at all; `user_version` counts them."""
    done = int(database.execute("PRAGMA user_version").fetchone()[0])
    if done > len(steps):
        told = f"{path} was written by a newer Proctor (step {done}; this one knows {len(steps)})"
        raise StoreError("store_newer", told, "install that one, or move the file away")
    for number, step in enumerate(steps[done:], done + 1):
        with database.atomic():
            step(database)
            database.execute(f"PRAGMA user_version = {number}")


_DAMAGED = frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT})
_WRONG_SQL = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_RANGE})


def _refused(path: Path, error: Exception) -> Exception:
    """The error for what SQLite or the disk says; any other is what it is."""
    if not isinstance(error, OSError | sqlite3.DatabaseError):
        return error
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR) & 0xFF
    if code in _WRONG_SQL:
        return error
    if code in _DAMAGED:
        fix = "move it away, and a new one is made"
        return StoreError("store_damaged", f"{path} cannot be read as a SQLite file: {error}", fix)
    return not_writable(path, error)
