"""Worlds that a careless or hostile author writes: they are refused, or what they do stays within the call."""

from __future__ import annotations

import json
from asyncio import CancelledError
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

from proctor.errors import WorldFailed
from proctor.world import BusinessError, World, tool
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession


class Unsayable(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class Notes(BaseModel):
    notes: list[str] = []
    kept: dict[str, Any] = {}


class Odd(World[Notes]):
    seen: ClassVar[list[str]] = []
    prices: ClassVar[dict[str, list[int]]] = {"tea": [1]}
    count = 0

    @tool
    def tag(self, tags: list[str] = [], more: dict[str, list[int]] = {}) -> list[str]:  # noqa: B006
        """Change the defaults."""
        tags.append("x")
        more["y"] = [len(tags)]
        return [*tags, *more]

    @tool
    def hide(self, how: str) -> str:
        """Keep something where every session sees it."""
        self.state.notes.append(how)
        if how == "append":
            self.seen.append("x")
        if how in ("deep", "refuse", "throw"):
            self.prices["tea"].append(2)
        if how == "count":
            type(self).count += 1
        if how == "new":
            type(self).fresh = [1]  # type: ignore[attr-defined]
        if how == "refuse":
            raise BusinessError("no", "no")
        if how == "throw":
            raise KeyError("gone")
        return ""

    @tool
    def look(self) -> list[Any]:
        """Look at what every session sees."""
        return [self.seen, self.prices, self.count, hasattr(self, "fresh")]

    @tool
    def generate(self, bad: bool = False) -> Any:
        """Give a generator that changes the state as it is read."""

        def made() -> Iterable[int]:
            for number in range(3):
                self.state.notes.append(str(number))
                yield number
            if bad:
                raise BusinessError("too_many", "there are no more")

        return made()

    @tool
    def throw(self, what: str) -> str:
        """Throw."""
        self.state.notes.append("half")
        raise {
            "cancelled": CancelledError(),
            "exit": GeneratorExit(),
            "unsayable": Unsayable(),
            "surrogate": ValueError("\ud800"),
            "unwritable": BusinessError("no", "\ud800"),
        }[what]

    @tool
    def refuse(self, amount: int) -> str:
        """Refuse, with what was given."""
        raise BusinessError("no", "not that much", amount=amount, price=Decimal("1.50"))

    @tool
    def keep(self, value: Any) -> Any:
        """Keep anything."""
        self.state.kept["it"] = value
        return value


KIND = WorldKind(Odd)


@pytest.fixture
def odd() -> WorldSession:
    return WorldSession(KIND, 1)


def called(odd: WorldSession, name: str, **arguments: Any) -> Any:
    return json.loads(odd.call(name, json.dumps(arguments).encode()).body)


def test_a_default_that_a_tool_changes_is_made_anew_for_each_call(odd: WorldSession) -> None:
    assert [called(each, "tag") for each in (odd, odd, WorldSession(KIND, 2))] == [["x", "y"]] * 3
    assert odd.foretell("tag", b"") == b'["x","y"]'
    assert called(odd, "tag", tags=["a"]) == ["a", "x", "y"]
    assert called(odd, "tag", tags=None) == ["x", "y"]


@pytest.mark.parametrize("how", ["append", "deep", "count", "new", "refuse", "throw"])
def test_what_a_tool_leaves_on_its_class_is_put_back_and_is_the_world_s_fault(odd: WorldSession, how: str) -> None:
    before = called(odd, "look"), odd.state_text()
    with pytest.raises(WorldFailed) as failed:
        called(odd, "hide", how=how)
    assert failed.value.code == ("world_failed" if how == "throw" else "world_shared")
    assert how == "throw" or "every session shares" in failed.value.message
    assert (called(odd, "look"), odd.state_text()) == before
    assert called(WorldSession(KIND, 2), "look") == before[0]
    assert odd.foretell("hide", json.dumps({"how": how}).encode()) is None
    assert called(odd, "look") == before[0]


def test_a_tool_that_only_reads_its_class_is_at_no_fault(odd: WorldSession) -> None:
    assert called(odd, "hide", how="nothing") == ""
    assert called(odd, "look") == [[], {"tea": [1]}, 0, False]


def test_what_a_generator_does_to_the_state_is_part_of_the_call(odd: WorldSession) -> None:
    assert called(odd, "generate") == [0, 1, 2]
    assert odd.state()["notes"] == ["0", "1", "2"]
    assert called(odd, "generate", bad=True)["error"] == "too_many"
    assert odd.state()["notes"] == ["0", "1", "2"]


@pytest.mark.parametrize("what", ["cancelled", "exit", "unsayable", "surrogate", "unwritable"])
def test_whatever_a_tool_throws_is_told_in_a_text_that_can_be_written(odd: WorldSession, what: str) -> None:
    with pytest.raises(WorldFailed) as failed:
        called(odd, "throw", what=what)
    assert failed.value.code == "world_failed"
    assert "throw" in failed.value.message
    json.dumps(failed.value.as_dict(), ensure_ascii=False).encode()
    assert odd.state() == {"notes": [], "kept": {}}


def test_a_refusal_may_tell_numbers_of_any_size(odd: WorldSession) -> None:
    answer = odd.call("refuse", json.dumps({"amount": 10**30}).encode())
    assert (answer.status, answer.refused) == (409, "no")
    assert json.loads(answer.body)["amount"] == 10**30
    assert json.loads(answer.body)["price"] == "1.50"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("NaN", "argument_range"),
        ("1e400", "argument_range"),
        ('{"a": [-Infinity]}', "argument_range"),
        ("[" * 99 + "]" * 99, ""),
        ("[" * 100 + "]" * 100, "arguments_not_json"),
        ('{"a":' * 150 + "1" + "}" * 150, "arguments_not_json"),
        ("[" * 5000 + "]" * 5000, "arguments_not_json"),
        ('"' + "[{" * 500 + '"', ""),
        ('["' + '\\"[' * 500 + '"]', ""),
        ("[" + "[]," * 500 + "1]", ""),
        ("1" * 4300, ""),
        ("1" * 4301, "arguments_not_json"),
        ('"\\ud800"', "arguments_not_json"),
        ('"\\u0000"', ""),
        ('{"a": 1, "a": 2}', ""),
    ],
    ids=range(15),
)
def test_an_argument_that_may_be_anything_is_kept_whole_or_refused(odd: WorldSession, value: str, code: str) -> None:
    answer = odd.call("keep", f'{{"value": {value}}}'.encode())
    assert answer.refused == code
    assert odd.state()["kept"] == ({} if code else {"it": json.loads(value)})
