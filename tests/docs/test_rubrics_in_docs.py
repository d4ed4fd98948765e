"""The rubrics page: its commands run, its rubric is fit to judge by, every key and every code is explained."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from proctor.rubric import Band, Criterion, Level, Rubric
from proctor.rubric_file import load_rubric, read_rubric, shipped
from tests.docs.test_commands_in_docs import commands_of
from tests.support import ROOT, Project, run

PAGE = (ROOT / "docs" / "rubrics.md").read_text(encoding="utf-8")


@pytest.fixture
def shown(project: Project) -> Path:
    """The rubric of the page, as a file."""
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    return project.script("refunds.yaml", text)


async def test_the_commands_of_the_page_work_as_shown(shown: Path) -> None:
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    for command in commands_of("docs/rubrics.md"):
        done = await run("bash", "-c", command, cwd=shown.parent, env={"PATH": path})
        assert done.status == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    assert load_rubric(str(shown.with_name("quality.yaml"))) == load_rubric("qa")


def test_the_rubric_that_the_page_shows_has_no_problem_and_every_key(shown: Path) -> None:
    read = read_rubric(str(shown))
    assert read.problems == ()
    explained = set(re.findall(r"`(\w+)`", "\n".join(line for line in PAGE.splitlines() if line.startswith("| `"))))
    for value in (read.rubric, *read.rubric.criteria, *read.rubric.bands):
        assert set(type(value).model_fields) <= explained
    used = {key for each in read.rubric.criteria for key in each.model_fields_set}
    assert used == set(Criterion.model_fields)
    assert read.rubric.model_fields_set == set(Rubric.model_fields)
    assert explained >= {*Band.model_fields, *Level.model_fields}


def test_the_weights_that_the_page_tells_are_those_of_the_shipped_rubrics() -> None:
    for name in shipped():
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]
        told = [int(number) for number in re.findall(r" (\d+)(?=[,; ])", row.split("|")[3])]
        rubric = load_rubric(name)
        weights = [each.weight for each in rubric.criteria]
        assert told == weights + [each for preset in rubric.presets.values() for each in preset.values()]


def test_every_code_of_lint_is_explained_and_no_other() -> None:
    tree = ast.parse((ROOT / "proctor" / "rubric_lint.py").read_text(encoding="utf-8"))
    made = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Problem"
        and isinstance(node.args[0], ast.Constant)
    }
    section = PAGE.split("## What lint says")[1]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert {code for cell in cells for code in re.findall(r"`(\w+)`", cell)} == made
