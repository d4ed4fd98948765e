"""Declaring a method to be a tool."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, overload

ToolEffect = Literal["read", "write"]

CREDENTIAL = "the credential"
"""What `token=` says where the token comes as the credential of the request: `Authorization: Bearer TOKEN`."""

_MARK = "__proctor_tool__"
_Method = TypeVar("_Method", bound=Callable[..., Any])


@dataclass(frozen=True)
class Declared:
    """What stands in the brackets of `@tool(...)`."""

    effect: ToolEffect | None = None
    audience: tuple[str, ...] = ()
    after: Mapping[str, str] | None = None
    """By tool that must have succeeded before: the code of the error where it has not."""
    token: str = ""


@overload
def tool(method: _Method, /) -> _Method:
    """Without brackets: a tool of which nothing is declared."""


@overload
def tool(
    *,
    effect: ToolEffect | None = None,
    audience: str | Collection[str] = (),
    after: str | Collection[str] | Mapping[str, str] = (),
    token: str = "",
) -> Callable[[_Method], _Method]:
    """With brackets."""


def tool(
    method: Callable[..., Any] | None = None,
    /,
    *,
    effect: ToolEffect | None = None,
    audience: str | Collection[str] = (),
    after: str | Collection[str] | Mapping[str, str] = (),
    token: str = "",
) -> Any:
    """Make a method of a `World` a tool.

    `effect` is checked: a tool that is declared to read and changes state is the platform's error; undeclared, it is
    told from each call. `audience` has who may call it; by default everybody. `after` has the tools that must have
    succeeded before, as names or as `{tool: code of the error}`. `token` is the argument that must hold what
    `new_token` has handed out, or `CREDENTIAL` where the header of the request must.
    """
    declared = Declared(effect, _names(audience), _codes(after), token)

    def marked(function: _Method) -> _Method:
        setattr(function, _MARK, declared)
        return function

    return marked if method is None else marked(method)


def declared_of(attribute: object) -> Declared | None:
    """What a method was declared to be; None for one that is no tool."""
    found = getattr(attribute, _MARK, None)
    return found if isinstance(found, Declared) else None


def _names(given: str | Collection[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _codes(given: str | Collection[str] | Mapping[str, str]) -> dict[str, str]:
    if isinstance(given, Mapping):
        return dict(given)
    return {name: f"{name}_required" for name in _names(given)}
