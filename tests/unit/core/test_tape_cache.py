"""The cache of a large tape is fast, safe to delete, and never believed over the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proctor import cassette, tape_cache
from proctor.cassette import Cassette, load_cassette, render_cassette, save_cassette
from proctor.errors import CassetteError
from proctor.paths import Layout
from tests.unit.core.values import in_order, interaction, request, response

LARGE = Cassette(
    "t",
    in_order(
        interaction(request(b"\xff" * 200_000, headers=(("X", "caf\udce9"),)), response("再见".encode() * 40_000)),
        interaction(request(b'{"a": 1}'), response(b"", status=204)),
    ),
    {"recorded_at": "2026-01-01T00:00:00Z", "identities": {"desk": {"alice": "proctor-redacted-0001"}}},
)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A project with one large tape that was loaded once."""
    made = Layout(tmp_path)
    save_cassette(made.cassette("t"), LARGE)
    assert load_cassette(made, "t") == LARGE
    return made


def cache_of(layout: Layout) -> Path:
    return layout.tape_cache / "t.json"


def refuse(_data: bytes) -> None:
    raise AssertionError("the YAML was read")


def test_a_large_tape_is_loaded_from_its_cache_and_is_the_same(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cassette, "read", refuse)
    assert load_cassette(layout, "t") == LARGE


def test_a_small_tape_has_none(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    save_cassette(layout.cassette("t"), replace(LARGE, interactions=LARGE.interactions[1:]))
    load_cassette(layout, "t")
    assert not layout.tape_cache.exists()


def test_a_cache_that_is_gone_is_made_again(layout: Layout) -> None:
    cache_of(layout).unlink()
    assert load_cassette(layout, "t") == LARGE
    assert cache_of(layout).is_file()


def test_an_edit_of_the_file_shows_though_the_cache_is_there(layout: Layout) -> None:
    path = layout.cassette("t")
    path.write_bytes(path.read_bytes().replace(b"code: 204", b"code: 200"))
    with pytest.raises(CassetteError, match=r"#1 \(line \d+\) was changed"):
        load_cassette(layout, "t")


def test_a_cache_of_other_content_is_not_believed(layout: Layout) -> None:
    other = replace(LARGE, stamp={"recorded_at": "1999-01-01T00:00:00Z"})
    data = layout.cassette("t").read_bytes()
    _, form = cassette._parsed("t", render_cassette(other), None)
    assert form is not None
    tape_cache.TapeCache(cache_of(layout), data).write(form)
    assert load_cassette(layout, "t") == LARGE


@pytest.mark.parametrize("at", [0, 30, 200, 100_000, -1])
def test_a_damaged_cache_is_not_believed_and_made_again(layout: Layout, at: int) -> None:
    held = bytearray(cache_of(layout).read_bytes())
    good = bytes(held)
    held[at] ^= 1
    cache_of(layout).write_bytes(held)
    assert load_cassette(layout, "t") == LARGE
    assert cache_of(layout).read_bytes() == good


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    save_cassette(layout.cassette("t"), LARGE)
    layout.ensure_state()
    (layout.state / "cache").write_text("a file where the folder should be")
    assert load_cassette(layout, "t") == LARGE
