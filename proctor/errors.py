"""Every error Proctor raises on purpose.

    ProctorError                 code, message, fix; `exit_code` says how a command ends
    ├── UsageError        (2)    the command, the configuration or a name in it is wrong
    │   ├── ConfigError          proctor.toml: missing, unreadable, unknown key, bad value
    │   │   └── WorldError       the class that a service names is no world, or its tools or start are not right
    │   ├── HookError            a command of [record] in proctor.toml failed
    │   └── SessionError         somebody asked for a session, or what one should have, that is not there
    ├── CassetteError     (2)    a tape cannot be believed
    │   ├── CassetteMissing      no file of that name
    │   ├── CassetteUndecodable  not UTF-8, or not YAML
    │   ├── CassetteTorn         other interactions than were sealed, or put aside by sealing
    │   ├── CassetteBusy         another recording is writing it
    │   ├── CassetteUnwritable (4)  the disk or its folder refuses it
    │   └── CassetteVersion      written by a newer Proctor, or not a version-1 cassette
    ├── TrajectoryError   (2)    what a trajectory is to be built from holds none
    ├── RubricError       (2)    a rubric is not there, cannot be read, or is not fit to judge by
    ├── BudgetSpent       (2)    the next call to a model might pass a limit that somebody set; it was not made
    ├── JournalError      (4)    a recording's journal cannot be read or written
    ├── ServiceBusy       (1)    the judge's service takes nothing more at present
    ├── StoreError        (4)    a SQLite file cannot be read or written, or is a newer Proctor's
    ├── PortInUse         (2)    the address asked for belongs to another program
    ├── UpstreamError     (1)    the real service did not give a whole answer
    └── PlatformError     (4)    Proctor itself failed
        └── WorldFailed          a tool of a world threw, or did not keep to what it declares

A miss is no exception: it is an answer (see `proctor.proxy.miss`) that fails the session.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

EXIT_FINE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_MISSES = 3
EXIT_PLATFORM = 4


class ProctorError(Exception):
    """What happened and where (`message`), under a stable `code`, and what to do about it (`fix`)."""

    exit_code = EXIT_PLATFORM

    def __init__(self, code: str, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message}\n  {self.fix}" if self.fix else self.message

    def as_dict(self) -> dict[str, str]:
        """The form in which control answers, `--json` output and trace rows carry an error."""
        return {"code": self.code, "message": self.message, "fix": self.fix}


class UsageError(ProctorError):
    """The command line, or a name given on it, is wrong."""

    exit_code = EXIT_USAGE


class ConfigError(UsageError):
    """`proctor.toml` is missing, unreadable or says something that cannot be."""


class WorldError(ConfigError):
    """The class that a service names is no world, or its tools, state or start are not what they should be."""


class SuiteError(UsageError):
    """A suite's file is missing, cannot be read, or says something that cannot be."""


class HookError(UsageError):
    """A command that `[record]` names, run before or after a recording, did not end with status 0."""


class SessionError(UsageError):
    """The control API, or a request, asked for a session, or a state or credential of one, that does not exist."""


class CassetteError(ProctorError):
    """A tape cannot be believed, so nothing of it is served."""

    exit_code = EXIT_USAGE


class CassetteMissing(CassetteError):
    """There is no tape of that name."""


class CassetteUndecodable(CassetteError):
    """The file is not UTF-8 or not YAML; the message names the line."""


class CassetteTorn(CassetteError):
    """The file holds other interactions than the ones that were sealed, or a recording that sealing put aside."""


class CassetteVersion(CassetteError):
    """The file's version is one that this Proctor does not know."""


class CassetteBusy(CassetteError):
    """Somebody else is writing this tape."""


class CassetteUnwritable(CassetteError):
    """The tape cannot be written where it should be; the old one is as it was."""

    exit_code = EXIT_PLATFORM


class TrajectoryError(ProctorError):
    """The source that a trajectory is to be built from tells of no run."""

    exit_code = EXIT_USAGE


class RubricError(ProctorError):
    """A rubric is not there, cannot be read, or asks what nobody could judge; nothing was spent on it."""

    exit_code = EXIT_USAGE


class BudgetSpent(ProctorError):
    """A call to a model was not made, since it might pass a budget: `budget_batch`, `budget_day`, `price_unknown`.

    No ModelFailure: nothing can be said of the run that was being judged, so it has no verdict, not even a bad one.
    Nothing under test failed, so a command does not end with 1; a limit that somebody set stands in the way, so with 2.
    """

    exit_code = EXIT_USAGE

    def __init__(self, code: str, message: str, fix: str = "", *, passing: bool = False) -> None:
        super().__init__(code, message, fix)
        self.passing = passing
        """Only what is set aside for calls under way is in the way: once they have ended, there may be room."""


class JournalError(ProctorError):
    """The journal of a recording cannot be written or read; the recording is not sealed."""


class ServiceBusy(ProctorError):
    """The judge's service is full, asked too often, or being stopped; nothing of the request was taken."""

    exit_code = EXIT_FAILED


class StoreError(ProctorError):
    """A SQLite file cannot be opened, read or written; nothing of that work is kept."""


class PortInUse(UsageError):
    """The port asked for is taken."""


class UpstreamError(ProctorError):
    """The real service did not answer, or not to the end."""

    exit_code = EXIT_FAILED


class PlatformError(ProctorError):
    """Proctor itself failed; nothing can be said about the thing under test."""


class WorldFailed(PlatformError):
    """A tool threw, or did not keep to what it declares; its call is undone. `trace` is the traceback, if it threw."""

    def __init__(self, code: str, message: str, fix: str = "", trace: str = "") -> None:
        super().__init__(code, message, fix)
        self.trace = trace

    def as_dict(self) -> dict[str, str]:
        """With the traceback, which only the trace is to hold."""
        return {**super().as_dict(), **({"traceback": self.trace} if self.trace else {})}


_LONGEST_NAME = 200
"""Characters of a wrong name that are compared: that takes a time which grows with its length."""


def nearest(wrong: str, right: Iterable[str]) -> str:
    """`did you mean "x"?` for the closest of `right`, else the whole list, else an empty string."""
    known = sorted(right)
    close = difflib.get_close_matches(wrong[:_LONGEST_NAME], known, n=1)
    if close:
        return f'did you mean "{close[0]}"?'
    return f"known: {', '.join(known)}" if known else ""


def recording_command(name: str, command: str = "COMMAND") -> str:
    """What a person types to record a tape."""
    return f"proctor record --cassette {name} -- {command}"


def not_writable(path: Path, error: Exception) -> StoreError:
    """The error for what should be kept at a path that the disk refuses."""
    said = getattr(error, "strerror", None) or error
    return StoreError("not_writable", f"{path} cannot be written: {said}", "see to its disk, folder and rights")


def cassette_missing(name: str, path: Path, known: Iterable[str]) -> CassetteMissing:
    """The error for a tape that is not there: names the file looked for, the nearest tape and the command."""
    return CassetteMissing(
        "cassette_missing",
        f'no cassette "{name}": {path} does not exist. {nearest(name, known)}'.rstrip(),
        f"record it: {recording_command(name)}",
    )
