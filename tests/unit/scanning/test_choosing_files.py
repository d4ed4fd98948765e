"""Which files are tapes: by what they hold, and all others are named with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.scanning.files import Chosen, chosen
from tests.unit.scanning.tapes import item, tape

TAPE = tape(item())


def put(folder: Path, **files: bytes) -> None:
    for name, data in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def names(found: Chosen, folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in found.tapes)


def test_a_folder_is_walked_and_tools_own_folders_are_named_as_passed_over(tmp_path: Path) -> None:
    put(tmp_path, a_yaml=TAPE, deep__er__b_yml=TAPE, _git__c_yaml=TAPE, _proctor__aside__d_yaml=TAPE)
    put(tmp_path, env__pyvenv_cfg=b"", env__e_yaml=TAPE)
    (tmp_path / "link").symlink_to(tmp_path / "deep")
    found = chosen([tmp_path])
    assert names(found, tmp_path) == ["a.yaml", "deep/er/b.yml"]
    assert {one.path.name for one in found.skipped} == {".git", ".proctor", "env", "link"}


def test_a_folder_that_is_named_itself_is_walked_whatever_its_name(tmp_path: Path) -> None:
    put(tmp_path, _proctor__aside__d_yaml=TAPE)
    assert names(chosen([tmp_path / ".proctor"]), tmp_path) == [".proctor/aside/d.yaml"]


@pytest.mark.parametrize("name", ["plain", "b_json", "c_vcr", "d_cassette"])
def test_a_tape_is_told_by_its_content_where_its_ending_says_little(name: str, tmp_path: Path) -> None:
    put(tmp_path, **{name: b"# by hand\n---\n" + TAPE})
    assert len(chosen([tmp_path]).tapes) == 1


def test_one_line_of_json_is_a_tape(tmp_path: Path) -> None:
    put(tmp_path, a_json=b'{"version": 1, "interactions": []}', b_txt=b'{"version": 1, "interactions": []}')
    assert names(chosen([tmp_path]), tmp_path) == ["a.json", "b.txt"]


def test_other_files_are_skipped_with_the_reason_and_no_error(tmp_path: Path) -> None:
    put(tmp_path, README_md=b"tapes:\n\n    interactions:\n", config_yaml=b"a: 1\n", x_png=b"\x89PNG\xff")
    files = sorted(tmp_path.iterdir())
    found = chosen(files)
    assert (found.tapes, found.errors) == ({}, [])
    assert [(one.path, one.named) for one in found.skipped] == [(path, True) for path in files]
    assert all(one.why.startswith("no tape: ") for one in found.skipped)


@pytest.mark.parametrize("holding", [{}, {"README_md": b"no tapes here"}])
def test_a_folder_without_a_tape_is_an_error_also_beside_one_that_has_some(
    holding: dict[str, bytes], tmp_path: Path
) -> None:
    put(tmp_path / "full", a_yaml=TAPE)
    (tmp_path / "bare").mkdir()
    put(tmp_path / "bare", **holding)
    found = chosen([tmp_path / "bare", tmp_path / "full"])
    assert [(path.name, error.code) for path, error in found.errors] == [("bare", "scan_no_tape")]
    assert len(found.tapes) == 1


def test_what_is_not_there_or_cannot_be_read_is_noted_and_the_rest_goes_on(tmp_path: Path) -> None:
    put(tmp_path, a_yaml=TAPE)
    (tmp_path / "b.yaml").symlink_to(tmp_path / "gone")
    found = chosen([tmp_path / "none", tmp_path])
    assert [error.code for _, error in found.errors] == ["scan_missing", "scan_unreadable"]
    assert names(found, tmp_path) == ["a.yaml"]


def test_yaml_in_another_charset_is_taken_for_a_tape_so_that_it_is_no_silent_pass(tmp_path: Path) -> None:
    put(tmp_path, a_yaml=TAPE.decode().encode("utf-16"))
    assert names(chosen([tmp_path]), tmp_path) == ["a.yaml"]


def test_a_body_beside_a_tape_stands_for_its_tape_and_one_without_a_tape_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, a_yaml=TAPE, a_bodies__x_body=b"x", lost_bodies__y_body=b"y")
    assert names(chosen([tmp_path / "a.bodies" / "x.body"]), tmp_path) == ["a.yaml"]
    assert names(chosen([tmp_path / "a.yaml", tmp_path / "a.bodies"]), tmp_path) == ["a.yaml"]
    assert [(path.name, error.code) for path, error in chosen([tmp_path]).errors] == [("lost.yaml", "scan_unreadable")]
