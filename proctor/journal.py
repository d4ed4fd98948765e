"""The journal of a recording: one JSON line an exchange, written before the end of its answer reaches the client.

It is the only file that holds clear credentials: mode 0600, below the git-ignored `.proctor/`, deleted at sealing.
After a kill it is all that is left, and all that is needed.

Lines, told apart by `line`: `session` (the first: what is being recorded), `interaction` (with the real thing, kept or
only traced; or taken over from a tape), `row` (the trace row of any other exchange), `bound` (a secret that stands for
a placeholder of that tape), `judge_salt` (what a judge's prompts are made with, for the tape's seal), and `fault`
(something that forbids sealing).
"""

from __future__ import annotations

import fcntl
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from proctor.errors import JournalError
from proctor.interaction import Headers, Interaction, Request, Response
from proctor.pieces import Pieces

_LINES: dict[str, set[str]] = {
    "session": {"session"},
    "interaction": {"index", "kept", "client_gone"},
    "row": {"row"},
    "bound": {"secret", "placeholder"},
    "judge_salt": {"salt"},
    "fault": {"code", "message"},
}
"""Each kind of line, with fields it cannot be without."""


@dataclass(frozen=True)
class JournalContent:
    """What a journal holds. `torn` says that its last line was cut off in the middle, as a kill leaves it."""

    head: dict[str, Any]
    interactions: tuple[Interaction, ...]
    """The exchanges that become the tape."""
    live: tuple[Interaction, ...] = ()
    """Exchanges with the real thing that are traced, not kept."""
    rows: tuple[dict[str, Any], ...] = ()
    faults: tuple[dict[str, Any], ...] = ()
    torn: bool = False
    clients_gone: frozenset[int] = frozenset()
    """Indexes of the exchanges whose client hung up before the end."""
    taken: frozenset[int] = frozenset()
    """Indexes of the exchanges that a tape answered and that are taken over from it; their rows are in `rows`."""
    bound: Mapping[str, str] = field(default_factory=dict)
    """Secrets that the agent sent, with the placeholders of that tape for which they stood."""
    judge_salt: str = ""
    """What the prompts of a judge in this session were made with, in hexadecimal; empty where none asked for it."""
    rewrites: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """By index: the addresses that were rewritten on their way to the service or to the agent (`TraceRow.rewrites`)."""
    late: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    """By index: the fields of a row that tell of a planned fault which let the real service answer late."""


class JournalWriter:
    """Appends lines, each by one write. `failed` keeps the first refusal of the disk; nothing is sealed after one."""

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        """Create the file, which must not exist. Raises JournalError where the disk refuses."""
        self.path = path
        self.failed: JournalError | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # see `is_being_written`
        except FileExistsError:
            raise JournalError(
                "journal_left",
                f"the journal {path} is there already: a session of that id was never closed",
                f"proctor cassette recover {path.name}, or choose another id",
            ) from None
        except OSError as error:
            raise JournalError(
                "journal_unwritable", f"cannot create the journal {path}: {error.strerror}", "free the disk or the name"
            ) from None
        self._write({"line": "session", **head})
        if self.failed is not None:
            raise self.failed

    def interaction(
        self,
        interaction: Interaction,
        *,
        kept: bool = True,
        client_gone: bool = False,
        rewrites: Sequence[str] = (),
        fault: Mapping[str, Any] | None = None,
    ) -> None:
        """Append a finished exchange with the real thing; `kept` says that it belongs on the tape.

        `fault` has the fields of its trace row that tell of a planned one.
        """
        line = {"line": "interaction", "kept": kept, "client_gone": client_gone, **_packed(interaction)}
        more = {"rewrites": rewrites, "fault": fault}
        self._write({**line, **{key: value for key, value in more.items() if value}})

    def taken(self, interaction: Interaction) -> None:
        """Append an exchange that a tape answered, as it is to stand on the new tape."""
        self._write({"line": "interaction", "kept": True, "client_gone": False, "taken": True, **_packed(interaction)})

    def bound(self, secret: str, placeholder: str) -> None:
        """Append for which placeholder of that tape a secret stands."""
        self._write({"line": "bound", "secret": secret, "placeholder": placeholder})

    def judge_salt(self, salt: str) -> None:
        """Append what a judge's prompts are made with from now on."""
        self._write({"line": "judge_salt", "salt": salt})

    def row(self, row: dict[str, Any]) -> None:
        """Append the trace row of an exchange that the real thing had no part in."""
        self._write({"line": "row", "row": row})

    def row_line(self, line: bytes) -> None:
        """Append a trace row that is JSON already."""
        self._append(b'{"line":"row","row":' + line.rstrip(b"\n") + b"}\n")

    def fault(self, code: str, message: str) -> None:
        """Append a reason not to seal."""
        self._write({"line": "fault", "code": code, "message": message})

    def close(self) -> None:
        """Close the file; it stays."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, line: dict[str, Any]) -> None:
        self._append(_line(line))

    def _append(self, data: bytes) -> None:
        """One line by one write. A refusal is kept, not raised: the client still gets its answer."""
        if self.failed is not None:
            return
        try:
            written = os.write(self._file, data)
        except OSError as error:
            written, reason = 0, error.strerror or str(error)
        else:
            reason = "the disk took only part of a line"
        if written != len(data):
            self.failed = JournalError(
                "journal_failed", f"the journal {self.path} could not be written: {reason}", "nothing is sealed"
            )


def read_journal(path: Path) -> JournalContent:
    """Read a journal whole. A torn last line is left out and said so; any other damage is a JournalError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise JournalError("journal_unreadable", f"cannot read the journal {path}: {error.strerror}") from None
    lines = data.split(b"\n")
    torn = lines.pop() != b""
    parsed = list(_parsed(path, lines))
    if not parsed or parsed[0]["line"] != "session":
        raise JournalError("journal_headless", f"{path} does not begin as a journal does", "nothing can be recovered")
    try:
        found = sorted((line for line in parsed if line["line"] == "interaction"), key=lambda line: line["index"])
        kept = tuple(_unpacked(line) for line in found if line["kept"])
        live = tuple(_unpacked(line) for line in found if not line["kept"])
    except (KeyError, TypeError, ValueError) as error:
        raise JournalError("journal_damaged", f"{path}: an interaction is damaged: {error}") from None
    return JournalContent(
        head={key: value for key, value in parsed[0].items() if key != "line"},
        interactions=kept,
        live=live,
        rows=tuple(line["row"] for line in parsed if line["line"] == "row"),
        faults=tuple(line for line in parsed if line["line"] == "fault"),
        torn=torn,
        clients_gone=frozenset(line["index"] for line in found if line["client_gone"]),
        taken=frozenset(line["index"] for line in found if line.get("taken")),
        bound={line["secret"]: line["placeholder"] for line in parsed if line["line"] == "bound"},
        judge_salt=next((line["salt"] for line in parsed if line["line"] == "judge_salt"), ""),
        rewrites={line["index"]: tuple(line["rewrites"]) for line in found if "rewrites" in line},
        late={line["index"]: line["fault"] for line in found if "fault" in line},
    )


def is_being_written(path: Path) -> bool:
    """Whether the recorder of this journal is still alive."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _line(line: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # an integer past 64 bits, or bytes that are no UTF-8
        return json.dumps(line).encode("ascii") + b"\n"


def _parsed(path: Path, lines: list[bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        try:
            parsed = json.loads(line)  # not orjson, which rounds integers past 64 bits
            if parsed["line"] not in _LINES or not _LINES[parsed["line"]] <= parsed.keys():
                raise ValueError("it lacks a field")
        except (ValueError, TypeError, KeyError) as error:
            code = "journal_damaged" if number > 1 else "journal_headless"
            raise JournalError(code, f"{path}: line {number} is damaged: {error}") from None
        yield parsed


def _packed(interaction: Interaction) -> dict[str, Any]:
    request, response = interaction.request, interaction.response
    return {
        "index": interaction.index,
        "service": request.service,
        "method": request.method,
        "target": request.target,
        "url": interaction.url,
        "tool": interaction.tool,
        "effect": interaction.effect,
        "why": interaction.effect_why,
        "request_headers": _packed_headers(request.headers),
        "request_body": _packed_body(request.body),
        "status": response.status,
        "reason": response.reason,
        "response_headers": _packed_headers(response.headers),
        "response_body": _packed_body(response.body),
        "complete": response.complete,
        **_packed_pieces(response.pieces),
        **({"trailers": response.trailers} if response.trailers else {}),
        "started": interaction.started,
        "seconds": interaction.seconds,
        "stand_in": interaction.stand_in,
        **({"beside": interaction.beside} if interaction.beside else {}),
        **({"after": interaction.after} if interaction.after is not None else {}),
        **({"redacted": interaction.redacted} if interaction.redacted else {}),
    }


def _unpacked(line: dict[str, Any]) -> Interaction:
    return Interaction(
        index=line["index"],
        request=Request(
            service=line["service"],
            method=line["method"],
            target=line["target"],
            headers=_unpacked_headers(line["request_headers"]),
            body=_unpacked_body(line["request_body"]),
        ),
        response=Response(
            status=line["status"],
            reason=line["reason"],
            headers=_unpacked_headers(line["response_headers"]),
            body=_unpacked_body(line["response_body"]),
            complete=line["complete"],
            pieces=_unpacked_pieces(line.get("pieces")),
            trailers=line.get("trailers", ""),
        ),
        url=line["url"],
        effect=line["effect"],
        effect_why=line["why"],
        tool=line["tool"],
        started=line["started"],
        seconds=line["seconds"],
        stand_in=line["stand_in"],
        beside=tuple(line.get("beside", ())),
        after=tuple(line["after"]) if "after" in line else None,
        redacted=tuple(line.get("redacted", ())),
    )


def _packed_pieces(pieces: Pieces | None) -> dict[str, Any]:
    if pieces is None:
        return {}
    return {"pieces": {"lengths": pieces.lengths, "at": pieces.at, **({"anew": True} if pieces.anew else {})}}


def _unpacked_pieces(packed: dict[str, Any] | None) -> Pieces | None:
    if packed is None:
        return None
    return Pieces(tuple(packed["lengths"]), tuple(packed["at"]), packed.get("anew", False))


def _packed_headers(headers: Headers) -> list[tuple[str, str]]:
    """As Latin-1, where every byte is a character: headers may hold bytes that are no UTF-8."""
    return [
        (name, value if value.isascii() else value.encode("utf-8", "surrogateescape").decode("latin-1"))
        for name, value in headers
    ]


def _unpacked_headers(packed: list[list[str]]) -> Headers:
    return tuple(
        (name, value if value.isascii() else value.encode("latin-1").decode("utf-8", "surrogateescape"))
        for name, value in packed
    )


def _packed_body(body: bytes) -> str | list[str]:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return [b64encode(body).decode("ascii")]


def _unpacked_body(packed: str | list[str]) -> bytes:
    return packed.encode("utf-8") if isinstance(packed, str) else b64decode(packed[0])
