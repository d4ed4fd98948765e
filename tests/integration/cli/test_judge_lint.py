"""`proctor judge lint`: what is wrong with a rubric, with its line, before anything is spent on it."""

from __future__ import annotations

import json
import sys

import pytest

from tests.support import ROOT, Project, run

BAD = (
    (ROOT / "rubrics" / "trajectory.yaml")
    .read_text(encoding="utf-8")
    .replace("Were the key steps of the task taken in the right order?", "Were the steps right and complete?")
    .replace("weight: 30", "weight: 31")
)


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


async def test_without_a_name_all_that_come_with_proctor_are_looked_at(project: Project) -> None:
    ended = await project.proctor("judge", "lint")
    assert (ended.status, ended.stderr) == (0, "")
    acmse, *_, qa, trajectory = ended.stdout.splitlines()
    assert acmse == "acmse: 1 warning (acmse 1, 5 criteria, scale 1-5)"
    assert qa.startswith("qa: fine (qa 1, 5 criteria, scale 0-2)")
    assert trajectory.startswith("trajectory: fine")


async def test_each_problem_is_told_with_its_line_and_what_to_do(project: Project) -> None:
    project.script("mine.yaml", BAD)
    ended = await project.proctor("judge", "lint", "mine.yaml", "trajectory")
    assert ended.status == 1
    lines = ended.stdout.splitlines()
    assert lines[0] == "mine.yaml: 2 errors (trajectory 1, 5 criteria, scale 0-2)"
    assert f"  error    line {line_of(BAD, 'criteria:')}: weights_sum: the weights sum to 101, not to 100" in lines
    asked = f'  error    line {line_of(BAD, "question: Were")}: double_barrelled: "step_correctness" asks two things'
    (at,) = (number for number, line in enumerate(lines) if line.startswith(asked))
    assert lines[at + 1] == "           make two criteria of it, or ask for the one that matters"
    assert lines[-1].startswith("trajectory: fine")


async def test_json_is_one_object_with_place_and_digest(project: Project) -> None:
    project.script("mine.yaml", BAD)
    ended = await project.proctor("judge", "lint", "mine.yaml", "nowhere.yaml", "acmse", "--json")
    assert ended.status == 2
    told = json.loads(ended.stdout)
    mine, nowhere, acmse = told["rubrics"]
    assert (told["status"], mine["rubric"], mine["name"], len(mine["digest"])) == (2, "mine.yaml", "trajectory", 64)
    assert [(each["code"], each["level"], each["place"]) for each in mine["problems"]] == [
        ("weights_sum", "error", ["criteria"]),
        ("double_barrelled", "error", ["criteria", 1, "question"]),
    ]
    assert mine["problems"][1]["line"] == line_of(BAD, "question: Were")
    assert nowhere["error"]["code"] == "rubric_missing"
    assert [each["level"] for each in acmse["problems"]] == ["warning"]


@pytest.mark.parametrize(
    ("name", "told"),
    [("trajektory", 'did you mean "trajectory"?'), ("nowhere.yaml", "nowhere.yaml does not exist")],
)
async def test_what_cannot_be_read_ends_with_status_2_and_the_rest_is_looked_at(
    name: str, told: str, project: Project
) -> None:
    ended = await project.proctor("judge", "lint", name, "qa")
    assert ended.status == 2
    assert told in ended.stdout
    assert "qa: fine" in ended.stdout


async def test_looking_at_rubrics_waits_for_no_heavy_library(project: Project) -> None:
    look = "import sys; from proctor.cli.main import main; main(['judge', 'lint']); print([*sys.modules])"
    ended = await run(sys.executable, "-c", look, cwd=project.root)
    loaded = ended.stdout.splitlines()[-1]
    assert not [name for name in ("aiohttp", "vcr", "litellm", "tiktoken", "sqlite_utils") if f"'{name}'" in loaded]
    assert "'proctor.rubric_file'" in loaded
