"""From tests to the names of their tapes."""

from __future__ import annotations

from pathlib import PurePath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proctor.paths import cassette_name
from proctor.pytest_plugin.naming import shared_names, tape_name


@pytest.mark.parametrize(
    ("file", "test", "name"),
    [
        ("tests/test_refund.py", "test_full", "tests/test_refund/test_full"),
        ("tests/test_refund.py", "test_full[en]", "tests/test_refund/test_full-en"),
        ("tests/test_refund.py", "TestRefund.test_full[zh-2]", "tests/test_refund/TestRefund.test_full-zh-2"),
        ("test_a.py", "test_x[../../etc/passwd]", "test_a/test_x-..-..-etc-passwd"),
        (".hidden/test a.py", "test_x[-1]", "hidden/test-a/test_x--1"),
        ("test_a.py", "test_退款[中文]", "test_a/test_退款-中文"),
    ],
)
def test_a_tape_is_named_after_its_test(file: str, test: str, name: str) -> None:
    assert tape_name(PurePath(file), test) == name


@given(st.lists(st.text(min_size=1), min_size=1, max_size=3).map("/".join), st.text())
@example("tests/test_x.py", "test_x[" + "界" * 200 + "]")
@example("tests/test_x.py", "[]")
def test_a_name_is_always_one_that_a_tape_may_have(file: str, test: str) -> None:
    name = tape_name(PurePath(f"test_{file[:50]}.py"), f"test_{test}")
    assert cassette_name(name) == name


def test_long_names_that_begin_alike_stay_apart() -> None:
    one, two = (tape_name(PurePath("tests/test_x.py"), f"test_x[{'long ' * 80}{end}]") for end in "12")
    assert one != two
    assert len(one.encode()) <= 199


def test_tests_whose_tapes_a_file_system_may_not_tell_apart_are_found() -> None:
    composed, decomposed = "t/caf\u00e9", "t/cafe\u0301"
    named = [("a", "t/X"), ("b", "t/x"), ("c", composed), ("d", decomposed), ("e", "t/other")]
    assert shared_names(named) == {"a": ("b",), "b": ("a",), "c": ("d",), "d": ("c",)}
