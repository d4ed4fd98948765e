"""The appendix on quotes: its tables are the code's, and its examples come out as shown."""

from __future__ import annotations

import json
import re

import pytest

from proctor.judge.citations import Cited, check
from proctor.judge.transcript import Passage, ShownStep, Transcript
from proctor.verdict import RejectedQuote
from tools.citation_probes import EVERYTHING, OUTCOME
from tools.fold_table import PAGE, codes_table, fold_table, written

TEXT = PAGE.read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\{.*?\})` \| (\w+) \| (?:`(\w+)`|accept) \|", TEXT, flags=re.MULTILINE)
CRITERIA = {"conduct": EVERYTHING, "outcome": OUTCOME}


def transcript() -> Transcript:
    """The run of the page's JSON block."""
    (block,) = re.findall(r"```json\n(.*?)```", TEXT, flags=re.DOTALL)
    return Transcript(
        steps=tuple(
            ShownStep(each["step"], "", (Passage(each["kind"], "text", each["text"]),)) for each in json.loads(block)
        )
    )


def test_the_tables_are_those_of_the_code() -> None:
    assert fold_table() in TEXT
    assert codes_table() in TEXT
    assert written(TEXT) == TEXT, "run: .venv/bin/python -m tools.fold_table"


@pytest.mark.parametrize(("citation", "criterion", "code"), ROWS)
def test_an_example_is_decided_as_shown(citation: str, criterion: str, code: str) -> None:
    found = check(Cited(**json.loads(citation)), transcript(), CRITERIA[criterion])
    assert (found.code if isinstance(found, RejectedQuote) else "") == code


def test_there_is_an_example_for_each_line_of_the_table_of_decisions() -> None:
    assert len(ROWS) == len(re.findall(r"^\| `\{", TEXT, flags=re.MULTILINE)) >= 20
