"""Many cases from one template: which combinations of its values, and the case that each makes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from random import Random
from typing import Any

from proctor.cases.suite import Template, Value

_NAMED = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


def chosen(template: Template, seed: int) -> list[int]:
    """The numbers (from 1) of the combinations to take: all, or as many as the template allows, by the seed.

    A number always stands for the same values, so a case made of it keeps its id.
    """
    total = prod(map(len, template.values.values()))
    if total <= template.most:
        return list(range(1, total + 1))
    rng = Random(f"{seed}\n{template.case.get('id')}")  # noqa: S311 - to be repeated, not to be safe
    return sorted(1 + number for number in rng.sample(range(total), template.most))


def values_of(template: Template, number: int) -> dict[str, Value]:
    """The values of the combination of that number (from 1); the last name varies fastest."""
    left, found = number - 1, {}
    for name, values in reversed(template.values.items()):
        left, at = divmod(left, len(values))
        found[name] = values[at]
    return {name: found[name] for name in template.values}


def made(template: Template, number: int) -> dict[str, Any]:
    """The data of the case that a combination makes; its id ends with the number."""
    values = values_of(template, number)
    values = {name: filled(value, values) for name, value in values.items()}  # a wording may name another value
    case: dict[str, Any] = filled(template.case, values)
    return {**case, "id": f"{case.get('id')}.{number}"}


def filled(data: Any, values: Mapping[str, Value]) -> Any:
    """Data with values in place of their `{name}`, in keys too; a text that is nothing else becomes the value itself.

    Braces around any other name stay as they are.
    """
    if isinstance(data, str):
        whole = _NAMED.fullmatch(data)
        if whole and whole[1] in values:
            return values[whole[1]]
        return _NAMED.sub(lambda found: str(values.get(found[1], found[0])), data)
    if isinstance(data, dict):
        return {str(filled(key, values)): filled(value, values) for key, value in data.items()}
    return [filled(each, values) for each in data] if isinstance(data, list) else data


def unused(template: Template) -> list[str]:
    """The names of values that stand nowhere in the case."""
    named = {*_names(template.case), *_names([list(values) for values in template.values.values()])}
    return [name for name in template.values if name not in named]


def _names(data: Any) -> list[str]:
    if isinstance(data, str):
        return _NAMED.findall(data)
    if isinstance(data, dict):
        return [name for key, value in data.items() for each in (key, value) for name in _names(each)]
    return [name for each in data for name in _names(each)] if isinstance(data, list) else []
