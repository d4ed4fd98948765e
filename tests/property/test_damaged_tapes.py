"""Whatever happens to a tape's file, it loads as it was sealed or is an error with a name: never a shorter tape."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from proctor.cassette import Cassette, parse_cassette, render_cassette
from proctor.errors import CassetteError
from proctor.interaction import Interaction
from tests.property.counts import examples
from tests.property.exchanges import interactions

Damage = Callable[[bytes, Random], bytes]

some = st.lists(interactions(), min_size=1, max_size=5).map(
    lambda made: tuple(replace(interaction, index=index) for index, interaction in enumerate(made))
)


def truncated(data: bytes, rng: Random) -> bytes:
    return data[: rng.randrange(len(data))]


def bit_flipped(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def lines_deleted(data: bytes, rng: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    return b"".join(lines[:at] + lines[at + rng.choice((1, 1, 1, 2, 5)) :])


def items_of(data: bytes) -> tuple[bytes, list[bytes]]:
    head, *items = re.split(rb"(?m)^(?=- request:)", data)
    return head, items


def item_doubled(data: bytes, rng: Random) -> bytes:
    head, items = items_of(data)
    at = rng.randrange(len(items))
    return b"".join([head, *items[:at], items[at], *items[at:]])


def items_swapped(data: bytes, rng: Random) -> bytes:
    head, items = items_of(data)
    rng.shuffle(items)
    return b"".join([head, *items])


def item_deleted(data: bytes, rng: Random) -> bytes:
    head, items = items_of(data)
    del items[rng.randrange(len(items))]
    return b"".join([head, *items])


def half_merged(data: bytes, rng: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at, until = sorted(rng.randrange(len(lines) + 1) for _ in range(2))
    ours = lines[at:until]
    return b"".join([*lines[:at], b"<<<<<<< HEAD\n", *ours, b"=======\n", *ours, b">>>>>>> other\n", *lines[until:]])


def one_marker_left(data: bytes, rng: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines) + 1)
    return b"".join([*lines[:at], rng.choice((b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> other\n")), *lines[at:]])


def line_ends_rewritten(data: bytes, _rng: Random) -> bytes:
    return data.replace(b"\n", b"\r\n")


def indented_anew(data: bytes, rng: Random) -> bytes:
    document = yaml.load(data, Loader=yaml.CSafeLoader)
    text = yaml.safe_dump(document, sort_keys=False, indent=rng.choice((2, 4, 8)), width=rng.choice((40, 80, 1000)))
    return text.encode()


def shifted(data: bytes, rng: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    return b"".join([*lines[:at], *(b"  " + line for line in lines[at:])])


DAMAGES: dict[str, Damage] = {
    damage.__name__: damage
    for damage in (
        truncated,
        bit_flipped,
        lines_deleted,
        item_doubled,
        items_swapped,
        item_deleted,
        half_merged,
        one_marker_left,
        line_ends_rewritten,
        indented_anew,
        shifted,
    )
}


@pytest.mark.req(173)
@pytest.mark.parametrize("name", DAMAGES)
@given(made=some, seed=st.integers(0, 2**32))
@examples(ci=50, soak=1000)
def test_a_damaged_tape_is_as_it_was_sealed_or_an_error_with_a_line(
    name: str, made: tuple[Interaction, ...], seed: int
) -> None:
    data = render_cassette(Cassette("t", made, {"recorded_at": "2026-01-01T00:00:00Z"}))
    tape = read(DAMAGES[name](data, Random(seed)))
    if isinstance(tape, CassetteError):
        assert tape.code.startswith("cassette_")
        assert tape.fix
        assert re.search(r"line \d+|the former #\d+ is gone|version|YAML: ", tape.message), tape.message
    else:
        assert (tape.interactions, tape.by) == (made, "proctor")


def read(data: bytes) -> Cassette | CassetteError:
    try:
        return parse_cassette("t", data)
    except CassetteError as error:
        return error


@pytest.mark.parametrize("name", ["line_ends_rewritten", "indented_anew"])
@given(made=some, seed=st.integers(0, 2**32))
@examples(ci=50, soak=500)
def test_another_layout_of_the_same_content_is_the_same_tape(
    name: str, made: tuple[Interaction, ...], seed: int
) -> None:
    tape = Cassette("t", made, {"recorded_at": "2026-01-01T00:00:00Z"})
    assert parse_cassette("t", DAMAGES[name](render_cassette(tape), Random(seed))) == tape
