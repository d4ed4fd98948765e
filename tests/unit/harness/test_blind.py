"""Blind cases: apart from the others, and every use of them written down."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from proctor.cases.files import Placed, SuiteRead
from proctor.cases.suite import Suite
from proctor.errors import SuiteError
from proctor.harness.blind import blind_uses, log_of, note_use, select
from tests.unit.harness.planning import case

NOW = datetime(2026, 12, 3, 12, 5, 7, 999, tzinfo=UTC)
CASES = (case("a"), case("b", set="blind"), case("c", set="extended"), case("d", set="blind"))


def read(tmp_path: Path, *places: int) -> SuiteRead:
    path = tmp_path / "orders.yaml"
    suite = Suite(name="orders", title="t", tests="this", tests_not="that")
    return SuiteRead(path, suite, tuple(Placed(CASES[at], path, at) for at in places))


def note(suite: SuiteRead, run: str = "", at: datetime = NOW) -> None:
    note_use(suite, CASES[1::2], at, "before launch", run)


@pytest.mark.req(152)
def test_blind_cases_run_alone_and_the_others_without_them(tmp_path: Path) -> None:
    suite = read(tmp_path, 0, 1, 2, 3)
    assert [each.case.id for each in select(suite, blind=True)] == ["b", "d"]
    assert [each.case.id for each in select(suite, blind=False)] == ["a", "c"]


@pytest.mark.req(152)
@pytest.mark.parametrize(("places", "blind", "fix"), [((0, 2), True, "without --blind"), ((1,), False, "with --blind")])
def test_a_suite_without_such_cases_is_an_error_and_no_empty_run(
    tmp_path: Path, places: tuple[int, ...], blind: bool, fix: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        select(read(tmp_path, *places), blind)
    assert fix in caught.value.fix


@pytest.mark.req(152)
def test_each_use_is_a_line_beside_the_suite_with_time_run_reason_and_cases(tmp_path: Path) -> None:
    suite = read(tmp_path, 0, 1, 2, 3)
    assert blind_uses(suite.path) == ()
    note(suite, "r1", NOW.astimezone(timezone(timedelta(hours=8))))
    note(suite, "r2", NOW + timedelta(days=1))
    note_use(suite, CASES[1:2], NOW, "a look")
    lines = (tmp_path / "orders.blind.jsonl").read_text(encoding="utf-8").splitlines()
    assert {key: value for key, value in json.loads(lines[0]).items() if key != "ids"} == {
        "at": "2026-12-03T12:05:07Z",
        "run": "r1",
        "suite": "orders",
        "reason": "before launch",
        "cases": 2,
    }
    first, second, third = blind_uses(suite.path)
    assert [each.run for each in (first, second, third)] == ["r1", "r2", ""]
    assert first.ids == second.ids != third.ids


def test_writers_at_once_lose_no_line(tmp_path: Path) -> None:
    suite = read(tmp_path, 1)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: note(suite, f"r{number}"), range(200)))
    assert sorted(each.run for each in blind_uses(suite.path)) == sorted(f"r{number}" for number in range(200))


def test_a_last_line_without_its_end_is_ended_and_empty_lines_mean_nothing(tmp_path: Path) -> None:
    suite = read(tmp_path, 1)
    note(suite, "r1")
    log = log_of(suite.path)
    log.write_bytes(log.read_bytes().rstrip(b"\n"))
    note(suite, "r2")
    log.write_bytes(log.read_bytes() + b"\n")
    note(suite, "r3")
    assert [each.run for each in blind_uses(suite.path)] == ["r1", "r2", "r3"]


@pytest.mark.parametrize("line", ["<<<<<<< ours", "[]", '{"at": "2026-12-03"}', "\udcff"])
def test_a_line_that_is_no_use_is_an_error_with_its_number(tmp_path: Path, line: str) -> None:
    suite = read(tmp_path, 1)
    note(suite, "r1")
    log = log_of(suite.path)
    log.write_bytes(log.read_bytes() + line.encode("utf-8", "surrogateescape") + b"\n")
    with pytest.raises(SuiteError) as caught:
        blind_uses(suite.path)
    assert f"{log}:2: " in caught.value.message


@pytest.mark.req(152)
def test_a_use_that_cannot_be_written_down_is_refused(tmp_path: Path) -> None:
    suite = read(tmp_path, 1)
    log_of(suite.path).mkdir()
    with pytest.raises(SuiteError) as caught:
        note(suite)
    assert caught.value.code == "blind_log"
