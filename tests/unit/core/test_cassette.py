"""A tape is loaded whole or not at all, and every way of being broken has its own name."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from proctor.cassette import Cassette, load_cassette, parse_cassette, render_cassette, save_cassette
from proctor.errors import (
    CassetteError,
    CassetteMissing,
    CassetteTorn,
    CassetteUndecodable,
    CassetteUnwritable,
    CassetteVersion,
)
from proctor.interaction import Interaction
from proctor.paths import Layout
from tests.property.counts import count
from tests.unit.core.values import in_order, interaction, request, response

MADE = in_order(
    interaction(request(b'{"a": 1}', headers=(("Content-Type", "application/json"),)), response(b"line 1\nline 2\n")),
    interaction(request(method="GET", target="/x?a=1"), response(b"\x00\xff", headers=(("A", "1"), ("a", "2")))),
    interaction(request("你好".encode()), response("再见".encode(), status=404)),
)
TAPE = Cassette("t", MADE, {"recorded_at": "2026-01-01T00:00:00Z"})
DATA = render_cassette(TAPE)


def broken(data: bytes) -> CassetteError:
    """The error for a tape of these bytes."""
    with pytest.raises(CassetteError) as caught:
        parse_cassette("t", data)
    return caught.value


def edited(old: bytes, new: bytes) -> bytes:
    """The tape with one place changed by hand."""
    assert DATA.count(old) >= 1
    return DATA.replace(old, new, 1)


def test_a_tape_is_the_same_bytes_every_time_and_loads_as_it_was() -> None:
    assert render_cassette(TAPE) == DATA
    assert parse_cassette("t", DATA) == TAPE


def test_layout_comments_and_line_ends_may_change_without_breaking_the_seal() -> None:
    assert parse_cassette("t", b"# reviewed\n" + DATA) == TAPE
    assert parse_cassette("t", DATA.replace(b"\n", b"\r\n")) == TAPE
    assert parse_cassette("t", yaml.safe_dump(yaml.safe_load(DATA), sort_keys=False, indent=4).encode()) == TAPE


def test_headers_in_another_order_are_told_as_a_change() -> None:
    two = replace(request(), headers=(("B", "1"), ("A", "2")))
    data = render_cassette(Cassette("t", (interaction(two),)))
    error = broken(data.replace(b"      B: ['1']\n      A: ['2']\n", b"      A: ['2']\n      B: ['1']\n"))
    assert (error.code, "#0 (line 10) was changed" in error.message) == ("cassette_changed", True)


def test_a_missing_tape_is_told_with_the_nearest_name(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    save_cassette(layout.cassette("desk/refund"), TAPE)
    with pytest.raises(CassetteMissing) as caught:
        load_cassette(layout, "desk/refnd")
    assert 'did you mean "desk/refund"?' in caught.value.message


def test_bytes_that_are_not_utf8_are_told_with_their_line() -> None:
    error = broken(DATA[: DATA.index(b"line 2")] + b"\xff" + DATA[DATA.index(b"line 2") :])
    assert isinstance(error, CassetteUndecodable)
    assert error.code == "cassette_not_utf8"
    line = DATA[: DATA.index(b"line 2")].count(b"\n") + 1
    assert f"line {line} " in error.message


def test_what_is_not_yaml_is_told_with_its_line() -> None:
    error = broken(b"version: 1\ninteractions: [\n- }\n")
    assert (error.code, isinstance(error, CassetteUndecodable)) == ("cassette_not_yaml", True)
    assert "line 3" in error.message


@pytest.mark.parametrize("data", [b"", b"[]", b"version: 1\n", b"interactions", b"- interactions\n"])
def test_a_file_without_interactions_is_no_cassette(data: bytes) -> None:
    assert broken(data).code == "cassette_shape"


def test_interactions_that_are_no_list_are_told() -> None:
    assert broken(DATA[: DATA.index(b"\ninteractions:")] + b"\ninteractions: {}\n").code == "cassette_shape"


def test_python_objects_in_a_tape_are_refused_not_made(tmp_path: Path) -> None:
    marker = tmp_path / "made"
    data = f"version: 1\ninteractions: !!python/object/apply:os.mkdir ['{marker}']\n".encode()
    assert broken(data).code == "cassette_not_yaml"
    assert not marker.exists()


def test_a_tape_with_an_interaction_missing_is_short() -> None:
    lines = DATA[: DATA.rindex(b"- request:")]
    error = broken(lines)
    assert (error.code, isinstance(error, CassetteTorn)) == ("cassette_short", True)
    assert "sealed with 3 interactions, holds 2" in error.message


CHANGES: dict[str, tuple[bytes, bytes]] = {
    "body": (b"line 2", b"line 3"),
    "status": (b"code: 404", b"code: 200"),
    "status as text": (b"code: 404", b"code: '404'"),
    "url": (b"http://desk.test/x?a=1", b"http://desk.test/x?a=2"),
    "method": (b"method: GET", b"method: PUT"),
    "effect": (b"effect: read", b"effect: write"),
    "text": ("你好".encode(), "您好".encode()),
    "a key more": (b"why: declared", b"why: declared, more: 1"),
    "number past 64 bits": (b"code: 404", b"code: 99999999999999999999999"),
    "a date": (b"code: 404", b"code: 2026-01-01"),
    "a set": (b"code: 404", b"code: !!set {a, b}"),
    "a key that is no text": (b"code: 404", b"7: 404"),
}


@pytest.mark.parametrize(("old", "new"), CHANGES.values(), ids=CHANGES)
def test_any_edit_by_hand_is_told_as_a_change(old: bytes, new: bytes) -> None:
    error = broken(edited(old, new))
    assert (error.code, isinstance(error, CassetteTorn)) == ("cassette_changed", True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"alice: proctor-redacted-0001", b"alice: proctor-redacted-0002"),
        (b"recorded_at: '2026-01-01", b"recorded_at: '2027-01-01"),
    ],
    ids=["whose a credential is", "when it was recorded"],
)
def test_an_edit_of_what_the_seal_says_of_the_recording_is_told_as_a_change(old: bytes, new: bytes) -> None:
    named = {"desk": {"alice": "proctor-redacted-0001", "bob": "proctor-redacted-0002"}}
    data = render_cassette(replace(TAPE, stamp={**TAPE.stamp, "identities": named}))
    assert old in data
    assert broken(data.replace(old, new)).code == "cassette_changed"


def test_text_with_bytes_that_are_no_utf8_is_kept_wherever_it_stands() -> None:
    odd = "Gr\udcfc\udcdfe"
    asked = request(b"\xff", target=f"/{odd}", headers=(("X-Amz-Target", odd),))
    made = replace(interaction(asked, response(headers=(("X", odd),))), tool=odd, stand_in=odd)
    tape = Cassette("t", (replace(made, response=replace(made.response, reason=odd)),))
    assert parse_cassette("t", render_cassette(tape)) == tape


def test_a_recording_that_sealing_put_aside_is_no_tape_wherever_it_is_copied(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.cassettes.mkdir()
    layout.cassette("t").write_bytes(render_cassette(replace(TAPE, stamp={"aside": ["the answer broke off"]})))
    with pytest.raises(CassetteTorn, match="put this recording aside: the answer broke off") as caught:
        load_cassette(layout, "t")
    assert caught.value.code == "cassette_aside"


def test_two_interactions_changed_places_are_told_as_a_change() -> None:
    assert broken(render_with(MADE[1], MADE[0], MADE[2])).code == "cassette_changed"


def render_with(*made: Interaction) -> bytes:
    """Other interactions under the seal of the tape."""
    other = render_cassette(replace(TAPE, interactions=made))
    return DATA[: DATA.index(b"\ninteractions:")] + other[other.index(b"\ninteractions:") :]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ((b"v: 1", b"v: 2"), "cassette_newer"),
        ((b"v: 1", b"v: '1'"), "cassette_newer"),
        ((b"version: 1", b"version: 2"), "cassette_version"),
        ((b"version: 1", b"version: '1'"), "cassette_version"),
    ],
)
def test_a_tape_of_another_version_is_told_apart_from_a_broken_one(change: tuple[bytes, bytes], code: str) -> None:
    error = broken(edited(*change))
    assert (error.code, isinstance(error, CassetteVersion)) == (code, True)


@pytest.mark.parametrize("seal", [b"x-proctor:", b"metadata:\n  x-proctor:"], ids=["renamed", "emptied"])
def test_a_tape_of_ours_whose_seal_is_gone_is_never_taken_for_one_of_vcrpys(seal: bytes) -> None:
    error = broken(edited(seal, seal[:-10] + b"x-other:"))
    assert (error.code, isinstance(error, CassetteTorn)) == ("cassette_unsealed", True)


def test_no_truncation_of_a_tape_is_ever_loaded_as_a_shorter_one() -> None:
    rng = random.Random(20260101)
    cuts = {rng.randrange(len(DATA)) for _ in range(count(200, 2000))} | {len(DATA) - 1, 0}
    for cut in sorted(cuts):
        try:
            assert parse_cassette("t", DATA[:cut]) == TAPE, cut  # only the last line end may be gone
            assert DATA[cut:] == b"\n"
        except CassetteError:
            pass


def test_the_error_of_a_file_names_it(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.cassettes.mkdir()
    layout.cassette("t").write_bytes(b"\xff")
    with pytest.raises(CassetteUndecodable) as caught:
        load_cassette(layout, "t")
    assert caught.value.message.startswith(str(layout.cassette("t")))


def refuse(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_save_that_fails_leaves_the_old_tape_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "t.yaml"
    save_cassette(path, TAPE)
    failing: Callable[..., None] = refuse
    monkeypatch.setattr(step, failing)
    with pytest.raises(CassetteUnwritable, match="No space"):
        save_cassette(path, replace(TAPE, interactions=MADE[:1]))
    assert path.read_bytes() == DATA
    assert list(tmp_path.iterdir()) == [path]


def test_after_which_writes_an_appended_call_was_made_is_kept_none_of_them_included() -> None:
    made = in_order(*MADE[:2], replace(MADE[2], after=()), replace(MADE[2], after=(0, 2)))
    tape = replace(TAPE, interactions=made)
    data = render_cassette(tape)
    assert parse_cassette("t", data) == tape
    assert data.count(b"after: []") == 1
    assert data.count(b"after: [0, 2]") == 1
