"""A world's tools, read off its methods: what each takes, gives and allows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, get_type_hints

from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from proctor.errors import WorldError, nearest
from proctor.world.declaring import CREDENTIAL, Declared, declared_of
from proctor.world.docstrings import read_docstring
from proctor.world.schemas import holds_anything
from proctor.world.shape import refuse_iterables, refuse_sets

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


@dataclass(frozen=True)
class Tool:
    """One tool. `arguments` checks what is given, `result` writes what comes out."""

    name: str
    description: str
    method: Callable[..., Any]
    declared: Declared
    arguments: TypeAdapter[dict[str, Any]]
    result: TypeAdapter[Any]
    defaults: frozenset[str]
    """Arguments that may be left out."""
    changeable: Mapping[str, Any]
    """The defaults that a call could change, so that the next one would find them so."""
    takes_anything: bool
    """Some argument may be anything that there is in JSON."""

    def called_with(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments with what a call must have for itself."""
        return {**deepcopy(dict(self.changeable)), **arguments} if self.changeable else arguments


def tools_of(world: type) -> dict[str, Tool]:
    """The tools of a world by name, in the order of their definition. Raises WorldError, which says where."""
    found: dict[str, Tool] = {}
    for kind in reversed(world.__mro__):
        for name in vars(kind):
            method = getattr(world, name, None)
            declared = declared_of(method)
            if declared is not None and callable(method):
                found[name] = _tool(f"{world.__name__}.{name}", name, method, declared)
    if not found:
        raise WorldError("world_tools", f"{world.__name__} has no tool", "put @tool over a method")
    for tool in found.values():
        for other in tool.declared.after or ():
            if other not in found:
                told = f'{world.__name__}.{tool.name} comes after "{other}", which is no tool'
                raise WorldError("world_tools", told, nearest(other, found))
    return found


def _tool(where: str, name: str, method: Callable[..., Any], declared: Declared) -> Tool:
    if inspect.iscoroutinefunction(method) or inspect.isgeneratorfunction(method):
        told = f"{where} is no ordinary function: calls of a session come one after the other, each at once"
        raise WorldError("world_tool_async", told, "write def, and no yield")
    said = read_docstring(method)
    if not said.description:
        raise WorldError("world_tool_undescribed", f"{where} has no docstring: a model would not know what it does")
    hints = _hints(where, method)
    fields: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        field = _described(where, parameter, hints, said.arguments)
        if parameter.default is not inspect.Parameter.empty:
            defaults[parameter.name] = parameter.default
            field = NotRequired[field]
        fields[parameter.name] = field
    token = "" if declared.token == CREDENTIAL else declared.token
    for named, what in ((token, "its token"), *((each, "its docstring") for each in said.arguments)):
        if named and named not in fields:
            told = f'{where}: {what} names the argument "{named}", which is not there'
            raise WorldError("world_tool_argument", told, nearest(named, fields))
    arguments = TypedDict(name, fields)  # type: ignore[misc]
    setattr(arguments, "__pydantic_config__", _STRICT)  # noqa: B010 - pydantic's name for it; TypedDict has none
    checked = _adapter(f"an argument of {where}", arguments)
    return Tool(
        name,
        said.description,
        method,
        declared,
        checked,
        _adapter(f"the result of {where}", hints["return"], written=True),
        frozenset(defaults),
        {each: value for each, value in defaults.items() if deepcopy(value) is not value},
        holds_anything(checked.core_schema),
    )


def _hints(where: str, method: Callable[..., Any]) -> dict[str, Any]:
    try:
        hints = get_type_hints(method, include_extras=True)
    except (NameError, TypeError) as error:
        told = f"{where}: its types cannot be read: {error}"
        raise WorldError("world_tool_types", told, "define and import them at the top of the module") from None
    if "return" not in hints:
        told = f"{where} does not say what it gives"
        raise WorldError("world_tool_types", told, "def ...(...) -> Answer, a pydantic model for example")
    return hints


def _described(where: str, parameter: inspect.Parameter, hints: dict[str, Any], told: dict[str, str]) -> Any:
    """The type of an argument with its description."""
    name = parameter.name
    if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        why = f"{where}: {parameter} cannot be given by name"
        raise WorldError("world_tool_argument", why, "give each argument a name of its own")
    if name not in hints:
        raise WorldError("world_tool_types", f"{where}: {name} has no type", f"{name}: str, for example")
    if isinstance(parameter.default, FieldInfo):
        why = f"{where}: {name} has a Field as its default"
        raise WorldError("world_tool_argument", why, f"{name}: Annotated[TYPE, Field(...)] = DEFAULT")
    return Annotated[hints[name], FieldInfo(description=told[name])] if name in told else hints[name]


def _adapter(what: str, kind: Any, *, written: bool = False) -> TypeAdapter[Any]:
    try:
        adapter = TypeAdapter[Any](kind)
        adapter.json_schema(mode="serialization" if written else "validation")
    except PydanticUserError as error:
        raise WorldError("world_type", f"{what} has a type that no JSON says: {error.message}") from None
    refuse_iterables(adapter, what)
    if written:
        refuse_sets(adapter, what)
    return adapter
