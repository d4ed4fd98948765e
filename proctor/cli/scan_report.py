"""What a scan found, for people and for scripts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from proctor.cli.one_line import one_line
from proctor.cli.project import shown_path
from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_USAGE, ProctorError
from proctor.scanning.allow import ALLOW_NAME, Judged
from proctor.scanning.files import Skipped
from proctor.scanning.finds import Find, NotLooked, State, TapeScan
from proctor.scanning.tape import place_told

_TOLD = {"found": "SECRET", "allowed": "allowed", "kept": "kept", "already": "placeholder"}
_SHOWN = 3
"""Of the files of a folder that were passed over for one reason."""


@dataclass(frozen=True)
class ScanReport:
    """All that is told of a scan; paths are as people type them from the project's folder."""

    judged: Judged
    skipped: tuple[Skipped, ...]
    errors: tuple[tuple[str, ProctorError], ...]
    own_rules: Sequence[str]
    root: Path
    has_config: bool

    @property
    def scans(self) -> tuple[TapeScan, ...]:
        """The tapes that were looked at."""
        return self.judged.scans

    @property
    def not_looked(self) -> list[NotLooked]:
        """Bodies that nobody looked into and nobody allowed."""
        return [one for scan in self.scans for one in scan.not_looked if not one.reason]

    @property
    def status(self) -> int:
        """2 where something could not be looked at, else 1 where something was found."""
        if self.errors or self.not_looked:
            return EXIT_USAGE
        return EXIT_FAILED if self.finds("found") else EXIT_FINE

    def finds(self, state: State) -> list[Find]:
        """What is so, on all tapes."""
        return [find for scan in self.scans for find in scan.finds if find.state == state]

    @property
    def unused(self) -> list[str]:
        """Rules of the project's own that touch nothing on these tapes."""
        used = {find.rule for scan in self.scans for find in scan.finds}
        return [rule for rule in self.own_rules if rule not in used]


def report_lines(report: ScanReport, *, explain: bool) -> Iterator[str]:
    """For people."""
    for scan in report.scans:
        yield from _tape_lines(scan, explain=explain)
    if explain and report.scans:
        yield from (f"touches nothing here: {rule}" for rule in report.unused)
    yield from _skipped_lines(report)
    for _, error in report.errors:
        yield f"could not look: {error.code}: {error}"
    for entry in report.judged.stale:
        where = f" in {entry.tape}" if entry.tape else ""
        yield f"warning: {ALLOW_NAME} allows {entry.fingerprint}{where}, which is found no more: delete the entry"
    yield _total(report)
    yield from _to_do(report)


def report_json(report: ScanReport, *, explain: bool) -> dict[str, Any]:
    """For scripts; with `explain` also what is no find."""
    told: dict[str, Any] = {
        "status": report.status,
        "tapes": [
            {"tape": scan.tape, "by": scan.by, "interactions": scan.interactions, "notes": scan.notes}
            for scan in report.scans
        ],
        "finds": [{**asdict(find), "fix": _fix(find)} for find in report.finds("found")],
        "allowed": [asdict(find) for find in report.finds("allowed")],
        "not_looked_into": [asdict(one) for scan in report.scans for one in scan.not_looked],
        "skipped": [{"path": shown_path(one.path, report.root), "why": one.why} for one in report.skipped],
        "errors": [{"path": path, **error.as_dict()} for path, error in report.errors],
        "stale": [entry.model_dump() for entry in report.judged.stale],
        "config": report.has_config,
    }
    if explain:
        told["kept"] = [asdict(find) for find in report.finds("kept")]
        told["placeholders"] = [asdict(find) for find in report.finds("already")]
        told["unused_rules"] = report.unused
    return told


def _tape_lines(scan: TapeScan, *, explain: bool) -> Iterator[str]:
    shown = [find for find in scan.finds if explain or find.state == "found"]
    if not shown and not scan.not_looked and not scan.notes:
        return
    yield f"{scan.tape} (by {scan.by}, {_count(scan.interactions, 'interaction')})"
    rows = [_row(find, explain=explain) for find in shown]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for one in scan.not_looked:
        allowed = f"; allowed: {one.reason}" if one.reason else ""
        told = f"{place_told(one.interaction, one.place)}: {one.why} ({one.fingerprint}{allowed})"
        yield f"  not looked into: {one_line(told)}"
    yield from (f"  note: {note}" for note in scan.notes)


def _row(find: Find, *, explain: bool) -> tuple[str, ...]:
    place, rule = one_line(place_told(find.interaction, find.place)), one_line(find.rule)
    if not explain:
        return find.fingerprint, place, rule if rule.startswith("same value") else one_line(find.kind)
    return _TOLD[find.state], find.fingerprint, place, f"{rule} ({one_line(find.reason)})" if find.reason else rule


def _skipped_lines(report: ScanReport) -> Iterator[str]:
    for one in report.skipped:
        if one.named:
            yield f"skipped {shown_path(one.path, report.root)}: {one.why}"
    by_reason: dict[str, list[str]] = defaultdict(list)
    for one in report.skipped:
        if not one.named:
            by_reason[one.why].append(shown_path(one.path, report.root))
    for why, paths in by_reason.items():
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        yield f"skipped {', '.join(paths[:_SHOWN])}{more}: {why}"


def _total(report: ScanReport) -> str:
    if not report.scans:
        return "looked at no tape: there is none among these paths that could be read"
    found = report.finds("found")
    interactions = sum(scan.interactions for scan in report.scans)
    looked = f"looked at {_count(len(report.scans), 'tape')} with {_count(interactions, 'interaction')}"
    places = f"{_count(len({find.fingerprint for find in found}), 'secret')} in {_count(len(found), 'place')}"
    told = [places if found else "no secret found"]
    allowed = report.finds("allowed")
    told += [f"{_count(len(allowed), 'place')} allowed"] if allowed else []
    told += [f"{_count(len(report.not_looked), 'body', 'bodies')} not looked into"] if report.not_looked else []
    told += [f"{_count(len(report.errors), 'path')} could not be looked at"] if report.errors else []
    without = "" if report.has_config else " (no proctor.toml here: the built-in rules only)"
    return f"{looked}: {', '.join(told)}{without}"


def _to_do(report: ScanReport) -> Iterable[str]:
    found = report.finds("found")
    if found or report.not_looked:
        yield "what to do:"
    if found:
        yield "  a real secret: revoke it, then record the tape again; recording replaces what is found here"
        yield '  no secret, and its name misleads: keep = ["NAME"] under [redact] in proctor.toml'
    if found or report.not_looked:
        mark = (found or report.not_looked)[0].fingerprint
        yield f"  it may stay, for a reason: {ALLOW_NAME} beside proctor.toml takes"
        yield f'    [[allow]]\n    fingerprint = "{mark}"\n    reason = "why it may stand there"'


def _fix(find: Find) -> str:
    again = f"if it is a real secret, revoke it and record {find.tape} again"
    return f"{again}; else keep its name under [redact], or allow {find.fingerprint} in {ALLOW_NAME} with a reason"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
