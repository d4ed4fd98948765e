"""`proctor judge lint`."""

from __future__ import annotations

import json
from typing import Any

import click

from proctor.checks.outcomes import times
from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_USAGE, RubricError
from proctor.interaction import readable
from proctor.rubric_file import RubricFile, digest_of, read_rubric, shipped
from proctor.rubric_lint import errors_of

Looked = dict[str, RubricFile | RubricError]
"""Each rubric that was asked for: as read, or why it could not be."""


@click.command()
@click.argument("rubrics", nargs=-1, metavar="[RUBRIC]...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def lint(rubrics: tuple[str, ...], as_json: bool) -> int:
    """Say what is wrong with a rubric: questions that ask two things, anchors that nothing can show, wrong weights.

    RUBRIC is the name of one that comes with Proctor, or the path of a file; without any, all that come with Proctor.
    Ends with status 1 where one has an error, and would be refused by the judge; 2 where one cannot be read. A warning
    changes no status. docs/rubrics.md says how to write one.

    \b
      proctor judge lint
      proctor judge lint rubrics/refunds.yaml --json
    """
    looked = {name: _read(name) for name in rubrics or shipped()}
    if as_json:
        told = {"status": _status(looked), "rubrics": [_as_json(name, read) for name, read in looked.items()]}
        click.echo(readable(json.dumps(told, ensure_ascii=False)))
    else:
        click.echo(readable("\n".join(line for name, read in looked.items() for line in _lines(name, read))))
    return _status(looked)


def _read(name: str) -> RubricFile | RubricError:
    try:
        return read_rubric(name)
    except RubricError as error:
        return error


def _status(looked: Looked) -> int:
    if any(isinstance(each, RubricError) for each in looked.values()):
        return EXIT_USAGE
    bad = any(errors_of(each.problems) for each in looked.values() if isinstance(each, RubricFile))
    return EXIT_FAILED if bad else EXIT_FINE


def _lines(name: str, read: RubricFile | RubricError) -> list[str]:
    if isinstance(read, RubricError):
        return [f"{name}: cannot be read", f"  error    {read.code}: {read.message}", f"           {read.fix}".rstrip()]
    rubric, errors = read.rubric, len(errors_of(read.problems))
    counts = ((errors, "error"), (len(read.problems) - errors, "warning"))
    said = ", ".join(times(count, word) for count, word in counts if count) or "fine"
    lines = [f"{name}: {said} ({rubric.name} {rubric.version}, {len(rubric.criteria)} criteria, scale {rubric.scale})"]
    for problem in read.problems:
        lines.append(f"  {problem.level:<7}  line {read.line(problem)}: {problem.code}: {problem.message}")
        lines.append(f"           {problem.fix}")
    return lines


def _as_json(name: str, read: RubricFile | RubricError) -> dict[str, Any]:
    if isinstance(read, RubricError):
        return {"rubric": name, "error": read.as_dict()}
    problems = [
        {
            "level": problem.level,
            "code": problem.code,
            "line": read.line(problem),
            "place": list(problem.place),
            "message": problem.message,
            "fix": problem.fix,
        }
        for problem in read.problems
    ]
    rubric = read.rubric
    facts = {"name": rubric.name, "version": rubric.version, "digest": digest_of(rubric)}
    return {"rubric": name, **facts, "problems": problems}
