"""What a state's class says about its fields: how each is checked and written."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError

from proctor.errors import WorldError
from proctor.world.patch import ABSENT


class Field(NamedTuple):
    """One field of a state. `rows` checks single entries of one that is a `dict[...]`."""

    name: str
    whole: TypeAdapter[Any]
    rows: TypeAdapter[Any] | None

    def written(self, value: Any) -> Any:
        """The field's value as JSON data. Raises ValueError for what does not fit the field."""
        return ABSENT if value is ABSENT else checked(self.whole, value)

    def row_written(self, key: Any, value: Any) -> tuple[str, Any]:
        """An entry as JSON: its key, and its value. Raises ValueError for what does not fit the field."""
        assert self.rows is not None
        if value is ABSENT:
            return json_key(key), ABSENT
        ((name, data),) = checked(self.rows, {key: value}).items()
        return name, data


class Shape:
    """A state's class, looked through once."""

    def __init__(self, model: type[BaseModel]) -> None:
        """Raises WorldError for a class whose values have no one way to be written."""
        self.model = model
        self.fields = {name: _field(name, info) for name, info in model.__pydantic_fields__.items()}
        if model.__private_attributes__:
            name = next(iter(model.__private_attributes__))
            told = f"{model.__name__}.{name} is a private attribute: a state is what stands in its fields"
            raise WorldError("world_state_class", told, "make it a field")
        refuse_sets(TypeAdapter(model), f"the state {model.__name__}")

    @cached_property
    def draft(self) -> type[BaseModel]:
        """The class of what a call works on."""
        from proctor.world.drafts import draft_class

        return draft_class(self.model)


def refuse_sets(adapter: TypeAdapter[Any], what: str) -> None:
    """Raise WorldError where a type holds sets: their order, so what is written of them, differs from run to run."""
    try:
        schema = json.dumps(adapter.json_schema(mode="serialization"))
    except PydanticUserError as error:
        raise WorldError("world_type", f"{what} cannot be written as JSON: {error.message}") from None
    if '"uniqueItems": true' in schema:
        told = f"{what} holds a set, which is written in another order in each run"
        raise WorldError("world_type", told, "use a list, or a dict")


def checked(adapter: TypeAdapter[Any], value: Any) -> Any:
    """A value as JSON data, which is read back to see that it fits. Raises ValueError."""
    text = adapter.dump_json(value, round_trip=True, warnings="error")
    adapter.validate_json(text)
    return json.loads(text)


def json_key(key: Any) -> str:
    """A key as JSON has it."""
    return str(TypeAdapter(dict[Any, None]).dump_python({key: None}, mode="json").popitem()[0])


def _field(name: str, info: Any) -> Field:
    annotation: Any = info.annotation
    whole: Any = Annotated[(annotation, *info.metadata)] if info.metadata else annotation
    of: Any = dict[get_args(annotation)] if get_origin(annotation) is dict else None  # type: ignore[misc]
    return Field(name, TypeAdapter[Any](whole), TypeAdapter[Any](of) if of else None)
