"""The table of a streamed body stays true whatever becomes of the body."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cassette import Cassette, parse_cassette, parse_edited, render_cassette
from proctor.errors import CassetteTorn, CassetteUndecodable
from proctor.interaction import Response
from proctor.pieces import Pieces, fitted, resized, table
from proctor.redaction.redactor import Redactor
from proctor.tape_format import times_of, to_item
from proctor.tape_seal import sealed
from proctor.tape_yaml import EXTENSION, dump
from tests.property.exchanges import bodies, tables
from tests.unit.core.values import interaction, request, response

EVENTS = [b'data: {"n":%d}\n\n' % n for n in range(4)]
BODY = b"".join(EVENTS)
TABLE = Pieces(tuple(map(len, EVENTS)), (10, 410, 810, 1210))
SECRET = "sk-proj-9f8e7d6c5b4a39281706f5e4d3c2b1a0"


def streamed(body: bytes = BODY, pieces: Pieces | None = TABLE) -> Response:
    return replace(response(body, headers=(("Content-Type", "text/event-stream"),)), pieces=pieces)


def test_what_came_in_one_piece_has_no_table() -> None:
    assert table([5], [0.1]) is None
    assert table([5, 6], [0.1, 0.25]) == Pieces((5, 6), (100, 250))


def test_a_body_is_divided_into_the_pieces_that_came() -> None:
    assert list(TABLE.of(BODY)) == EVENTS


@pytest.mark.parametrize(
    "wrong", [Pieces((3, 4), (1, 2)), Pieces((60,), (1, 2)), Pieces((59, 1), (2, 1)), Pieces((), ())]
)
def test_a_table_of_another_body_does_not_fit(wrong: Pieces) -> None:
    assert not wrong.fit(b"x" * 60)


def test_a_change_in_one_event_moves_no_other_event_into_another_piece() -> None:
    changed = BODY.replace(b'{"n":1}', b'{"placeholder":"proctor-redacted-0001"}')
    new = fitted(TABLE, BODY, changed)
    assert new is not None
    assert new.anew
    assert [piece[-2:] for piece in new.of(changed)] == [b"\n\n"] * 4
    assert new.at == TABLE.at


def test_a_placeholder_that_spans_pieces_comes_whole_in_the_first_of_them() -> None:
    old, changed = b'{"key":"abcdefghij"}', b'{"key":"proctor-redacted-0001"}'
    new = fitted(Pieces((10, 4, 6), (1, 2, 3)), old, changed)
    assert new is not None
    assert list(new.of(changed)) == [b'{"key":"proctor-redacted-0001', b'"}']
    assert new.at == (1, 3)


@pytest.mark.parametrize("end", [b"", b"data: [DONE]", b"\n"])
def test_what_an_edit_puts_at_the_very_end_belongs_to_the_last_piece(end: bytes) -> None:
    old = BODY + end
    *first, last = EVENTS
    new = fitted(Pieces((*TABLE.lengths[:-1], len(last + end)), TABLE.at), old, old + b": bye")
    assert new is not None
    assert list(new.of(old + b": bye")) == [*first, last + end + b": bye"]
    assert new.fit(old + b": bye")


def test_nothing_left_to_divide_needs_no_table() -> None:
    assert fitted(TABLE, BODY, b"") is None
    assert fitted(Pieces((1, 1), (1, 2)), b"ab", b"c") is None


@given(st.data(), bodies, bodies)
def test_a_fitted_table_fits_whatever_the_body_became(data: st.DataObject, old: bytes, new: bytes) -> None:
    pieces = data.draw(tables(old))
    for made in (fitted(pieces, old, new), pieces and resized(pieces, len(new))):
        assert made is None or (made.fit(new) and len(made.lengths) > 1)


@given(st.data(), *[st.lists(st.sampled_from([b"a", b"bb", b"c\n"]), max_size=6).map(b"".join)] * 2)
def test_a_fitted_table_fits_also_where_the_bodies_are_alike(data: st.DataObject, old: bytes, new: bytes) -> None:
    made = fitted(data.draw(tables(old)), old, new)
    assert made is None or made.fit(new)


@given(st.data(), st.lists(st.sampled_from([b"a", b"bb", b"ccc\n", b"\n\n"]), max_size=9))
def test_unchanged_text_around_a_change_stays_in_its_pieces(data: st.DataObject, parts: list[bytes]) -> None:
    old = b"".join(parts) + b"SECRET" + b"".join(parts)
    new = old.replace(b"SECRET", b"X")
    made = fitted(data.draw(tables(old)), old, new)
    if made is not None and made.anew:
        before = old.index(b"SECRET")
        ends = [sum(made.lengths[: n + 1]) for n in range(len(made.lengths))]
        assert all(old[:end] == new[:end] for end in ends if end <= before)


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_redaction_makes_the_table_anew_and_says_so(coding: str) -> None:
    plain = BODY + b'data: {"api_key": "%s"}\n\n' % SECRET.encode()
    body = gzip.compress(plain) if coding else plain
    half = len(body) // 2
    made = interaction(request(), streamed(body, Pieces((half, len(body) - half), (1, 2))))
    headers = (*made.response.headers, *((("Content-Encoding", coding),) if coding else ()))
    made = replace(made, response=replace(made.response, headers=headers))
    clean = Redactor.over([made]).interaction(made).response
    assert clean.body != body
    assert clean.pieces is not None
    assert clean.pieces.fit(clean.body)
    assert clean.pieces.anew
    kept = replace(made, response=clean)
    assert parse_cassette("t", render_cassette(Cassette("t", (kept,)))).interactions == (kept,)


def tape_with(**extra: Any) -> bytes:
    """A well sealed tape of one streamed answer, with something else in its extension."""
    made = interaction(request(), streamed())
    item = to_item(made)
    item["response"][EXTENSION].update(extra)
    seal = sealed({}, [times_of(made)], [item])
    return dump({"version": 1, "metadata": {EXTENSION: seal}, "interactions": [item]}).encode()


@pytest.mark.parametrize("wrong", ["15 15 15", "15 15 15 14", "1 2 x", "", "0 15 15 15 15"])
def test_a_table_that_does_not_fit_its_body_is_an_error_with_a_name(wrong: str) -> None:
    assert parse_cassette("t", tape_with()).interactions[0].response == streamed()
    with pytest.raises(CassetteUndecodable) as refused:
        parse_cassette("t", tape_with(pieces=wrong))
    assert refused.value.code == "cassette_pieces"


def test_a_table_that_was_changed_by_hand_breaks_the_seal() -> None:
    text = render_cassette(Cassette("t", (interaction(request(), streamed()),)))
    for old, new in ((b"pieces: 15 15 15 15", b"pieces: 14 16 15 15"), (b"10 410 810 1210", b"10 411 810 1210")):
        assert old in text
        with pytest.raises(CassetteTorn, match="changed after it was sealed"):
            parse_cassette("t", text.replace(old, new))


def test_an_edited_body_gets_a_table_that_fits_when_it_is_sealed_again(tmp_path: Any) -> None:
    text = render_cassette(Cassette("t", (interaction(request(), streamed()),)))
    edited = parse_edited("t", text.replace(b'{"n":2}', b'{"number":2000}'), tmp_path)
    (kept,) = edited.cassette.interactions
    assert not edited.as_sealed
    assert kept.response.pieces is not None
    assert kept.response.pieces.fit(kept.response.body)
    assert (kept.response.pieces.anew, kept.response.pieces.at) == (True, TABLE.at)


def test_an_ordinary_answer_takes_no_room_for_a_table() -> None:
    text = render_cassette(Cassette("t", (interaction(),))).decode()
    assert "pieces" not in text
    assert "times: [[0.0, 0.0]]" in text
