"""`proctor suite list`, `expand` and `schema`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import click

from proctor.cases.files import SuiteRead, find_suite, read_suite, suite_names
from proctor.cases.suite import CaseFile, Suite
from proctor.cli.project import project_config
from proctor.cli.world_project import SEED_OPTION
from proctor.errors import EXIT_FINE, SuiteError
from proctor.harness.blind import note_use, select


@click.command("list")
@click.argument("name", required=False, metavar="[SUITE]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def list_suites(name: str | None, as_json: bool) -> int:
    """List the suites of the project with what they test and what not; with SUITE, its cases.

    SUITE is the name of a file in `suites/`, or a path.

    \b
      proctor suite list
      proctor suite list orders --json
    """
    root = project_config().root
    read = [read_suite(find_suite(root, each)) for each in ([name] if name else suite_names(root))]
    if as_json:
        click.echo(json.dumps({"suites": [_told(each) for each in read]}, ensure_ascii=False))
    elif not read:
        click.echo(f"no suites yet: write {root / 'suites' / 'NAME.yaml'} (docs/cases.md)")
    else:
        click.echo("\n".join(line for each in read for line in (_cases(each) if name else _lines(each))))
    return EXIT_FINE


@click.command("expand")
@click.argument("name", metavar="SUITE")
@SEED_OPTION
@click.option(
    "--blind",
    is_flag=True,
    help="Print the blind cases instead of the others. It is written down in suites/SUITE.blind.jsonl that you did.",
)
def expand_suite(name: str, seed: int, blind: bool) -> int:
    """Print every case of a suite as one JSON object a line, those of templates made out by the seed.

    \b
      proctor suite expand orders --seed 3 | jq .id
    """
    read = read_suite(find_suite(project_config().root, name), seed)
    chosen = select(read, blind)
    if blind:
        note_use(read, [placed.case for placed in chosen], datetime.now(UTC), "suite expand")
    for placed in chosen:
        click.echo(placed.case.model_dump_json(exclude_defaults=True))
    return EXIT_FINE


@click.command("schema")
@click.option("--cases", is_flag=True, help="Of a file that a suite includes, instead of the suite's own.")
def print_schema(cases: bool) -> int:
    """Print the JSON Schema of a suite's file. An editor that knows it completes keys and marks what is wrong.

    \b
      proctor suite schema > suites/schema.json
      # and as the first line of a suite: yaml-language-server: $schema=schema.json
    """
    click.echo(json.dumps((CaseFile if cases else Suite).model_json_schema(), indent=1, ensure_ascii=False))
    return EXIT_FINE


def _told(read: SuiteRead) -> dict[str, object]:
    suite = read.suite
    facts = suite.model_dump(mode="json", include={"name", "title", "tests", "tests_not", "size", "trials"})
    cases = [
        {
            **placed.case.model_dump(mode="json", include={"id", "title", "category", "set", "priority", "difficulty"}),
            "turns": len(placed.case.turns),
            "admitted": placed.case.admitted,
            "where": placed.where,
        }
        for placed in read.cases
    ]
    return {**facts, "path": str(read.path), "cases": cases}


def _lines(read: SuiteRead) -> Iterator[str]:
    suite = read.suite
    yield f"{suite.name:<16} {suite.title}"
    yield f"    tests       {suite.tests}"
    yield f"    tests not   {suite.tests_not}"
    yield f"    cases       {_counts(read)}"


def _counts(read: SuiteRead) -> str:
    """`12: 10 normal, 2 boundary; 3 not admitted`."""
    found = Counter(placed.case.category for placed in read.cases)
    waiting = sum(not placed.case.admitted for placed in read.cases)
    told = ", ".join(f"{count} {name}" for name, count in found.items())
    return f"{len(read.cases)}: {told}" + (f"; {waiting} not admitted" if waiting else "")


def _cases(read: SuiteRead) -> Iterator[str]:
    width = max(len(placed.case.id) for placed in read.cases)
    for placed in read.cases:
        case = placed.case
        mark = "" if case.admitted else "  (not admitted)"
        kinds = f"{case.priority} {case.category:<11} {case.difficulty:<11}"
        yield f"{case.id:<{width}}  {kinds} {len(case.turns):>2} turns  {case.title}{mark}"


def of_names(names: tuple[str, ...]) -> list[str]:
    """The suites that a command was asked for; without any, all of the project. Raises SuiteError for none at all."""
    root = project_config().root
    asked = list(names) or suite_names(root)
    if not asked:
        raise SuiteError("suite_missing", f"there is no suite in {root / 'suites'}", "see docs/cases.md")
    return asked
