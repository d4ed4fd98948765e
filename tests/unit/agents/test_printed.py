"""What a program printed last, put together from the pieces in which it came."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from proctor.agents.printed import Printed

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=60)


@given(TEXT, st.lists(st.integers(0, 200), max_size=8))
def test_a_text_is_shown_as_it_was_printed_however_it_was_cut(text: str, cuts: list[int]) -> None:
    data, printed = text.encode(), Printed()
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for begin, end in pairwise(places):
        printed.add("err", data[begin:end])
    assert printed.shown() == text.removesuffix("\n")


def test_pieces_of_two_streams_do_not_run_into_each_other() -> None:
    printed = Printed()
    printed.add("err", b"Trace")
    printed.add("out", b"an answer\n")
    printed.add("err", b"back\n")
    printed.note("(killed)")
    assert printed.shown() == "an answer\nTraceback\n(killed)"


def test_only_the_end_of_much_is_kept() -> None:
    printed = Printed()
    for number in range(10_000):
        printed.add("out", b"line %d\n" % number)
    printed.add("err", b"x" * 100_000)
    shown = printed.shown()
    assert len(shown) <= 4_000
    assert shown.endswith("xxx")
