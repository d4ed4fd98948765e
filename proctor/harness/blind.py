"""Blind cases: apart from the others, and each use of them is written down, since they wear out by being looked at."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from proctor.cases.case import Case
from proctor.cases.files import Placed, SuiteRead
from proctor.errors import SuiteError

_SUFFIX = ".blind.jsonl"
_SHORT = 12


class BlindUse(BaseModel):
    """One use of a suite's blind cases."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: AwareDatetime
    """In UTC."""
    run: str = ""
    """The run's id; empty where they were only looked at."""
    suite: str
    reason: str = Field(min_length=1)
    cases: int = Field(ge=1)
    ids: str
    """A digest of the cases' ids: equal for the same cases."""


def select(read: SuiteRead, blind: bool) -> tuple[Placed, ...]:
    """Only the blind cases of a suite, or only the others. Raises SuiteError where there are none such."""
    found = tuple(placed for placed in read.cases if (placed.case.set == "blind") == blind)
    if not found:
        told, fix = ("no blind case", "without --blind") if blind else ("none but blind cases", "with --blind")
        raise SuiteError("suite_empty", f"{read.path} has {told}", f"take its cases {fix}")
    return found


def log_of(suite: Path) -> Path:
    """The log of uses beside a suite's file: in version control, for people."""
    return suite.with_name(suite.stem + _SUFFIX)


def note_use(read: SuiteRead, cases: Sequence[Case], at: datetime, reason: str, run: str = "") -> BlindUse:
    """Write down that these blind cases are used; to be called before they are.

    Processes that write at once do not disturb one another. Raises SuiteError where nothing can be written.
    """
    ids = "\n".join(sorted(case.id for case in cases))
    digest = hashlib.sha256(ids.encode()).hexdigest()[:_SHORT]
    now = at.astimezone(UTC).replace(microsecond=0)
    use = BlindUse(at=now, run=run, suite=read.suite.name, reason=reason, cases=len(cases), ids=digest)
    path = log_of(read.path)
    try:
        _append(path, use.model_dump_json().encode() + b"\n")
    except OSError as error:
        told = f"{path} cannot be written: {error.strerror}; no use of blind cases goes unwritten"
        raise SuiteError("blind_log", told, "make it writable") from None
    return use


def blind_uses(suite: Path) -> tuple[BlindUse, ...]:
    """Every use of a suite's blind cases, the oldest first. Raises SuiteError for a line that is none."""
    path = log_of(suite)
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise SuiteError("blind_log", f"{path} cannot be read: {error.strerror}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            found.append(BlindUse.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            told = f"{path}:{number}: {'.'.join(map(str, first['loc'])) or 'the line'}: {first['msg']}"
            raise SuiteError("blind_log", told, "restore the line from version control") from None
    return tuple(found)


def _append(path: Path, line: bytes) -> None:
    """In one write; a last line that some editor left without its end is ended first."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        size = os.fstat(file).st_size
        torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
        data = b"\n" * torn + line
        if os.write(file, data) < len(data):
            raise OSError(0, "the disk is full")
    finally:
        os.close(file)
