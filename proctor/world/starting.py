"""Ids of the session's own in the state that a case gives: what it sees then differs from every other case's."""

from __future__ import annotations

import re
from typing import Any

from proctor.world.ledger import session_id

_PLACE = re.compile(r"\{id:([A-Za-z0-9_]*):([A-Za-z0-9_]+)\}")


def with_ids(data: Any, key: str) -> tuple[Any, dict[str, str]]:
    """`data` with an id as `ORD-7K2M4QXA` for each `{id:ORD:NAME}`, in keys too, and these ids by place.

    One place stands for one id throughout; `key` is that of the session's seed.
    """
    found: dict[str, str] = {}

    def put(match: re.Match[str]) -> str:
        made = session_id(f"{key}\nstart\n{match[2]}", match[1], 0)
        return found.setdefault(match[0], made)

    return _replaced(data, put), found


def _replaced(data: Any, put: Any) -> Any:
    if isinstance(data, str):
        return _PLACE.sub(put, data) if "{id:" in data else data
    if isinstance(data, list):
        return [_replaced(item, put) for item in data]
    if isinstance(data, dict):
        return {_replaced(name, put): _replaced(item, put) for name, item in data.items()}
    return data
