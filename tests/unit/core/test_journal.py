"""The journal: private, whole lines, honest about damage, and never in the way of an answer."""

from __future__ import annotations

import json
import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from proctor.errors import JournalError
from proctor.interaction import Interaction, Request, Response
from proctor.journal import JournalWriter, is_being_written, read_journal
from tests.unit.core.values import interaction, request, response

HEAD = {"session": "s", "cassette": "t", "services": {}}


def written(path: Path, *made: Interaction) -> bytes:
    """The bytes of a closed journal."""
    journal = JournalWriter(path, HEAD)
    for each in made:
        journal.interaction(each)
    journal.close()
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal goes; its folder is not there yet."""
    return tmp_path / "journals" / "t.s.jsonl"


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_nobody_else_can_read_it_whatever_the_umask(path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        JournalWriter(path, HEAD).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_it_gives_back_every_kind_of_line_in_order_of_the_requests(path: Path) -> None:
    journal = JournalWriter(path, HEAD)
    kept, live = interaction(request(b"k"), index=3), interaction(request(b"l"), index=1)
    journal.interaction(kept, client_gone=True, rewrites=["header Location: http://real.test/x -> desk/x"])
    journal.interaction(replace(kept, index=0))
    journal.interaction(live, kept=False)
    journal.row({"index": 2, "arguments": {"big": 2**70}})
    journal.row_line(b'{"index":4}\n')
    journal.fault("answer_cut", "the real service broke off")
    journal.close()
    content = read_journal(path)
    assert content.head == HEAD
    assert content.interactions == (replace(kept, index=0), kept)
    assert content.live == (live,)
    assert content.rows == ({"index": 2, "arguments": {"big": 2**70}}, {"index": 4})
    assert [fault["code"] for fault in content.faults] == ["answer_cut"]
    assert content.clients_gone == {3}
    assert content.rewrites == {3: ("header Location: http://real.test/x -> desk/x",)}
    assert not content.torn


def test_each_line_is_in_the_file_as_soon_as_it_is_written(path: Path) -> None:
    journal = JournalWriter(path, HEAD)
    journal.interaction(interaction(request(b"k")))
    assert read_journal(path).interactions == (interaction(request(b"k")),)
    journal.close()


def test_an_existing_journal_is_never_written_over(path: Path) -> None:
    before = written(path)
    with pytest.raises(JournalError) as caught:
        JournalWriter(path, HEAD)
    assert caught.value.code == "journal_left"
    assert path.read_bytes() == before


def test_whether_its_recorder_is_alive_can_be_told(path: Path) -> None:
    journal = JournalWriter(path, HEAD)
    assert is_being_written(path)
    journal.close()
    assert not is_being_written(path)


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_last_line_is_left_out_and_said_so(path: Path, cut: int) -> None:
    first, second = interaction(request(b"1")), interaction(request(b"2"), index=1)
    path.write_bytes(written(path, first, second)[:-cut])
    content = read_journal(path)
    assert content.torn
    assert content.interactions == (first,)


def test_zeros_at_the_end_as_a_power_cut_leaves_them_are_a_torn_line(path: Path) -> None:
    path.write_bytes(written(path, interaction()) + b"\x00" * 512)
    content = read_journal(path)
    assert content.torn
    assert len(content.interactions) == 1


DAMAGE = {
    "half a line": b'{"line":"interaction","index"',
    "empty line": b"",
    "not UTF-8": b'{"line":"row","row":{"a":"\xff"}}',
    "no object": b"[]",
    "a number": b"7",
    "no kind": b"{}",
    "row without its row": b'{"line":"row"}',
    "interaction without its fields": b'{"line":"interaction","index":0,"kept":true}',
    "fields of another type": b'{"line":"interaction","index":"x","kept":true,"client_gone":false}',
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_line_in_the_middle_is_an_error(path: Path, damage: bytes) -> None:
    first, second, third = written(path, interaction(), interaction(index=1)).splitlines(keepends=True)
    path.write_bytes(first + second + damage + b"\n" + third)
    with pytest.raises(JournalError) as caught:
        read_journal(path)
    assert caught.value.code == "journal_damaged"


def test_the_number_of_a_damaged_line_is_told(path: Path) -> None:
    path.write_bytes(written(path) + b"{\n")
    with pytest.raises(JournalError, match="line 2 is damaged"):
        read_journal(path)


@pytest.mark.parametrize("data", [b"", b"\n", b'{"line":"row","row":{}}\n', b"[]\n", b"7\n", b'{"line":"sess'])
def test_a_file_that_does_not_begin_as_a_journal_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(data)
    with pytest.raises(JournalError):
        read_journal(path)


def test_a_journal_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JournalError) as caught:
        read_journal(tmp_path / "none.jsonl")
    assert caught.value.code == "journal_unreadable"


@contextmanager
def disk_with(room: int, path: Path) -> Iterator[None]:
    """The kernel refuses to let any file of this process grow past the journal's size and `room`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("room", [0, 10])
def test_a_full_disk_is_kept_as_failed_and_raises_nothing(path: Path, room: int) -> None:
    journal = JournalWriter(path, HEAD)
    journal.interaction(interaction())
    before = path.read_bytes()
    with disk_with(room, path):
        journal.interaction(interaction(index=1))
    failed = journal.failed
    assert failed is not None
    assert (failed.code, failed.exit_code) == ("journal_failed", 4)
    assert str(path) in failed.message
    journal.interaction(interaction(index=2))
    journal.fault("x", "y")
    journal.close()
    assert journal.failed is failed
    assert path.read_bytes()[: len(before)] == before
    assert len(path.read_bytes()) == len(before) + room  # nothing is written behind a torn line
    assert [each.index for each in read_journal(path).interactions] == [0]


def test_a_disk_that_is_full_from_the_start_refuses_the_recording(tmp_path: Path) -> None:
    marker = tmp_path / "empty"
    marker.touch()
    with disk_with(0, marker), pytest.raises(JournalError) as caught:
        JournalWriter(tmp_path / "t.jsonl", HEAD)
    assert caught.value.code == "journal_failed"


def test_text_with_bytes_that_are_no_utf8_is_kept_wherever_it_stands(path: Path) -> None:
    odd = "Gr\udcfc\udcdfe"
    made = Interaction(
        index=0,
        request=Request("desk", "POST", f"/{odd}", (("X-Amz-Target", odd),), b"\xff"),
        response=Response(200, odd, (("X", odd),), b"\xff"),
        url=f"http://desk.test/{odd}",
        effect="read",
        effect_why="guessed",
        tool=odd,
        stand_in=odd,
    )
    written(path, made)
    assert read_journal(path).interactions == (made,)


def test_a_row_and_a_fault_with_such_text_are_kept_too(path: Path) -> None:
    journal = JournalWriter(path, HEAD)
    journal.row({"index": 0, "target": "/\udcff", "arguments": 2**70})
    journal.fault("x", "/\udcff was asked")
    journal.close()
    content = read_journal(path)
    assert len(content.rows) == len(content.faults) == 1


def test_a_body_is_readable_text_where_it_can_be(path: Path) -> None:
    lines = written(path, interaction(request('{"q": "你好"}'.encode()), response(b"\x00\xff"))).splitlines()
    line = json.loads(lines[1])
    assert line["request_body"] == '{"q": "你好"}'
    assert line["response_body"] == ["AP8="]
    assert "你好".encode() in lines[1]
