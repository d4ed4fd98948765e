"""Records in the database: from each a verdict can be made again without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from proctor.errors import PlatformError, UsageError, nearest
from proctor.judge.case_record import CaseRecord
from proctor.judge.record import Record
from proctor.judge.service.queue import now

if TYPE_CHECKING:
    from proctor.store import Database

AnyRecord = Record | CaseRecord
_RECORDS: TypeAdapter[AnyRecord] = TypeAdapter(AnyRecord)
LAST = "last"
_SHORTEST = 4
"""Digits of an id that can stand for the whole."""


def keep_record(database: Database, record: AnyRecord) -> None:
    """Keep a record, in place of an older one of the same question."""
    (sequence,) = database.execute("SELECT COALESCE(MAX(seq), 0) + 1 FROM records").fetchone()
    database.table("records").upsert(
        {
            "id": record.verdict.id,
            "subject": record.verdict.trajectory,
            "at": now(),
            "seq": sequence,
            "record": record.model_dump_json(),
        },
        pk="id",
    )


def record_by_id(database: Database, identity: str) -> AnyRecord | None:
    """The record of that verdict. Raises PlatformError where it cannot be read."""
    row = database.execute("SELECT record FROM records WHERE id = ?", (identity,)).fetchone()
    return None if row is None else _read(identity, row[0])


def find_record(database: Database, which: str) -> AnyRecord:
    """By id or its first digits, by a trajectory's id (the latest verdict on it), or `last`. Raises UsageError."""
    newest = "SELECT id, record FROM records ORDER BY seq DESC LIMIT 1"
    if which == LAST and (row := database.execute(newest).fetchone()):
        return _read(*row)
    if len(which) >= _SHORTEST:
        begins = database.execute(
            "SELECT id, record FROM records WHERE substr(id, 1, ?) = ? LIMIT 2", (len(which), which)
        ).fetchall()
        if len(begins) > 1:
            raise UsageError("ambiguous_verdict", f'several verdicts begin with "{which}"', "type more of the id")
        if begins:
            return _read(*begins[0])
    of = "SELECT id, record FROM records WHERE subject = ? ORDER BY seq DESC LIMIT 1"
    if row := database.execute(of, (which,)).fetchone():
        return _read(*row)
    known = [each for (each,) in database.execute("SELECT DISTINCT subject FROM records LIMIT 1000").fetchall()]
    fix = nearest(which, known) or "make one with: proctor judge run"
    raise UsageError("no_verdict", f'no verdict "{which}" here', fix)


def read_record(content: bytes) -> AnyRecord:
    """A record as it is sent. Raises PlatformError where it cannot be read."""
    return _read("sent", content)


def _read(identity: str, record: str | bytes) -> AnyRecord:
    try:
        return _RECORDS.validate_json(record)
    except ValidationError as error:
        reason = str(error).splitlines()[0]
        told = f"the record of verdict {identity} cannot be read: {reason}"
        raise PlatformError("verdict_damaged", told, "judge the run again") from None
