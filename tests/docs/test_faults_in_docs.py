"""The faults page: its plan can be read and has every key, its table has every kind with what is really asked."""

from __future__ import annotations

import re

from proctor.fault_file import read_plan
from proctor.fault_plan import KINDS, SECONDS, Fault, FaultPlanSpec
from proctor.fault_told import what
from tests.support import ROOT, Project

PAGE = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")


def test_the_plan_that_the_page_shows_can_be_read_and_has_every_key(project: Project) -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    plan = read_plan(str(project.script("plan.toml", shown)))
    assert plan.model_fields_set == set(FaultPlanSpec.model_fields)
    assert {key for fault in plan.fault for key in fault.model_fields_set} == set(Fault.model_fields)


def test_the_table_has_every_kind_with_its_seconds_and_whether_the_source_is_asked() -> None:
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if re.match(r"\| `\w+` \|", line)]
    assert [row[0].strip("`") for row in rows] == list(KINDS)
    for kind, (_, told, asked) in zip(KINDS, rows, strict=True):
        assert asked.startswith("yes") == ("then the source answers" in what(Fault(tool="x", kind=kind)))
        assert kind not in SECONDS or f"`seconds` ({SECONDS[kind]:g})" in told
