"""A world that cannot work is refused when it is read, by a code and with the place."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, PrivateAttr

from proctor.errors import WorldError
from proctor.world import BusinessError, World, tool
from proctor.world.kind import WorldKind
from proctor.world.near_misses import near_misses
from proctor.world.openai_tools import openai_tools
from proctor.world.session import WorldSession
from tests.unit.world.shop import Shop


class State(BaseModel):
    numbers: list[int] = []


class Hidden(BaseModel):
    _seen: int = PrivateAttr(0)


class Sets(BaseModel):
    names: dict[str, set[str]] = {}


async def _asynchronous(self: Any) -> int:
    """Wait."""
    return 1


def _undescribed(self: Any) -> int:
    return 1


def _untyped(self: Any, name) -> int:  # type: ignore[no-untyped-def]
    """Untyped."""
    return 1


def _no_result(self: Any):  # type: ignore[no-untyped-def]
    """No result."""


def _any_names(self: Any, **names: int) -> int:
    """Any names."""
    return 1


def _field_as_default(self: Any, limit: int = Field(3, ge=1)) -> int:
    """Field as default."""
    return 1


def _misspelt(self: Any, limit: int) -> int:
    """Misspelt.

    Args:
        limits: How many.
    """
    return 1


def _a_function(self: Any, work: Callable[[], int]) -> int:
    """A function."""
    return 1


def _gives_a_set(self: Any) -> set[str]:
    """Gives a set."""
    return set()


def class_of(base: Any, body: dict[str, Any]) -> Any:
    """A class as a `class` statement makes it."""
    return types.new_class("Made", (base,), exec_body=lambda namespace: namespace.update(body))


@pytest.mark.parametrize(
    ("method", "code", "told"),
    [
        (_asynchronous, "world_tool_async", "Made.work is no ordinary function"),
        (_undescribed, "world_tool_undescribed", "Made.work has no docstring"),
        (_untyped, "world_tool_types", "Made.work: name has no type"),
        (_no_result, "world_tool_types", "Made.work does not say what it gives"),
        (_any_names, "world_tool_argument", "cannot be given by name"),
        (_field_as_default, "world_tool_argument", "limit has a Field as its default"),
        (_misspelt, "world_tool_argument", 'names the argument "limits"'),
        (_a_function, "world_type", "an argument of Made.work has a type that no JSON says"),
        (_gives_a_set, "world_type", "the result of Made.work holds a set"),
    ],
)
def test_a_tool_that_cannot_be_offered_is_refused(method: Any, code: str, told: str) -> None:
    made = class_of(World[State], {"work": tool(method)})
    with pytest.raises(WorldError) as refused:
        WorldKind(made)
    assert refused.value.code == code
    assert told in refused.value.message


@pytest.mark.parametrize(
    ("base", "more", "code"),
    [
        (World, {}, "world_state_class"),
        (World[Hidden], {}, "world_state_class"),
        (World[Sets], {}, "world_type"),
        (World[State], {"__init__": lambda self: None}, "world_class"),
        (World[State], {"start": classmethod(lambda cls: {"numbers": []})}, "world_start"),
        (World[State], {"start": classmethod(lambda cls: State.model_validate({"numbers": "1"}))}, "world_start"),
        (World[State], {"next": tool(after="frist")(lambda self: 1)}, "world_tool_undescribed"),
    ],
)
def test_a_class_that_cannot_be_a_world_is_refused(base: Any, more: dict[str, Any], code: str) -> None:
    def look(self: Any) -> int:
        """Look."""
        return 1

    made = class_of(base, {"look": tool(look), **more})
    with pytest.raises(WorldError) as refused:
        WorldKind(made)
    assert refused.value.code == code


def test_a_step_that_is_no_tool_is_named_with_the_nearest() -> None:
    class Shop2(World[State]):
        @tool
        def first(self) -> int:
            """First."""
            return 1

        @tool(after="frist")
        def second(self) -> int:
            """Second."""
            return 2

    with pytest.raises(WorldError, match="which is no tool") as refused:
        WorldKind(Shop2)
    assert refused.value.fix == 'did you mean "first"?'


def test_what_is_put_on_the_world_itself_is_refused() -> None:
    class Forgets(World[State]):
        @tool
        def work(self) -> int:
            """Work."""
            self.seen = 1
            return 1

    from proctor.errors import WorldFailed

    with pytest.raises(WorldFailed, match=r"keep it in self\.state"):
        WorldSession(WorldKind(Forgets), 1).call("work", b"")


def test_a_business_error_is_the_caller_s() -> None:
    with pytest.raises(ValueError, match="400 to 499"):
        BusinessError("broken", "it broke", status=500)


def test_the_tool_list_is_strict_and_described() -> None:
    listed = {each["function"]["name"]: each["function"] for each in openai_tools(WorldKind(Shop))}
    assert list(listed)[:3] == ["get_token", "query_order", "list_orders"]
    query = listed["query_order"]
    assert query["description"] == "Look an order up."
    assert query["strict"]
    assert query["parameters"] == {
        "type": "object",
        "properties": {
            "order_id": {"type": "string", "description": "The number on the receipt, as it is printed."},
        },
        "required": ["order_id"],
        "additionalProperties": False,
    }
    limit = listed["list_orders"]["parameters"]
    assert limit["required"] == ["limit"]
    assert limit["properties"]["limit"] == {
        "anyOf": [{"type": "integer", "minimum": 1, "maximum": 50}, {"type": "null"}]
    }
    place = listed["place_order"]
    assert not place["strict"], "an object with any keys cannot be strict"
    assert "tags" not in place["parameters"]["required"]


class Titled(BaseModel):
    title: str
    default: Annotated[int, Field(ge=0)] = 1


def test_strict_schemas_reach_into_nested_objects_and_keep_names_that_look_like_keywords() -> None:
    class Books(World[State]):
        @tool
        def add_book(self, book: Titled) -> int:
            """Add a book."""
            return len(book.title)

    (listed,) = openai_tools(WorldKind(Books))
    (nested,) = listed["function"]["parameters"]["$defs"].values()
    assert nested == {
        "type": "object",
        "properties": {"title": {"type": "string"}, "default": {"type": "integer", "minimum": 0}},
        "required": ["title", "default"],
        "additionalProperties": False,
    }


@pytest.mark.req(110)
def test_near_misses_are_listed_on_request_and_lead_nowhere() -> None:
    kind = WorldKind(Shop)
    plain = {each["function"]["name"] for each in openai_tools(kind)}
    more = {each["function"]["name"]: each["function"] for each in openai_tools(kind, 3)}
    added = set(more) - plain
    assert len(added) == 3
    assert added == {each.name for each in near_misses(kind)[:3]}
    assert list(more) == [each["function"]["name"] for each in openai_tools(kind, 3)]
    shop = WorldSession(kind, 1)
    before = shop.state_text()
    for name in added:
        answer = shop.call(name, b"{}")
        assert (answer.status, answer.refused) == (404, "tool_unavailable")
    assert shop.state_text() == before
