"""Check docs/requirements.md against the `req` markers of the tests.

    python tools/requirements.py              problems, then the counts; exit 1 when there are problems
    python tools/requirements.py --json       the same as one JSON object, with the tests of each row
    python tools/requirements.py --explain 7  one row and the tests that show it

Tests are read with `ast`, never imported or run: a marker on a skipped or failing test counts here.
"""

import argparse
import ast
import difflib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LAST_ROW = 236
STATUSES = ("met", "partly", "not")
TABLE = "docs/requirements.md"
PLACES = "put it on a test function, a Test class or in pytestmark, in a test_*.py file"
ROOT = Path(__file__).resolve().parents[1]

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^`~\n]*\n.*?(?:^ {0,3}\1|\Z)", re.M | re.S)
PAGE = re.compile(r"(?<![\w./:-])([\w./-]+\.md)\b(?:#([\w-]*))?")  # the look-behind leaves URLs alone
Anchors = Callable[[str], set[str] | None]  # a page, relative to docs/, to its anchors; None: no such page


@dataclass(frozen=True)
class Row:
    line: int
    number: int
    text: str
    status: str
    where: str


@dataclass(frozen=True)
class Marker:
    row: int
    test: str
    place: str  # where the marker stands; one marker on a class makes one of these for each test and number


def _lines(markdown: str) -> list[str]:
    """The lines of a page, those of fenced code blank."""
    return FENCE.sub(lambda block: "\n" * block[0].count("\n"), markdown).split("\n")


def parse_table(text: str) -> tuple[list[Row], list[str]]:
    """The rows, and a problem for each line that starts like a row and is none."""
    rows, problems = [], []
    for line, content in enumerate(_lines(text), 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", content.strip())[1:-1]]
        if cells and re.fullmatch("[0-9]+", cells[0]) and len(cells) == 4:
            rows.append(Row(line, int(cells[0]), *cells[1:]))
        elif re.match(r"\|\s*\d", content):
            problems.append(f"{TABLE}:{line}: no proper row; write | number | words | status | where |")
    return rows, problems


def slugs(markdown: str) -> set[str]:
    """Anchors that GitHub gives the `#` headings of a page; a repeated heading gets -1, -2, ..."""
    seen: Counter[str] = Counter()
    found = set()
    for line in _lines(markdown):
        if heading := re.match(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return found


def _is_req(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and bool(re.search(r"\bmark\.req$", ast.unparse(node)))


def _calls(nodes: Iterable[ast.AST]) -> list[ast.Call]:
    inner = (part for node in nodes for part in ast.walk(node))
    return [part for part in inner if isinstance(part, ast.Call) and _is_req(part.func)]


def _tests(body: list[ast.stmt], outer: list[ast.Call], prefix: str) -> Iterator[tuple[str, list[ast.Call]]]:
    """Each test below `body` with the markers on it, on its classes and in pytestmark."""
    assigned = (node for node in body if isinstance(node, ast.Assign | ast.AnnAssign))
    shared = outer + _calls(node for node in assigned if re.match(r"pytestmark\b", ast.unparse(node)))
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield f"{prefix}::{node.name}", shared + _calls(node.decorator_list)
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _tests(node.body, shared + _calls(node.decorator_list), f"{prefix}::{node.name}")


def collect_markers(source: str, path: str) -> tuple[list[Marker], list[str]]:
    """Markers of one file; one that reaches no test, or whose numbers cannot be read, is a problem."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        return [], [f"{path}:{error.lineno}: cannot be read, {error.msg}; correct the syntax"]
    markers, problems, used = [], [], set()
    collected = re.search(r"(^|/)test_[^/]*\.py$|_test\.py$", path)
    for test, calls in _tests(tree.body, [], path) if collected else ():
        for call in calls:
            place = f"{path}:{call.lineno}"
            used.add(call.func)
            numbers = [n for n in (getattr(arg, "value", None) for arg in call.args) if type(n) is int]
            markers += [Marker(number, test, place) for number in numbers]
            if call.keywords or not numbers or len(numbers) < len(call.args):
                problems.append(f"{place}: req takes plain row numbers; write them out, as in req(56, 57)")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_req(node) and node not in used:
            problems.append(f"{path}:{node.lineno}: this req marker marks no test; {PLACES}")
    return markers, list(dict.fromkeys(problems))


def _check_numbers(rows: Sequence[Row], markers: Sequence[Marker]) -> Iterator[str]:
    known, count = range(1, LAST_ROW + 1), Counter(row.number for row in rows)
    yield from (f"{TABLE}: row {n} is missing; add its line, with status not" for n in known if not count[n])
    for row in rows:
        if row.number not in known:
            yield f"{TABLE}:{row.line}: there is no row {row.number}; use 1 to {LAST_ROW}"
        elif count[row.number] > 1:
            yield f"{TABLE}:{row.line}: row {row.number} stands more than once; keep one line"
    for place, number in dict.fromkeys((marker.place, marker.row) for marker in markers):
        if number not in known:
            yield f"{place}: req({number}) names no row; use 1 to {LAST_ROW}"


def _check_row(row: Row, tests: list[str], anchors: Anchors) -> Iterator[str]:
    start = f"{TABLE}:{row.line}: row {row.number}"
    if row.status not in STATUSES:
        yield f"{start} has status {row.status!r}; use met, partly or not"
    elif row.status == "not" and tests:
        yield f"{start} is not, yet {tests[0]} marks it; set met or partly"
    elif row.status != "not" and not tests:
        yield f"{start} is {row.status}, but no test marks it; add @pytest.mark.req({row.number}) or set not"
    if row.status == "partly" and not row.where:
        yield f"{start} is partly; say in the last column what is missing"
    for page, slug in (found.groups() for found in PAGE.finditer(row.where)):
        known = anchors(page)
        if known is None:
            yield f"{start} names {page}, which is not there; name a page relative to docs/"
        elif slug is not None and slug not in known:
            near = difflib.get_close_matches(slug, sorted(known), 1, 0) or ["none: it has no headings"]
            yield f"{start}: {page} has no heading #{slug}; the nearest is {near[0]}"


def tests_of(number: int, markers: Iterable[Marker]) -> list[str]:
    return sorted({marker.test for marker in markers if marker.row == number})


def check(rows: Sequence[Row], markers: Sequence[Marker], anchors: Anchors) -> list[str]:
    """Every problem between table and markers, one line each."""
    each = [problem for row in rows for problem in _check_row(row, tests_of(row.number, markers), anchors)]
    return [*_check_numbers(rows, markers), *each]


def explain(number: int, rows: Iterable[Row], markers: Iterable[Marker]) -> str:
    found = [f"{row.number}: {row.text}\n{row.status}: {row.where}" for row in rows if row.number == number]
    return "\n".join([*(found or [f"no row {number}"]), *(tests_of(number, markers) or ["no test marks it"])])


def _anchors(page: str, root: Path) -> set[str] | None:
    file = (root / "docs" / page).resolve()
    return slugs(file.read_text("utf-8")) if file.is_file() and file.is_relative_to(root.resolve()) else None


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description="Check docs/requirements.md against the tests' req markers.")
    parser.add_argument("--json", action="store_true", help="print rows, counts and problems as JSON")
    parser.add_argument("--explain", type=int, metavar="N", help="print row N and the tests that show it")
    options = parser.parse_args(argv)
    if not (root / TABLE).is_file():
        parser.error(f"{root / TABLE} is not there")
    rows, problems = parse_table((root / TABLE).read_text("utf-8"))
    markers: list[Marker] = []
    for file in sorted((root / "tests").rglob("*.py")):
        found, unreadable = collect_markers(file.read_text("utf-8"), file.relative_to(root).as_posix())
        markers, problems = markers + found, problems + unreadable
    if options.explain is not None:
        print(explain(options.explain, rows, markers))
        return 0
    problems += check(rows, markers, lambda page: _anchors(page, root))
    counts = {name: sum(row.status == name for row in rows) for name in STATUSES}
    tests = len({marker.test for marker in markers})
    if options.json:
        each = [vars(row) | {"tests": tests_of(row.number, markers)} for row in rows]
        report = {"rows": each, "counts": counts | {"tests": tests}, "problems": problems}
        print(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        shares = ", ".join(f"{count} {name}" for name, count in counts.items())
        print(*problems, f"{len(rows)} rows: {shares}; {tests} tests carry a marker", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
