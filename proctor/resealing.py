"""Sealing a tape again: after a deliberate edit, or when a recording that was put aside is accepted after all."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from proctor.cassette import (
    Cassette,
    parse_cassette,
    parse_edited,
    save_cassette,
    tape_path,
)
from proctor.errors import CassetteError, UsageError, nearest
from proctor.interaction import Headers, Interaction
from proctor.paths import Layout
from proctor.redaction.redactor import Redactor
from proctor.redaction.rules import Rules
from proctor.sealing import forget_aside, refuse_leaks
from proctor.tape_bodies import body_folder
from proctor.tape_lock import TapeLock
from proctor.tape_text import tape_diff

_GIT_SECONDS = 30
_BODILESS = frozenset({204, 304})


@dataclass(frozen=True)
class Resealed:
    """What sealing again did. `path` is None where the tape was as it had been sealed."""

    path: Path | None
    interactions: int
    changes: tuple[str, ...]
    """What differs from the former seal, an interaction a line."""
    diff: tuple[str, ...] = ()
    """Against what version control has, or against the old tape; empty where there is none."""
    compared: bool = False
    """Whether there was anything to compare with."""
    notes: tuple[str, ...] = ()


def seal_again(layout: Layout, name: str, body_files_over: int | None, rules: Rules | None = None) -> Resealed:
    """Seal a tape as it stands after an edit: secrets replaced, lengths made true.

    Raises CassetteError where it cannot be read, was recorded by vcrpy or put aside, or is being recorded.
    """
    with TapeLock(layout, name, "proctor cassette seal"):
        path = tape_path(layout, name)
        edited = parse_edited(name, path.read_bytes(), body_folder(path))
        if edited.as_sealed:
            return Resealed(None, len(edited.cassette.interactions), ())
        stamp = edited.cassette.stamp
        redactor = Redactor.over(edited.cassette.interactions, rules, stamp.get("placeholders", 0))
        clean = tuple(_mended(redactor.interaction(each), each) for each in edited.cassette.interactions)
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        refuse_leaks(redactor, clean)
        counted = {"placeholders": redactor.count} if redactor.count else {}
        tape = replace(edited.cassette, interactions=clean, stamp={**stamp, **counted, "edited_at": now})
        old = _committed(path, name)
        save_cassette(path, tape, body_files_over)
        found = len(redactor.known)
        notes = (f"{found} secret(s) were replaced by placeholders",) if found else ()
        diff = tuple(tape_diff(old, tape, ("committed", "sealed now"))) if old else ()
        return Resealed(path, len(clean), edited.changes, diff, old is not None, notes)


def accept_aside(layout: Layout, name: str, body_files_over: int | None) -> Resealed:
    """Make a recording that sealing put aside the tape; the reasons stay on it, as `accepted`.

    Raises UsageError where none is aside, CassetteError where it cannot be read or the tape is being recorded.
    """
    aside = layout.aside / f"{name}.yaml"
    known = sorted(path.relative_to(layout.aside).with_suffix("").as_posix() for path in layout.aside.rglob("*.yaml"))
    if name not in known:
        raise UsageError("nothing_aside", f'no recording of "{name}" was put aside', nearest(name, known))
    with TapeLock(layout, name, "proctor cassette accept"):
        try:
            kept = parse_cassette(name, aside.read_bytes(), body_folder(aside))
        except CassetteError as error:
            error.message = f"{aside}: {error.message}"
            raise
        stamp = {key: value for key, value in kept.stamp.items() if key != "aside"}
        reasons = tuple(map(str, kept.stamp.get("aside", ())))
        tape = replace(kept, stamp={**stamp, "accepted": list(reasons)})
        path = layout.confined_cassette(name)
        old = _present(path, name)
        save_cassette(path, tape, body_files_over)
        forget_aside(layout, name)
        diff = tuple(tape_diff(old, tape, ("the old tape", "accepted"))) if old else ()
        return Resealed(path, len(tape.interactions), reasons, diff, old is not None)


def _mended(clean: Interaction, edited: Interaction) -> Interaction:
    """An interaction whose lengths are those of its bodies, and which remembers what had been redacted before."""
    request, response = clean.request, clean.response
    measurable = response.complete and request.method != "HEAD" and response.status not in _BODILESS
    return replace(
        clean,
        request=replace(request, headers=_measured(request.headers, len(request.body))),
        response=replace(response, headers=_measured(response.headers, len(response.body))) if measurable else response,
        redacted=tuple(dict.fromkeys((*edited.redacted, *clean.redacted))),
    )


def _measured(headers: Headers, length: int) -> Headers:
    return tuple((name, str(length) if name.lower() == "content-length" else value) for name, value in headers)


def _committed(path: Path, name: str) -> Cassette | None:
    """The tape as version control has it, or None."""
    command = ("git", "show", f"HEAD:./{path.name}")
    try:
        shown = subprocess.run(command, cwd=path.parent, capture_output=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _readable(name, shown.stdout, path) if shown.returncode == 0 else None


def _present(path: Path, name: str) -> Cassette | None:
    try:
        return _readable(name, path.read_bytes(), path)
    except OSError:
        return None


def _readable(name: str, data: bytes, path: Path) -> Cassette | None:
    """For comparing only: bodies that are gone are shown as such, a broken seal does not matter."""
    try:
        return parse_edited(name, data, body_folder(path), lenient=True).cassette
    except CassetteError:
        return None
