"""What a state's class says about its fields: how each is checked and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError

from proctor.errors import WorldError, WorldFailed
from proctor.world.drafts import draft_class
from proctor.world.patch import ABSENT
from proctor.world.plain import is_plain
from proctor.world.schemas import holds_anything, nodes

_BY_NAME = ("populate_by_name", "validate_by_name", "serialize_by_alias")
"""Settings of a class with aliases that let it read what it writes."""


class Field:
    """One field of a state. Of one that is a `dict[...]`, the table, single entries are read and written."""

    def __init__(self, name: str, info: Any) -> None:
        annotation: Any = info.annotation
        whole: Any = Annotated[(annotation, *info.metadata)] if info.metadata else annotation
        self.name = name
        self.is_table = get_origin(annotation) is dict
        self._whole = TypeAdapter[Any](whole)
        rows: Any = dict[get_args(annotation)] if self.is_table else None  # type: ignore[misc]
        self._rows = TypeAdapter[Any](rows)
        self._value = TypeAdapter[Any](get_args(annotation)[1]) if self.is_table else self._whole
        self.read = self._value.validator.validate_json
        """Makes the value of a text: that of the field, or that of an entry."""
        self.writer = self._value.serializer
        self.is_plain = is_plain(self._value.core_schema)

    def text(self, value: Any) -> bytes:
        """A value, or an entry, as JSON, whether it fits or not. Raises ValueError for what has no JSON."""
        return self.writer.to_json(value, round_trip=True, warnings=False)

    def fitting(self, key: Any, value: Any) -> bytes:
        """The same, as it will be read back. Raises WorldFailed where the state's class does not allow it."""
        try:
            return self._fitting_row(key, value) if self.is_table else _again(self._whole, value)
        except ValueError as error:  # of pydantic's, for what cannot be written and for what does not fit
            where = f"{self.name}[{key!r}]" if self.is_table else self.name
            told = f"the state does not allow what was put at {where}: {error}"
            raise WorldFailed("world_state_bad", told, "mend the tool; the call was undone") from None

    def key_name(self, key: Any) -> str:
        """A key of a table as JSON has it."""
        if type(key) is str:
            return key
        return str(next(iter(self._rows.dump_python({key: None}, mode="json", warnings=False))))

    def table_of(self, value: Any) -> Mapping[Any, Any]:
        """What was put in place of a table. Raises WorldFailed for what is none."""
        if isinstance(value, Mapping):
            return value
        told = f"the state does not allow what was put at {self.name}: {type(value).__name__} is no dict"
        raise WorldFailed("world_state_bad", told, "mend the tool; the call was undone")

    def _fitting_row(self, key: Any, value: Any) -> bytes:
        written = self._rows.dump_json({key: value}, round_trip=True, warnings="error")
        ((kept, read),) = self._rows.validate_json(written).items()
        if kept != key:
            raise ValueError(f"the key {key!r} would be read back as {kept!r}")
        return _again(self._value, read)


class Shape:
    """A state's class, looked through once."""

    def __init__(self, model: type[BaseModel]) -> None:
        """Raises WorldError for a class whose values have no one way to be written."""
        self.model = model
        self.fields = {name: Field(name, info) for name, info in model.__pydantic_fields__.items()}
        whole = TypeAdapter(model)
        for node in nodes(whole.core_schema):
            if node.get("type") == "model":
                _refuse_what_is_lost(node["cls"])
        refuse_iterables(whole, f"the state {model.__name__}")
        refuse_sets(whole, f"the state {model.__name__}")

    def is_reached_by(self, adapter: TypeAdapter[Any]) -> bool:
        """Whether a value of a type may hold the state itself."""
        return _names(adapter.core_schema, self.model)

    def is_written_by(self, adapter: TypeAdapter[Any]) -> bool:
        """Whether an answer of a type has the very text that is stored of the same value, in a field or a table."""
        return not self.is_reached_by(adapter) and any(
            field.is_plain and field.writer is adapter.serializer for field in self.fields.values()
        )

    @cached_property
    def draft(self) -> type[BaseModel]:
        """The class of what a call works on."""
        return draft_class(self.model)


def refuse_iterables(adapter: TypeAdapter[Any], what: str) -> None:
    """Raise WorldError where a type holds iterables: they are checked and read only as they are used, and once."""
    if any(node.get("type") == "generator" for node in nodes(adapter.core_schema)):
        raise WorldError("world_type", f"{what} holds an iterable, which can be read only once", "say list[...]")


def refuse_sets(adapter: TypeAdapter[Any], what: str) -> None:
    """Raise WorldError where a type holds sets: their order, so what is written of them, differs from run to run."""
    try:
        schema = json.dumps(adapter.json_schema(mode="serialization"))
    except PydanticUserError as error:
        raise WorldError("world_type", f"{what} cannot be written as JSON: {error.message}") from None
    if '"uniqueItems": true' in schema:
        told = f"{what} holds a set, which is written in another order in each run"
        raise WorldError("world_type", told, "use a list, or a dict")


def _refuse_what_is_lost(model: type[BaseModel]) -> None:
    """Raise WorldError for a class of which something is gone once it is written and read."""
    for name in model.__private_attributes__:
        told = f"{model.__name__}.{name} is a private attribute: a state is what stands in its fields"
        raise WorldError("world_state_class", told, "make it a field")
    by_name = any(model.model_config.get(way) for way in _BY_NAME)
    for name, info in model.__pydantic_fields__.items():
        if info.exclude:
            told = f"{model.__name__}.{name} is excluded from what is written, so a state would lose it"
            raise WorldError("world_state_class", told, "leave exclude out")
        if info.validation_alias not in (None, name) and not by_name:
            told = f"{model.__name__}.{name} is written by its name and read by its alias, so a state would lose it"
            raise WorldError("world_state_class", told, "model_config = ConfigDict(populate_by_name=True)")


def data_of(text: Any) -> Any:
    """A text as JSON data; `ABSENT` stays so."""
    return text if text is ABSENT else json.loads(text)


def _again(adapter: TypeAdapter[Any], value: Any) -> bytes:
    """The text of a value as it stays when it is read and written once more. Raises ValueError where it never does."""
    text = adapter.dump_json(value, round_trip=True, warnings="error")
    for _ in range(2):
        before, text = text, adapter.dump_json(adapter.validate_json(text), round_trip=True, warnings="error")
    if text != before:
        raise ValueError("its class writes it otherwise each time it is read")
    return text


def _names(schema: Any, model: type[BaseModel]) -> bool:
    """Whether a core schema has a model, or anything at all, somewhere in it."""
    kinds = (node.get("cls") for node in nodes(schema))
    return holds_anything(schema) or any(isinstance(kind, type) and issubclass(model, kind) for kind in kinds)
