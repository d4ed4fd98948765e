"""Each check of the docs has an example that passes, one that fails and one not assessable, and all are run."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from proctor.checks.index import CHECKS
from tests.runs import run_of
from tests.support import ROOT

PAGES = sorted((ROOT / "docs" / "checks").glob("*.md"))


def examples() -> list[dict[str, Any]]:
    """The JSON blocks of the pages that name a check."""
    blocks = [re.findall(r"```json\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL) for page in PAGES]
    return [example for page in blocks for block in page if "check" in (example := json.loads(block))]


@pytest.mark.parametrize("example", examples(), ids=lambda example: f"{example['check']}-{example['outcome']}")
def test_an_example_of_the_docs_comes_out_as_shown(example: dict[str, Any]) -> None:
    run = run_of(*example["run"], **example.get("trajectory", {}))
    result = CHECKS[example["check"]](run, **example.get("with", {}))
    assert (result.outcome, result.message) == (example["outcome"], example["message"])
    assert bool(result.needs) == (result.outcome == "not_assessable")


def test_every_check_has_an_example_of_each_outcome() -> None:
    shown = {(example["check"], example["outcome"]) for example in examples()}
    assert shown == {(name, outcome) for name in CHECKS for outcome in ("pass", "fail", "not_assessable")}


def test_the_index_lists_every_check_and_links_to_its_heading() -> None:
    index = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"\| \[`(\w+)`\]\((checks/[\w#.]+)\) \|", index))
    assert listed.keys() == CHECKS.keys()
    for name, link in listed.items():
        page, _, anchor = link.partition("#")
        assert anchor == name
        assert f"\n## {name}\n" in (ROOT / "docs" / page).read_text(encoding="utf-8")
