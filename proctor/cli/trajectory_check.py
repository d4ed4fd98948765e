"""`proctor trajectory check`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from proctor.check import CheckResult
from proctor.checks.asked import checked_parameters, required_parameters, run_check
from proctor.checks.index import CHECKS
from proctor.cli.trajectory_input import chosen, json_file, read_status
from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_USAGE, UsageError
from proctor.trajectory import Trajectory

_MARKS = {"pass": "pass", "fail": "FAIL", "not_assessable": "n.a."}

Asked = dict[str, dict[str, Any]]
"""Each check by name, with its parameters."""


@click.command()
@click.argument("which", metavar="FILE[:ID]")
@click.option("--check", "names", multiple=True, metavar="NAME", help="This check only; repeatable.")
@click.option(
    "--with",
    "parameters",
    type=click.Path(exists=True, path_type=Path),
    help='Checks with parameters: {"tool_called": {"tool": "pay"}}.',
)
@click.option("--all", "everything", is_flag=True, help="Also what passed, and what could not be assessed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a result.")
def check(which: str, names: tuple[str, ...], parameters: Path | None, everything: bool, as_json: bool) -> int:
    """Run checks on the trajectories of a file. Without --check, those that need no parameters.

    Ends with status 1 where a check failed, or where of some trajectory nothing could be assessed. docs/checks.md
    explains each check.

    \b
      proctor trajectory check runs.jsonl
      proctor trajectory check runs.jsonl:refund-3 --check loops --check no_pii --all
      proctor trajectory check runs.jsonl --with checks.json
    """
    declared = declared_checks(parameters)
    path, found, runs, bad = chosen(which)
    asked = _asked(names, declared)
    failed = False
    for run in runs:
        results = [run_check(name, run, given) for name, given in asked.items()]
        failed |= _is_bad(results)
        if as_json:
            for result in results:
                click.echo(json.dumps({"id": run.id, **result.model_dump(mode="json")}, ensure_ascii=False))
        else:
            click.echo("\n".join(_lines(run, results, everything=everything)))
    read = read_status(path, found, bad)
    return read if read == EXIT_USAGE else EXIT_FAILED if failed or read else EXIT_FINE


def declared_checks(parameters: Path | None) -> Asked:
    """The checks of a parameter file. Raises UsageError for what is none, or a check that there is not."""
    if parameters is None:
        return {}
    value = json_file(parameters)
    if not isinstance(value, dict) or not all(isinstance(each, dict) for each in value.values()):
        raise UsageError("bad_checks", f"{parameters} is no object of checks", '{"tool_called": {"tool": "pay"}}')
    return {name: checked_parameters(name, given) for name, given in value.items()}


def _asked(names: Sequence[str], declared: Asked) -> Asked:
    if names:
        return {name: declared[name] if name in declared else checked_parameters(name, {}) for name in names}
    return {**{name: {} for name in CHECKS if not required_parameters(name)}, **declared}


def _is_bad(results: Sequence[CheckResult]) -> bool:
    outcomes = {result.outcome for result in results}
    return "fail" in outcomes or outcomes <= {"not_assessable"}


def _lines(run: Trajectory, results: Sequence[CheckResult], *, everything: bool) -> list[str]:
    counts: Mapping[str, int] = {each: sum(result.outcome == each for result in results) for each in _MARKS}
    told = f"{counts['fail']} failed, {counts['pass']} passed, {counts['not_assessable']} not assessable"
    lines = [f"{run.id}: {told}"]
    for result in results:
        if everything or result.outcome == "fail":
            lines.append(f"  {_MARKS[result.outcome]}  {result.check}: {result.message}")
            lines += [
                f"          step {each.step} {each.field}: {each.quote}" for each in result.evidence if each.quote
            ]
            if result.needs:
                lines.append(f"          needs {result.needs}")
    return lines
