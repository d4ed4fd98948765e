"""Values of a state: copying them, and telling whether two are the same to the byte."""

from __future__ import annotations

from copy import deepcopy
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic import BaseModel

ATOMS = frozenset({type(None), bool, int, float, str, bytes, Decimal, datetime, date, time, timedelta, UUID})
"""Types whose values never change."""
_BY_VALUE = frozenset({type(None), bool, int, str, bytes})
"""Of those: where equal values of one type are written alike. 0.0 and -0.0 are equal, and are not."""


def copied(value: Any) -> Any:
    """A copy that shares nothing with `value` that could change."""
    kind = type(value)
    if kind in ATOMS:
        return value
    if kind is list:
        return [copied(item) for item in value]
    if isinstance(value, dict) and kind.__module__ in ("builtins", "proctor.world.table"):
        return {key: copied(item) for key, item in dict.items(value)}
    if isinstance(value, BaseModel):
        return _model(value)
    return value if isinstance(value, Enum) else deepcopy(value)


def same(one: Any, other: Any) -> bool:
    """Whether both are written alike, the order of keys included: 1, 1.0 and True are three values."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in _BY_VALUE:
        return bool(one == other)
    if kind is dict:
        return list(one) == list(other) and all(same(item, other[key]) for key, item in one.items())
    if kind is list:
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, BaseModel):
        return (
            same(_fields(one), _fields(other))
            and same(one.__pydantic_extra__, other.__pydantic_extra__)
            and same(one.__pydantic_private__, other.__pydantic_private__)
        )
    return bool(one == other) and repr(one) == repr(other)


def _model(value: BaseModel) -> BaseModel:
    """Without what is only cached beside the fields."""
    kind = type(value)
    copy = kind.__new__(kind)
    fields = {name: copied(held) for name, held in _fields(value).items()}
    object.__setattr__(copy, "__dict__", fields)
    object.__setattr__(copy, "__pydantic_fields_set__", set(value.__pydantic_fields_set__))
    object.__setattr__(copy, "__pydantic_extra__", copied(value.__pydantic_extra__))
    object.__setattr__(copy, "__pydantic_private__", deepcopy(value.__pydantic_private__))
    return copy


def _fields(value: BaseModel) -> dict[str, Any]:
    held = value.__dict__
    return {name: held[name] for name in type(value).__pydantic_fields__ if name in held}
