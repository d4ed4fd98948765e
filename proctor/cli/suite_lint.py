"""`proctor suite lint`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from typing import Any

import click

from proctor.cases.files import SuiteRead, find_suite, read_suite
from proctor.cases.lint import Problem, Surroundings, lint
from proctor.checks.outcomes import times
from proctor.cli.project import project_config
from proctor.cli.suite_proofs import Proofs
from proctor.cli.suite_show import of_names
from proctor.cli.world_project import SEED_OPTION, world_kinds
from proctor.config import Config
from proctor.errors import EXIT_FAILED, EXIT_FINE
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession


@click.command("lint")
@click.argument("names", nargs=-1, metavar="[SUITE]...")
@SEED_OPTION
@click.option("--prove", is_flag=True, help="Make each case's reference calls in its worlds: they must pass the case.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def lint_suites(names: tuple[str, ...], seed: int, prove: bool, as_json: bool) -> int:
    """Say what is wrong with suites: cases that any agent passes, goals that are met at the start, unknown tools.

    A SUITE is the name of a file in `suites/`, or a path; without any, all of the project. The seed chooses among what
    templates can make. A warning changes no status.

    \b
    Exit status: 0 no error; 1 a case shows nothing, is expired or not kept apart; 2 a file cannot be read as a suite.

    \b
      proctor suite lint
      proctor suite lint orders --prove --json
    """
    config = project_config()
    around = surroundings(config)
    read = [read_suite(find_suite(config.root, name), seed) for name in of_names(names)]
    found = {each.suite.name: lint(each, around) for each in read}
    if prove:
        proofs = Proofs(config, seed)
        found = {each.suite.name: (*found[each.suite.name], *proofs.problems(each)) for each in read}
    if as_json:
        told = {name: [asdict(problem) for problem in problems] for name, problems in found.items()}
        click.echo(json.dumps({"suites": told}, ensure_ascii=False))
    else:
        click.echo("\n".join(line for each in read for line in _lines(each, found[each.suite.name])))
    bad = any(problem.level == "error" for problems in found.values() for problem in problems)
    return EXIT_FAILED if bad else EXIT_FINE


def surroundings(config: Config) -> Surroundings:
    """What the project's suites are linted against: today, and its worlds."""
    kinds = world_kinds(config)
    others = [name for name, each in config.services.items() if not each.world and not each.preset]
    tools = None if others or not kinds else {tool for kind in kinds.values() for tool in kind.tools}
    return Surroundings(date.today(), {name: _start(kind) for name, kind in kinds.items()}, tools)


def _start(kind: WorldKind) -> Any:
    return WorldSession(kind, 0).state()


def _lines(read: SuiteRead, problems: tuple[Problem, ...]) -> Iterator[str]:
    errors = sum(problem.level == "error" for problem in problems)
    counts = ((errors, "error"), (len(problems) - errors, "warning"))
    said = ", ".join(times(count, word) for count, word in counts if count)
    yield f"{read.suite.name}: {said or 'fine'} ({times(len(read.cases), 'case')})"
    for problem in problems:
        yield f"  {problem.level:<7}  {problem.where}: {problem.code}: {problem.message}"
        if problem.fix:
            yield f"           {problem.fix}"
