"""Which suite an agent was tested with: every case of it, wherever it stands."""

from __future__ import annotations

from pathlib import Path

from proctor.cases.files import read_suite
from proctor.harness.suite_version import suite_version

HEAD = "name: s\ntitle: t\ntests: this\ntests_not: that\n"
ONE = "  - {id: one, title: t, turns: [{user: hello}], expect: {says: [hi]}}\n"
TWO = "  - {id: two, title: t, turns: [{user: hello}], expect: {says: [ho]}}\n"
MADE = """templates:
  - {values: {n: [1, 2, 3]}, most: 2, case: {id: made, title: "case {n}", turns: [{user: hello}]}}
"""


def version(tmp_path: Path, text: str, seed: int = 0) -> str:
    path = tmp_path / "s.yaml"
    path.write_text(text, encoding="utf-8")
    return suite_version(read_suite(path, seed))


def test_any_change_of_a_case_is_another_version_and_its_place_is_none(tmp_path: Path) -> None:
    first = version(tmp_path, f"{HEAD}cases:\n{ONE}{TWO}")
    assert len(first) == 12
    assert version(tmp_path, f"{HEAD}cases:\n{TWO}{ONE}") == first
    (tmp_path / "more.yaml").write_text(f"cases:\n{TWO}", encoding="utf-8")
    assert version(tmp_path, f"{HEAD}include: [more.yaml]\ncases:\n{ONE}") == first
    for changed in (ONE.replace("hi", "hey"), ONE.replace("says", "never_says"), ONE.replace("one", "eins"), ""):
        assert version(tmp_path, f"{HEAD}cases:\n{changed}{TWO}") != first


def test_what_the_suite_says_of_each_case_counts(tmp_path: Path) -> None:
    first = version(tmp_path, f"{HEAD}cases:\n{ONE}")
    assert version(tmp_path, f"{HEAD}trials: 3\ncases:\n{ONE}") != first
    assert version(tmp_path, f"{HEAD}limits: {{steps: 5}}\ncases:\n{ONE}") != first
    assert version(tmp_path, HEAD.replace("title: t", "title: other") + f"cases:\n{ONE}") == first


def test_the_seed_counts_where_it_chooses_among_what_templates_make(tmp_path: Path) -> None:
    found = {version(tmp_path, HEAD + MADE, seed) for seed in range(8)}
    assert 1 < len(found) <= 3
    assert version(tmp_path, HEAD + MADE, 4) == version(tmp_path, HEAD + MADE, 4)
