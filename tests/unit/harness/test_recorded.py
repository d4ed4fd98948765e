"""Which cases make a tape, where several name one or change what it answers."""

from __future__ import annotations

import pytest

from proctor.errors import SuiteError
from proctor.harness.recorded import makers, recorded
from tests.unit.harness.planning import case

LOST = [{"service": "orders", "at": "/status", "value": "lost"}]


def test_the_first_case_that_names_a_tape_makes_it() -> None:
    cases = [case("a"), case("b", tape="desk/x"), case("c", tape="desk/x"), case("d", tape="shop/a")]
    chosen, others = recorded(cases, "shop")
    assert [each.id for each in chosen] == ["a", "b"]
    assert others == {"c": "b makes its tape desk/x", "d": "a makes its tape shop/a"}
    assert makers(cases, "shop") == {"shop/a": "a", "desk/x": "b"}


def test_a_case_with_an_overlay_makes_no_tape_wherever_it_stands() -> None:
    chosen, others = recorded([case("a", tape="desk/x", overlay=LOST), case("b", tape="desk/x")], "shop")
    assert [each.id for each in chosen] == ["b"]
    assert list(others) == ["a"]


def test_where_no_case_makes_a_tape_nothing_is_recorded() -> None:
    with pytest.raises(SuiteError, match="a: its overlay changes what desk/x answers") as error:
        recorded([case("a", tape="desk/x", overlay=LOST)], "shop")
    assert error.value.code == "nothing_to_record"
