"""`proctor learn`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from proctor.cassette import load_cassette
from proctor.cli.project import project_config
from proctor.errors import EXIT_FAILED, EXIT_FINE
from proctor.learning import Evidence, Learnt
from proctor.learning import learn as compared
from proctor.paths import Layout, cassette_name
from proctor.proposing import Proposal

_SHOWN = 3
_TITLES = {
    "follows": "Follow from these rules, so they need none:",
    "carried": "Came with an earlier answer; replay gives the recorded one, so they need none:",
    "unexplained": "Differ, and no rule explains why; is it the same scenario?",
}


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def learn(first: str, second: str, as_json: bool) -> int:
    """Propose `ignore` and `volatile` rules from two recordings of one scenario.

    Record the same scenario twice, on another day where dates matter. What differs although nothing was changed is
    what a match has to forgive. Nothing is applied: copy into proctor.toml what is right. Ends with 1 where something
    differs that no rule explains.

    \b
      proctor record --cassette refund-again -- python agent.py
      proctor learn refund refund-again
    """
    config = project_config()
    layout = Layout(config.root)
    tapes = [load_cassette(layout, cassette_name(name)) for name in (first, second)]
    learnt = compared(tapes[0], tapes[1], config.services)
    click.echo(json.dumps(_as_json(learnt), ensure_ascii=False) if as_json else "\n".join(_lines(learnt)))
    return EXIT_FAILED if _unexplained(learnt) or learnt.unpaired else EXIT_FINE


def _unexplained(learnt: Learnt) -> list[Evidence]:
    return [each for each in learnt.other if each.why == "unexplained"]


def _lines(learnt: Learnt) -> Iterator[str]:
    yield f"{learnt.pairs} calls in both recordings, {learnt.differing} of them differ"
    for service in dict.fromkeys(service for service, _ in learnt.rules):
        yield f"\n[services.{service}]"
        yield from _rules([(rule, seen) for (owner, rule), seen in learnt.rules.items() if owner == service])
    for why, title in _TITLES.items():
        found = [each.text for each in learnt.other if each.why == why]
        if found:
            yield f"\n{title}"
            yield from (f"  {text}" for text in found)
    if learnt.unpaired:
        yield "\nIn one recording only:"
        yield from (f"  {text}" for text in learnt.unpaired)


def _rules(found: list[tuple[Proposal, list[Evidence]]]) -> Iterator[str]:
    """The TOML of one service: each key once, each rule under its evidence."""
    for key, opening in (("ignore", "ignore = ["), ("volatile", "volatile = [")):
        rules = [(rule, seen) for rule, seen in found if bool(rule.pattern) == (key == "volatile")]
        if not rules:
            continue
        yield opening
        for rule, seen in rules:
            shape = rule.looks_like or "no known shape: make sure that nobody chose it"
            yield f"  # {shape}, {len(seen)} times: {seen[0].text}"
            yield from (f"  #   {each.text}" for each in seen[1:_SHOWN])
            yield f"  {rule.toml_item},"
        yield "]"


def _as_json(learnt: Learnt) -> dict[str, Any]:
    return {
        "pairs": learnt.pairs,
        "differing": learnt.differing,
        "rules": [
            {
                "service": service,
                "at": rule.at,
                "pattern": rule.pattern or None,
                "looks_like": rule.looks_like or None,
                "evidence": [each.text for each in seen],
            }
            for (service, rule), seen in learnt.rules.items()
        ],
        **{
            why: [each.text for each in learnt.other if each.why == why]
            for why in ("follows", "carried", "unexplained")
        },
        "unpaired": learnt.unpaired,
    }
