"""A case with the ids of one session's own in place of the `{id:PREFIX:NAME}` that stand for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.cases.case import Case


def personal(case: Case, ids: Mapping[str, Mapping[str, str]]) -> Case:
    """The case as one session's agent meets it; `ids` are by world, then by what stands for them."""
    known = {mark: own for of_world in ids.values() for mark, own in of_world.items()}
    if not known:
        return case
    return Case.model_validate(replaced(case.model_dump(exclude={"state"}), known) | {"state": case.state})


def replaced(data: Any, known: Mapping[str, str]) -> Any:
    """JSON data with each text of `known` in it, of keys and values, replaced by what it stands for."""
    if isinstance(data, str):
        for mark, own in known.items():
            data = data.replace(mark, own)
        return data
    if isinstance(data, Mapping):
        return {replaced(key, known): replaced(value, known) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return type(data)(replaced(each, known) for each in data)
    return data
