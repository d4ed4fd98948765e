"""A cassette's name is a plain path below `cassettes/`, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.errors import UsageError
from proctor.paths import Layout, cassette_name


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("refund", "refund"),
        ("refund.yaml", "refund"),
        ("cassettes/refund.yaml", "refund"),
        ("./cassettes/desk/refund.yaml", "desk/refund"),
        ("desk/refund-2_b", "desk/refund-2_b"),
        ("退款/第一", "退款/第一"),
        ("v1.2", "v1.2"),
        ("a@b+c", "a@b+c"),
    ],
)
def test_what_people_type_becomes_the_plain_name(typed: str, name: str) -> None:
    assert cassette_name(typed) == name
    assert Layout(Path("/p")).cassette(typed) == Path(f"/p/cassettes/{name}.yaml")


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".yaml",
        "cassettes/",
        "..",
        "../x",
        "a/../../x",
        "a/..",
        "./../x",
        "cassettes/../x",
        "/etc/passwd",
        "cassettes//etc/passwd",
        "a//b",
        "a/",
        "a\\b",
        "..\\x",
        ".hidden",
        "a/.hidden",
        "./.git/config",
        "a\x00b",
        "a\n",
        "a b",
        "~root",
        "C:x",
        "x" * 201,
        "退" * 67,
    ],
)
def test_a_name_that_climbs_out_or_hides_is_refused(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        cassette_name(name)
    assert caught.value.code == "cassette_name"
    with pytest.raises(UsageError):
        Layout(Path("/p")).cassette(name)


def test_every_tape_is_listed_by_the_name_that_finds_it(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert layout.cassette_names() == []
    for name in ("b", "a/deep/one", "v1.2"):
        layout.cassette(name).parent.mkdir(parents=True, exist_ok=True)
        layout.cassette(name).touch()
    (layout.cassettes / "notes.txt").touch()
    assert layout.cassette_names() == ["a/deep/one", "b", "v1.2"]
    assert all(layout.cassette(name).is_file() for name in layout.cassette_names())


def test_the_state_folder_ignores_itself_and_a_changed_ignore_file_is_left_alone(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.ensure_state()
    ignore = layout.state / ".gitignore"
    assert ignore.read_text(encoding="utf-8") == "*\n"
    ignore.write_text("mine\n", encoding="utf-8")
    layout.ensure_state()
    assert ignore.read_text(encoding="utf-8") == "mine\n"
