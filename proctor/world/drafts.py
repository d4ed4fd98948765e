"""The state as one call sees it: a pydantic model of the state's own class, drawn from what is stored as it is read."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

_WHOLE = (
    "model_dump",
    "model_dump_json",
    "model_copy",
    "__eq__",
    "__iter__",
    "__repr_args__",
    "__copy__",
    "__deepcopy__",
)
"""What reads every field past attribute access."""
_DRAW = "draw"

Draw = Callable[[str], Any]
"""Gives a field's value, as the call's own."""


def draft_class(model: type[BaseModel]) -> type[BaseModel]:
    """A subclass whose instances draw a field when it is first read."""

    def getattr_(self: BaseModel, name: str) -> Any:
        if name not in model.__pydantic_fields__:
            raise AttributeError(f"{model.__name__!r} object has no attribute {name!r}")
        private = self.__pydantic_private__
        assert private is not None
        value = self.__dict__[name] = private[_DRAW](name)
        return value

    named = {name: _after_drawing(name, model) for name in _WHOLE}
    namespace = {"__module__": model.__module__, "__qualname__": model.__qualname__, "__getattr__": getattr_, **named}
    made: type[BaseModel] = types.new_class(model.__name__, (model,), exec_body=lambda body: body.update(namespace))
    return made


def new_draft(kind: type[BaseModel], draw: Draw) -> BaseModel:
    """An instance with no field drawn yet."""
    draft = kind.__new__(kind)
    object.__setattr__(draft, "__pydantic_fields_set__", set(kind.__pydantic_fields__))
    object.__setattr__(draft, "__pydantic_extra__", None)
    object.__setattr__(draft, "__pydantic_private__", {_DRAW: draw})
    return draft


def _after_drawing(name: str, model: type[BaseModel]) -> Callable[..., Any]:
    original = getattr(model, name)

    def whole(self: BaseModel, *arguments: Any, **options: Any) -> Any:
        for field in model.__pydantic_fields__:
            getattr(self, field)
        return original(self, *arguments, **options)

    return whole
