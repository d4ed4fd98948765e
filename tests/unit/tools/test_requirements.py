"""Each rule of the requirements check on a small input, then the repository's own table."""

import json
from pathlib import Path

import pytest

from tools.requirements import LAST_ROW, Marker, Row, check, collect_markers, explain, main, parse_table, slugs

FILE = "tests/unit/test_a.py"


def table(**lines: str) -> str:
    """A table with every row `not`, save the lines given as r7="| 7 | ... |"; an empty one is left out."""
    rows = {f"r{number}": f"| {number} | words | not | |" for number in range(1, LAST_ROW + 1)} | lines
    return "\n".join(line for line in rows.values() if line)


def problems_of(text: str, *marked: int, pages: dict[str, set[str]] | None = None) -> list[str]:
    rows, problems = parse_table(text)
    markers = [Marker(number, f"{FILE}::test_it", f"{FILE}:3") for number in marked]
    return problems + check(rows, markers, (pages or {}).get)


def marked(source: str, path: str = FILE) -> dict[str, set[int]]:
    """The rows that each test of a source without problems shows, by the test's name."""
    markers, problems = collect_markers(source, path)
    assert problems == []
    found: dict[str, set[int]] = {}
    for marker in markers:
        found.setdefault(marker.test.removeprefix(f"{path}::"), set()).add(marker.row)
    return found


def project(root: Path, text: str, source: str) -> Path:
    (root / "docs").mkdir()
    (root / "docs/requirements.md").write_text(text, "utf-8")
    (root / "docs/recording.md").write_text("# Recording\n\n## Record once\n", "utf-8")
    (root / "tests/unit").mkdir(parents=True)
    (root / FILE).write_text(source, "utf-8")
    return root


# The table


def test_a_row_is_read_with_its_line_and_an_escaped_bar_stays_in_its_cell() -> None:
    rows, problems = parse_table("# Page\n\n| row | a | b | c |\n|---|---|---|---|\n| 7 | one \\| two | met | x.md |\n")
    assert rows == [Row(5, 7, "one \\| two", "met", "x.md")]
    assert problems == []


def test_rows_in_fenced_code_are_no_rows_and_keep_the_line_count() -> None:
    rows, _ = parse_table("```text\n| 7 | shown | met | |\n```\n\n| 8 | real | not | |\n~~~\n| 9 | open | not | |\n")
    assert rows == [Row(5, 8, "real", "not", "")]


@pytest.mark.parametrize(
    "line",
    ["| 7 | words | not |", "| 7 | words | not | | more |", "| 7 | words | not | open", "| 7a | words | not | |"],
)
def test_a_line_that_starts_like_a_row_and_is_none_is_a_problem(line: str) -> None:
    rows, problems = parse_table(f"\n{line}\n")
    assert rows == []
    assert problems == [
        "docs/requirements.md:2: no proper row; write | number | words | status | where |",
    ]


def test_a_full_table_without_markers_has_no_problem() -> None:
    assert problems_of(table()) == []


@pytest.mark.parametrize("number", [1, 100, 236])
def test_a_missing_row_is_a_problem(number: int) -> None:
    (problem,) = problems_of(table(**{f"r{number}": ""}))
    assert problem == f"docs/requirements.md: row {number} is missing; add its line, with status not"


def test_a_row_that_stands_twice_is_a_problem_at_both_lines() -> None:
    assert problems_of(table(again="| 7 | words | not | |")) == [
        "docs/requirements.md:7: row 7 stands more than once; keep one line",
        "docs/requirements.md:237: row 7 stands more than once; keep one line",
    ]


@pytest.mark.parametrize("number", [0, 237])
def test_a_row_past_the_last_or_before_the_first_is_a_problem(number: int) -> None:
    (problem,) = problems_of(table(extra=f"| {number} | words | not | |"))
    assert problem == f"docs/requirements.md:237: there is no row {number}; use 1 to 236"


@pytest.mark.parametrize("status", ["Met", "done", ""])
@pytest.mark.parametrize("tests", [(), (7,)])
def test_a_status_other_than_the_three_is_one_problem_marked_or_not(status: str, tests: tuple[int, ...]) -> None:
    (problem,) = problems_of(table(r7=f"| 7 | words | {status} | |"), *tests)
    assert problem == f"docs/requirements.md:7: row 7 has status {status!r}; use met, partly or not"


# Status against markers


@pytest.mark.parametrize("status", ["met", "partly"])
def test_a_met_or_partly_row_needs_a_test(status: str) -> None:
    text = table(r7=f"| 7 | words | {status} | the rest |")
    assert problems_of(text, 7) == []
    (problem,) = problems_of(text)
    assert problem.startswith(f"docs/requirements.md:7: row 7 is {status}, but no test marks it; ")
    assert "@pytest.mark.req(7)" in problem


def test_a_row_called_not_although_a_test_marks_it_is_a_problem() -> None:
    (problem,) = problems_of(table(), 7)
    assert problem == f"docs/requirements.md:7: row 7 is not, yet {FILE}::test_it marks it; set met or partly"


def test_a_partly_row_says_what_is_missing() -> None:
    (problem,) = problems_of(table(r7="| 7 | words | partly | |"), 7)
    assert problem == "docs/requirements.md:7: row 7 is partly; say in the last column what is missing"


@pytest.mark.parametrize("number", [0, 237])
def test_a_marker_outside_the_rows_is_one_problem_however_many_tests_it_reaches(number: int) -> None:
    source = f"@mark.req({number})\nclass TestA:\n    def test_a(self): ...\n    def test_b(self): ...\n"
    markers, _ = collect_markers(source, FILE)
    assert len(markers) == 2
    (problem,) = check(parse_table(table())[0], markers, lambda page: None)
    assert problem == f"{FILE}:1: req({number}) names no row; use 1 to 236"


# Pages named in the last column


@pytest.mark.parametrize("where", ["a.md", "a.md#one", "see [one](a.md#one), `a.md#two-1`.", "https://x.org/b.md#no"])
def test_pages_and_headings_that_exist_and_addresses_elsewhere_are_fine(where: str) -> None:
    assert problems_of(table(r7=f"| 7 | words | met | {where} |"), 7, pages={"a.md": {"one", "two-1"}}) == []


@pytest.mark.parametrize("status", ["met", "not"])
def test_a_page_that_is_not_there_is_a_problem_whatever_the_status(status: str) -> None:
    (problem,) = problems_of(table(r7=f"| 7 | words | {status} | b.md#one |"), *([7] if status == "met" else []))
    assert problem == "docs/requirements.md:7: row 7 names b.md, which is not there; name a page relative to docs/"


@pytest.mark.parametrize("slug", ["record-onse", "Record-once", ""])
def test_a_heading_that_is_not_there_is_a_problem_that_names_the_nearest(slug: str) -> None:
    text = table(r7=f"| 7 | words | met | a.md a.md#{slug} |")
    (problem,) = problems_of(text, 7, pages={"a.md": {"record-once"}})
    assert problem == f"docs/requirements.md:7: row 7: a.md has no heading #{slug}; the nearest is record-once"


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("# Record once, replay for ever!", "record-once-replay-for-ever"),
        ("### The `tool_called` check ##", "the-tool_called-check"),
        ("## A & B", "a--b"),
        ("## L0 - L4: *layers*", "l0---l4-layers"),
        ("## [Faults](faults.md#x) (seeded)", "faults-seeded"),
        ("## Überlauf 记录", "überlauf-记录"),
    ],
)
def test_a_heading_becomes_the_anchor_that_github_makes(heading: str, slug: str) -> None:
    assert slugs(f"text\n\n{heading}\n") == {slug}


def test_a_repeated_heading_is_numbered_from_the_second_on() -> None:
    assert slugs("# Use\n## Use\n### Use\n") == {"use", "use-1", "use-2"}


def test_comments_in_fenced_code_are_no_headings() -> None:
    assert slugs("# Use\n\n```sh\n# install\n```\n\n#hash\n\n## After\n") == {"use", "after"}


# Markers


def test_a_function_may_have_several_markers_and_a_marker_several_numbers() -> None:
    source = "@pytest.mark.req(1, 2)\n@pytest.mark.req(3)\nasync def test_a(): ...\n\ndef test_b(): ...\n"
    assert marked(source) == {"test_a": {1, 2, 3}}


def test_markers_of_classes_reach_their_tests_and_those_of_inner_classes() -> None:
    source = """
@mark.req(1)
class TestOuter:
    pytestmark = pytest.mark.req(2)

    def test_a(self): ...

    @mark.req(3)
    class TestInner:
        @mark.req(4)
        def test_b(self): ...

def test_c(): ...
"""
    assert marked(source) == {"TestOuter::test_a": {1, 2}, "TestOuter::TestInner::test_b": {1, 2, 3, 4}}


@pytest.mark.parametrize(
    "line",
    [
        "pytestmark = pytest.mark.req(5)",
        "pytestmark = [pytest.mark.slow, pytest.mark.req(5)]",
        "pytestmark: X = mark.req(5)",
    ],
)
def test_the_modules_pytestmark_reaches_every_test(line: str) -> None:
    source = f"def test_a(): ...\n\nclass TestB:\n    def test_b(self): ...\n\n{line}\n"
    assert marked(source) == {"test_a": {5}, "TestB::test_b": {5}}


def test_a_marker_on_one_parameter_counts_for_the_test() -> None:
    source = "@pytest.mark.parametrize('x', [1, pytest.param(2, marks=pytest.mark.req(5))])\ndef test_a(x): ...\n"
    assert marked(source) == {"test_a": {5}}


def test_markers_in_strings_and_other_markers_and_attributes_are_ignored() -> None:
    source = (
        "@pytest.mark.slow(7)\n@bookmark.req(8)\ndef test_a():\n    '''@pytest.mark.req(9)'''\n    return call.req\n"
    )
    assert marked(source) == {}


@pytest.mark.parametrize("args", ["", "'7'", "True", "7.0", "*ROWS", "ROW", "row=7", "7, ROW", "7, row=8"])
def test_a_marker_without_plain_numbers_is_a_problem(args: str) -> None:
    _, problems = collect_markers(f"@pytest.mark.req({args})\ndef test_a(): ...\n", FILE)
    assert problems == [f"{FILE}:1: req takes plain row numbers; write them out, as in req(56, 57)"]


def test_an_unreadable_marker_is_one_problem_however_many_tests_it_reaches() -> None:
    source = "@mark.req(ROW)\nclass TestA:\n    def test_a(self): ...\n    def test_b(self): ...\n"
    assert len(collect_markers(source, FILE)[1]) == 1


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.req(7)\ndef helper(): ...\n",
        "@pytest.mark.req(7)\nclass Base:\n    def test_a(self): ...\n",
        "@pytest.mark.req(7)\nclass TestEmpty: ...\n",
        "@pytest.mark.req\ndef test_a(): ...\n",
        "shows = pytest.mark.req(7)\n",
        "pytestmarks = pytest.mark.req(7)\ndef test_a(): ...\n",
    ],
)
def test_a_marker_that_reaches_no_test_is_a_problem(source: str) -> None:
    markers, (problem,) = collect_markers(source, FILE)
    assert markers == []
    assert problem.startswith(f"{FILE}:1: this req marker marks no test; put it on ")


@pytest.mark.parametrize("name", ["helpers.py", "conftest.py", "mytest_a.py", "test_a/data.py"])
def test_a_marker_in_a_file_that_pytest_does_not_collect_is_a_problem(name: str) -> None:
    markers, (problem,) = collect_markers("@pytest.mark.req(7)\ndef test_a(): ...\n", f"tests/{name}")
    assert markers == []
    assert problem.startswith(f"tests/{name}:1: this req marker marks no test; ")


@pytest.mark.parametrize("path", ["tests/test_x.py", "test_x.py", "tests/x_test.py"])
def test_both_ways_to_name_a_test_file_are_known(path: str) -> None:
    assert marked("@pytest.mark.req(7)\ndef test_a(): ...\n", path) == {"test_a": {7}}


def test_a_file_that_does_not_parse_is_a_problem_with_its_line() -> None:
    markers, (problem,) = collect_markers("x = 1\ndef test_a(:\n", FILE)
    assert markers == []
    assert problem.startswith(f"{FILE}:2: cannot be read, ")


# The command

MARKED = "@pytest.mark.req(7)\ndef test_it(): ...\n\n@pytest.mark.req(7, 8)\ndef test_more(): ...\n"
MET = {"r7": "| 7 | words | met | recording.md#record-once |", "r8": "| 8 | words | partly | no faults yet |"}


def test_a_clean_project_prints_only_the_counts_and_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], project(tmp_path, table(**MET), MARKED)) == 0
    assert capsys.readouterr().out == "236 rows: 1 met, 1 partly, 234 not; 2 tests carry a marker\n"


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (table(**MET | {"r9": "| 9 | cells |"}), MARKED),
        (table(**MET), MARKED + "@pytest.mark.req(7)\ndef helper(): ...\n"),
        (table(**MET | {"r8": "| 8 | words | not | |"}), MARKED),
        (table(**MET | {"r7": "| 7 | words | met | recording.md#twice |"}), MARKED),
        (table(**MET | {"r7": "| 7 | words | met | gone.md |"}), MARKED),
        (table(**MET | {"r7": "| 7 | words | met | ../../outside.md |"}), MARKED),
    ],
)
def test_problems_of_table_markers_and_pages_exit_1_and_precede_the_counts(
    text: str, source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "outside.md").write_text("# Outside\n", "utf-8")
    (tmp_path / "root").mkdir()
    assert main([], project(tmp_path / "root", text, source)) == 1
    *problems, counts = capsys.readouterr().out.splitlines()
    assert problems
    assert all(problem.startswith(("docs/requirements.md", FILE)) for problem in problems)
    assert counts.endswith("2 tests carry a marker")


def test_json_holds_rows_with_their_tests_counts_and_problems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--json"], project(tmp_path, table(**MET | {"r9": ""}), MARKED)) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["rows"][6] == {
        "line": 7,
        "number": 7,
        "text": "words",
        "status": "met",
        "where": "recording.md#record-once",
        "tests": [f"{FILE}::test_it", f"{FILE}::test_more"],
    }
    assert report["counts"] == {"met": 1, "partly": 1, "not": 233, "tests": 2}
    assert report["problems"] == ["docs/requirements.md: row 9 is missing; add its line, with status not"]


def test_explain_prints_the_row_and_its_tests_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--explain", "8"], project(tmp_path, table(**MET), MARKED)) == 0
    assert capsys.readouterr().out == f"8: words\npartly: no faults yet\n{FILE}::test_more\n"


def test_explain_sorts_the_tests_and_names_each_once() -> None:
    markers = [Marker(9, test, f"{FILE}:1") for test in "fbdaceab"]
    assert explain(9, [], markers).splitlines()[1:] == list("abcdef")


def test_explain_says_where_there_is_no_test_or_no_row() -> None:
    assert explain(9, [Row(3, 9, "words", "not", "-")], []) == "9: words\nnot: -\nno test marks it"
    assert explain(999, [], []) == "no row 999\nno test marks it"


def test_a_project_without_the_table_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([], tmp_path)
    assert stop.value.code == 2
    assert "requirements.md is not there" in capsys.readouterr().err


def test_this_repositorys_own_table_passes(capsys: pytest.CaptureFixture[str]) -> None:
    status = main([])
    assert status == 0, capsys.readouterr().out
