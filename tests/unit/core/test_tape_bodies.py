"""Bodies beside a tape are part of it: written first, read and compared whole, and gone with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from vcr.serialize import deserialize
from vcr.serializers import yamlserializer

from proctor.cassette import Cassette, load_cassette, save_cassette
from proctor.errors import CassetteTorn, CassetteUndecodable, CassetteUnwritable
from proctor.paths import Layout
from tests.unit.core.values import in_order, interaction, request, response

BIG, OTHER = b"\x00\xff" * 4000, "订单\r\n".encode() * 2000
TAPE = Cassette(
    "t",
    in_order(
        interaction(request(BIG), response(OTHER)),
        interaction(request(BIG), response(b"small")),
    ),
    {"recorded_at": "2026-01-01T00:00:00Z"},
)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path)
    save_cassette(made.cassette("a/t"), TAPE, body_files_over=1024)
    return made


def files(layout: Layout) -> list[Path]:
    return sorted((layout.cassettes / "a" / "t.bodies").iterdir())


def broken(layout: Layout) -> CassetteTorn:
    with pytest.raises(CassetteTorn) as caught:
        load_cassette(layout, "a/t")
    return caught.value


def test_large_bodies_lie_beside_the_tape_each_once_and_come_back_whole(layout: Layout) -> None:
    assert load_cassette(layout, "a/t") == replace(TAPE, name="a/t")
    assert sorted(path.read_bytes() for path in files(layout)) == sorted([BIG, OTHER])
    text = layout.cassette("a/t").read_text(encoding="utf-8")
    assert len(text) < 2500
    assert "small" in text


def test_vcrpy_refuses_such_a_tape_and_never_plays_a_wrong_body(layout: Layout) -> None:
    with pytest.raises(ValueError, match="could not determine a constructor for the tag '!proctor/body'"):
        deserialize(layout.cassette("a/t").read_text(encoding="utf-8"), yamlserializer)


def test_a_body_that_is_gone_is_named_with_its_line(layout: Layout) -> None:
    gone = files(layout)[0]
    gone.unlink()
    error = broken(layout)
    assert (error.code, gone.name in error.message) == ("cassette_body_missing", True)
    lines = layout.cassette("a/t").read_text(encoding="utf-8").splitlines()
    line = next(number for number, line in enumerate(lines, 1) if gone.name in line)
    assert f"line {line}: " in error.message


@pytest.mark.parametrize("change", [lambda old: old[:-1], lambda old: old + b"x", lambda old: b"y" + old[1:]])
def test_a_body_that_was_changed_is_named(layout: Layout, change: object) -> None:
    path = files(layout)[1]
    path.write_bytes(change(path.read_bytes()))  # type: ignore[operator]
    assert broken(layout).code == "cassette_body_changed"


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "x.body", "f" * 32])
def test_a_tape_cannot_name_any_other_file(layout: Layout, name: str) -> None:
    path = layout.cassette("a/t")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(files(layout)[0].name, name), encoding="utf-8")
    assert broken(layout).code == "cassette_changed"
    from proctor.tape_bodies import read_body
    from proctor.tape_yaml import BodyFile

    with pytest.raises(CassetteTorn) as caught:
        read_body(layout.cassettes, BodyFile(name, 1))
    assert caught.value.code == "cassette_body_name"


def test_a_tag_without_its_two_fields_is_no_yaml_of_ours(layout: Layout) -> None:
    path = layout.cassette("a/t")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(", bytes: ", ", size: "), encoding="utf-8")
    with pytest.raises(CassetteUndecodable, match="wants a file and its length"):
        load_cassette(layout, "a/t")


def test_saving_again_deletes_what_is_no_longer_part_of_it_and_nothing_else(layout: Layout) -> None:
    foreign = layout.cassettes / "a" / "t.bodies" / "notes.txt"
    foreign.write_text("mine")
    save_cassette(layout.cassette("a/t"), replace(TAPE, interactions=TAPE.interactions[1:]), body_files_over=1024)
    assert [path.name for path in files(layout) if path != foreign] == [
        path.name for path in files(layout) if path.suffix == ".body" and path.read_bytes() == BIG
    ]
    assert foreign.exists()
    foreign.unlink()
    save_cassette(layout.cassette("a/t"), TAPE)
    assert not (layout.cassettes / "a" / "t.bodies").exists()
    assert load_cassette(layout, "a/t").interactions == TAPE.interactions


def test_a_save_that_fails_leaves_the_old_tape_whole(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    other = in_order(interaction(request(b"z" * 5000), response(b"small")))
    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(CassetteUnwritable, match="No space left"):
        save_cassette(layout.cassette("a/t"), replace(TAPE, interactions=other), body_files_over=1024)
    assert load_cassette(layout, "a/t").interactions == TAPE.interactions
