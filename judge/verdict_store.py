"""Verdicts on disk, each with the record from which it can be made again, and the salt of this installation."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from proctor.errors import PlatformError, UsageError, nearest
from proctor.judge.case_record import CaseRecord
from proctor.judge.record import Record
from proctor.judge.reply_cache import ReplyCache
from proctor.replacing import replace_file

AnyRecord = Record | CaseRecord
_RECORDS: TypeAdapter[AnyRecord] = TypeAdapter(AnyRecord)
LAST = "last"
_SHORTEST = 4
"""Digits of an id that can stand for the whole."""
_SALT_BYTES = 32


class VerdictStore:
    """The folder `.proctor/judge`."""

    def __init__(self, folder: Path, *, finds_replies: bool = True) -> None:
        """With `finds_replies` false no kept reply is used again."""
        self._folder = folder
        self.replies = ReplyCache(folder / "replies", reads=finds_replies)

    def salt(self) -> bytes:
        """This installation's, drawn once at random. Raises PlatformError where it cannot be kept or read."""
        path = self._folder / "salt"
        with suppress(FileNotFoundError):
            salt = path.read_bytes()
            if len(salt) == _SALT_BYTES:
                return salt
            raise PlatformError("salt_damaged", f"{path} is damaged", "delete it: prompts made with it are asked again")
        salt = secrets.token_bytes(_SALT_BYTES)
        try:
            replace_file(path, salt, mode=0o600)
        except OSError as error:
            raise PlatformError("not_writable", f"{path} cannot be written: {error.strerror}") from None
        return salt

    def keep(self, record: AnyRecord) -> Path:
        """Write a record, in place of an older one of the same question. Raises PlatformError."""
        path = self._path(record.verdict.id)
        try:
            replace_file(path, record.model_dump_json().encode(), mode=0o600)
        except OSError as error:
            raise PlatformError("not_writable", f"{path} cannot be written: {error.strerror}") from None
        return path

    def load(self, which: str) -> AnyRecord:
        """By id or its first digits, by a trajectory's id (the latest verdict on it), or `last`. Raises UsageError."""
        paths = self._newest_first()
        if which == LAST and paths:
            return self._read(paths[0])
        named = [path for path in paths if len(which) >= _SHORTEST and path.stem.startswith(which)]
        if len(named) > 1:
            raise UsageError("ambiguous_verdict", f'{len(named)} verdicts begin with "{which}"', "type more of the id")
        if named:
            return self._read(named[0])
        known: list[str] = []
        for path in paths:
            record = self._read(path)
            if record.verdict.trajectory == which:
                return record
            known.append(record.verdict.trajectory)
        raise UsageError(
            "no_verdict", f'no verdict "{which}" here', nearest(which, known) or "make one with: proctor judge run"
        )

    def _newest_first(self) -> list[Path]:
        return sorted(
            (self._folder / "verdicts").glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True
        )

    def _path(self, identity: str) -> Path:
        return self._folder / "verdicts" / f"{identity}.json"

    @staticmethod
    def _read(path: Path) -> AnyRecord:
        try:
            return _RECORDS.validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            reason = str(error).splitlines()[0]
            raise UsageError("verdict_damaged", f"{path} cannot be read: {reason}", "judge the run again") from None
