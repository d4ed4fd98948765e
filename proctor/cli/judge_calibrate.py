"""`proctor judge calibrate`."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import click

from proctor.cli.calibration_shown import calibration_lines, human_lines
from proctor.cli.judge_files import OF_RUBRICS, Bad, need_some, read_verdicts, scores_in, status
from proctor.cli.judge_files import told as bad_lines
from proctor.cli.trajectory_input import file_bytes
from proctor.errors import UsageError
from proctor.judge.bound import one_judge
from proctor.judge.calibration import TARGET, Calibration, Source, calibrate
from proctor.judge.calibration_file import write_calibration
from proctor.judge.doubts import doubted
from proctor.judge.labels import Label, human_agreement, read_labels, truth_of
from proctor.judge.pairs import joined, pairs_of, read_pairs, scale_of
from proctor.judge.table import Scale
from proctor.trajectories.file import json_of

_ALL: tuple[Scale, ...] = ("0-1", *OF_RUBRICS)


@click.command("calibrate")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option("--verdicts", type=click.Path(path_type=Path), help="The judge's verdicts, a JSON object a line.")
@click.option(
    "--target",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=TARGET,
    show_default=True,
    help="The share in which the judge is to agree with people.",
)
@click.option("--scale", type=click.Choice(_ALL), help="Of the levels, where they do not tell it.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the calibration file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def calibrate_labels(
    labels: Path, verdicts: Path | None, target: float, scale: Scale | None, out: Path | None, as_json: bool
) -> int:
    """Measure how far a judge agrees with people, and what that proves.

    LABELS holds what people said, a JSON object a line. With --verdicts the judge's are held against it; without, only
    how far people agree with one another is told: measure that first. LABELS may also be a plain file of pairs
    ({"human": true, "judge": false, "criterion": ..., "trajectory": ...}).

    Ends with status 1 where the judge does not reach the target, a line was bad, or pairs wait for re-alignment.
    docs/calibration.md says what 85 % means and how many labels it takes.

    \b
      proctor judge calibrate labels.jsonl
      proctor judge calibrate labels.jsonl --verdicts verdicts.jsonl --out calibration.json
      proctor judge calibrate pairs.jsonl --target 0.9 --json
    """
    data = file_bytes(labels)
    bad: Bad = []
    if _holds_pairs(data):
        if verdicts is not None:
            raise UsageError("two_judges", f"{labels} holds a judge's results already", "leave --verdicts out")
        found = _of_pairs(data, labels, target, scale, bad)
    elif verdicts is None:
        if out is not None:
            raise UsageError("no_judge", "labels alone calibrate no judge", "give --verdicts with --out")
        return _people(data, labels, scale, bad, as_json=as_json)
    else:
        found = _of_labels(data, labels, verdicts, target, scale, bad)
    if out is not None:
        write_calibration(out, found)
    if as_json:
        click.echo(json.dumps(found.model_dump(mode="json") | {"unread": bad_lines(bad)}, ensure_ascii=False))
    else:
        click.echo("\n".join(calibration_lines(found)))
    waiting = found.labelled is not None and bool(found.labelled.gaps)
    return status(bad, fine=found.claim.reached and not waiting)


def _of_pairs(data: bytes, path: Path, target: float, scale: Scale | None, bad: Bad) -> Calibration:
    lines, wrong = read_pairs(data)
    bad += [(path, each) for each in wrong]
    need_some(lines, path, bad)
    told = scale_of((level for line in lines for level in line.levels), _ALL, scale)
    return doubted(calibrate(pairs_of(lines), told, today=_today(), target=target), len(bad))


def _of_labels(data: bytes, path: Path, verdicts: Path, target: float, scale: Scale | None, bad: Bad) -> Calibration:
    labels = _labels(data, path, bad)
    judged = read_verdicts(verdicts, bad)
    told = scale_of([*(label.level for label in labels), *scores_in(judged)], OF_RUBRICS, scale)
    truth = truth_of(labels)
    source = Source(one_judge(judged), judged, truth, human_agreement(labels, told))
    return doubted(calibrate(joined(truth, judged), told, today=_today(), target=target, source=source), len(bad))


def _people(data: bytes, path: Path, scale: Scale | None, bad: Bad, *, as_json: bool) -> int:
    """Only how far people agree."""
    labels = _labels(data, path, bad)
    told = scale_of((label.level for label in labels), OF_RUBRICS, scale)
    human, truth = human_agreement(labels, told), truth_of(labels)
    if as_json:
        shown = {"human": human.model_dump(mode="json"), "gaps": [gap.model_dump() for gap in truth.gaps]}
        click.echo(json.dumps(shown | {"unread": bad_lines(bad)}, ensure_ascii=False))
    else:
        click.echo("\n".join(human_lines(human, truth)))
    return status(bad, fine=not truth.gaps)


def _labels(data: bytes, path: Path, bad: Bad) -> list[Label]:
    labels, wrong = read_labels(data)
    bad += [(path, each) for each in wrong]
    need_some(labels, path, bad)
    return labels


def _holds_pairs(data: bytes) -> bool:
    """By the first line that can be read."""
    for line in data.split(b"\n"):
        if line.strip():
            try:
                value = json_of(line)
            except ValueError:
                continue
            return isinstance(value, dict) and "human" in value
    return False


def _today() -> date:
    return datetime.now(UTC).date()
