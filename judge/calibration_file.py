"""Calibration files: written once, and held against each verdict that wants to be believed by them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

from pydantic import ValidationError

from proctor.errors import UsageError
from proctor.judge.bound import bound_of, differences
from proctor.judge.calibration import Calibration
from proctor.verdict import Verdict

FRESH_DAYS = 90
"""Models behind a name change without notice, and so does what agents do: measure each quarter at least."""


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write it as JSON. Raises UsageError where it names no judge, or the file cannot be written."""
    if calibration.judge is None:
        raise UsageError(
            "no_judge", "a file of pairs names no judge, so its figures are bound to none", "give labels and --verdicts"
        )
    try:
        path.write_text(calibration.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError("unwritable", f"{path} cannot be written: {error.strerror}", "name another --out") from None


def read_calibration(path: Path) -> Calibration:
    """The calibration in a file. Raises UsageError."""
    try:
        return Calibration.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError("unreadable", f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "it"
        fix = "make one: proctor judge calibrate LABELS --verdicts FILE --out FILE"
        raise UsageError("not_a_calibration", f"{path}: {where}: {first['msg']}", fix) from None


def misfits(calibration: Calibration, verdict: Verdict, today: date) -> Iterator[str]:
    """Why the calibration says nothing about this verdict, a reason each; none where it fits."""
    if calibration.judge is None:
        yield "the calibration is bound to no judge"
    else:
        yield from differences(calibration.judge, bound_of(verdict))
    if not calibration.claim.reached:
        observed, target = calibration.claim.observed, calibration.claim.target
        yield f"the judge did not reach {target * 100:g} %: it agrees in {observed}"
    if calibration.bad_lines:
        yield f"{calibration.bad_lines} lines of its files could not be read"
    age = (today - calibration.made_on).days
    if not 0 <= age <= FRESH_DAYS:
        yield f"it was made on {calibration.made_on}, {age} days before: after {FRESH_DAYS} it is stale"
    unmeasured = [
        each.criterion for each in verdict.criteria if each.criterion not in {*calibration.criteria, *calibration.few}
    ]
    if unmeasured:
        yield f"nobody labelled {', '.join(unmeasured)}"
    if verdict.language and verdict.language not in calibration.languages:
        yield f"no trajectory in the language {verdict.language} was labelled"
