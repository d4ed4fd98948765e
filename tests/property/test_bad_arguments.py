"""Any argument of any type, as any JSON or none: a stable code or a whole call, and never the world's own failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter

from proctor.world import BusinessError, World, tool
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession
from tests.property.counts import examples

CODES = {
    "arguments_not_json": 400,
    "arguments_not_object": 400,
    "argument_missing": 422,
    "argument_unknown": 422,
    "argument_type": 422,
    "argument_range": 422,
    "argument_value": 422,
    "too_dear": 409,
}


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Tree(BaseModel):
    name: str = ""
    leaves: list[Tree] = []


class Card(BaseModel):
    way: Literal["card"]
    number: Annotated[str, Field(pattern=r"^\d{4}$")]


class Cash(BaseModel):
    way: Literal["cash"]


class State(BaseModel):
    given: dict[str, Any] = {}
    trees: list[Tree] = []


class Kinds(World[State]):
    @tool
    def plain(self, a: str, b: int, c: float, d: bool, e: Decimal, f: Size, g: Literal["x", "y"], h: Any) -> list[Any]:
        """Take plain values."""
        return self._kept(a, b, c, d, e, f, g, h)

    @tool
    def timed(self, a: date, b: datetime, c: time, d: timedelta, e: UUID, f: bytes) -> list[Any]:
        """Take texts that mean something."""
        return self._kept(a, b, c, d, e, f)

    @tool
    def nested(
        self,
        a: Tree,
        b: list[int],
        c: dict[str, float],
        d: dict[int, str],
        e: tuple[int, str],
        f: Annotated[Card | Cash, Field(discriminator="way")],
        g: int | str | None,
        h: dict[str, Any],
    ) -> list[Any]:
        """Take values within values."""
        self.state.trees.append(a)
        return self._kept(a, b, c, d, e, f, g, h)

    @tool
    def bounded(
        self,
        a: Annotated[int, Field(ge=1, le=9, multiple_of=2)] = 2,
        b: Annotated[str, Field(min_length=2, max_length=3)] = "ab",
        c: Annotated[list[int], Field(max_length=2)] = [],  # noqa: B006
        d: Annotated[Decimal, Field(max_digits=4, decimal_places=2)] = Decimal(1),
        e: Annotated[float, Field(gt=0, lt=1)] | None = None,
    ) -> list[Any]:
        """Take values within bounds."""
        return self._kept(a, b, c, d, e)

    def _kept(self, *values: Any) -> list[Any]:
        """Write first; refuse then, where it is so told."""
        written = [json.loads(TypeAdapter(type(value)).dump_json(value)) for value in values]
        for value in written:
            self.state.given[str(len(self.state.given))] = value
        if "dear" in written:
            raise BusinessError("too_dear", "it costs too much")
        return written


KIND = WorldKind(Kinds)
GOOD: dict[str, dict[str, Any]] = {
    "plain": {"a": "x", "b": 1, "c": 0.5, "d": True, "e": "1.5", "f": "large", "g": "x", "h": [None]},
    "timed": {
        "a": "2026-01-01",
        "b": "2026-01-01T10:00:00Z",
        "c": "10:00",
        "d": "PT5M",
        "e": "12345678-1234-5678-1234-567812345678",
        "f": "x",
    },
    "nested": {
        "a": {"leaves": [{"name": "x"}]},
        "b": [1],
        "c": {"x": 1},
        "d": {"1": "x"},
        "e": [1, "x"],
        "f": {"way": "card", "number": "1234"},
        "g": None,
        "h": {"x": {}},
    },
    "bounded": {"a": 4, "b": "abc", "c": [1, 2], "d": "1.25", "e": 0.5},
}
TYPES = {
    "null": ["null"],
    "boolean": ["true", "false"],
    "integer": ["0", "-1", "7", "9" * 30, "1" * 4301],
    "number": ["1.5", "-0.0", "1e400", "NaN", "-Infinity", "1e-400"],
    "string": [
        '""',
        '"dear"',
        '"\\u0000"',
        '"\\ud83d"',
        '"NaN"',
        '"1e999999"',
        '"2026-02-30"',
        '"P1Y"',
        '"1"',
        '"\\ud83d\\ude00"',
    ],
    "array": ["[]", "[[]]", '[1, "x"]', "[NaN]", "[" * 150 + "]" * 150, "[1, 1, 1]"],
    "object": [
        "{}",
        '{"way": "card"}',
        '{"way": "cash"}',
        '{"x": 1, "x": 2}',
        '{"x": NaN}',
        '{"leaves": 7}',
        '{"__class__": {}}',
    ],
}
"""By JSON type: texts of values, some of which no JSON has."""


def allowed(tool_name: str, argument: str) -> set[str]:
    """The JSON types that the schema of an argument has."""
    schema = KIND.tools[tool_name].arguments.json_schema()
    return set(_types(schema["properties"][argument], schema.get("$defs", {}))) | (
        {"null"} if argument in KIND.tools[tool_name].defaults else set()
    )


def _types(schema: dict[str, Any], known: dict[str, Any]) -> Iterator[str]:
    for option in schema.get("anyOf", schema.get("oneOf", [schema])):
        option = known[option["$ref"].rpartition("/")[2]] if "$ref" in option else option
        names = {str: "string", int: "integer"}
        kind = option.get("type")
        found = [kind] if kind else [names[type(value)] for value in option.get("enum", ())]
        yield from found or TYPES
        if "number" in found:
            yield "integer"


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, str, str, bytes]:
    """A tool, the argument that is not as in the good call (none: another fault), its JSON type, and the body."""
    name = draw(st.sampled_from(sorted(GOOD)))
    texts = {argument: json.dumps(value) for argument, value in GOOD[name].items()}
    argument, kind = draw(st.sampled_from(sorted(texts))), draw(st.sampled_from(sorted(TYPES)))
    how = draw(st.sampled_from(["value", "value", "value", "less", "more", "cut", "junk", "null"]))
    if how in ("value", "null"):
        texts[argument] = draw(st.sampled_from(TYPES[kind]))
    if how == "less":
        del texts[argument]
    if how in ("more", "null"):
        other = draw(st.sampled_from(["surplus", *texts, ""]))
        texts[other] = "null" if how == "null" else draw(st.sampled_from(TYPES[kind]))
    body = f"{{{', '.join(f'{json.dumps(key)}: {text}' for key, text in texts.items())}}}".encode()
    if how == "cut":
        body = body[: draw(st.integers(0, len(body) - 1))]
    if how == "junk":
        at = draw(st.integers(0, len(body)))
        body = body[:at] + draw(st.binary(min_size=1, max_size=3)) + body[at:]
    return name, argument if how == "value" else "", kind, body


def test_the_good_calls_are_good() -> None:
    for name, good in GOOD.items():
        assert WorldSession(KIND, 1).call(name, json.dumps(good).encode()).status == 200, name


@given(bodies(), bodies())
@examples(400, 20_000)
def test_any_argument_has_a_stable_code_or_makes_a_whole_call(
    first: tuple[str, str, str, bytes], second: tuple[str, str, str, bytes]
) -> None:
    world = WorldSession(KIND, 1)
    for name, argument, kind, body in (first, second):
        before = world.state_text(), world.diff(), list(world.log)
        foretold = world.foretell(name, body)
        answer = world.call(name, body)
        told = json.loads(answer.body, parse_constant=_refuse)
        if answer.status == 200:
            assert foretold == answer.body
            assert world.log[-1].call == world.calls
            assert json.loads(world.state_text(), parse_constant=_refuse) == world.state()
        else:
            assert answer.status == CODES[told["error"]]
            assert foretold is None
            assert (world.state_text(), world.diff(), world.log) == before
        if argument and kind not in allowed(name, argument):
            assert told["error"] in ("argument_type", "argument_value", "arguments_not_json")
            assert told.get("argument", argument) == argument


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")
