"""The state of one session: what is stored, what a call changed, and what differs from the start."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel

from proctor.errors import WorldFailed
from proctor.world.drafts import new_draft
from proctor.world.patch import ABSENT, Patch, escaped, json_patch
from proctor.world.shape import Field, Shape
from proctor.world.table import Table
from proctor.world.values import ATOMS, copied, same

_ALL: Any = object()
"""Stands for every entry of a field: it was changed as a whole."""


class Change(NamedTuple):
    """What became of a field, or of one entry of one that is a table. `ABSENT` for no entry."""

    field: str
    key: Any
    before: Any
    after: Any


@dataclass(frozen=True)
class Start:
    """A state to begin with. Sessions share its values and never change them; `text` is its JSON."""

    shape: Shape
    values: dict[str, Any]
    text: bytes

    @classmethod
    def of(cls, shape: Shape, state: BaseModel) -> Start:
        """The start that a state is, sharing nothing with it. Raises ValueError for one that does not fit its class."""
        values = {name: state.__dict__[name] for name in shape.fields}
        return cls.read(shape, json_of(shape, values))

    @classmethod
    def read(cls, shape: Shape, text: bytes) -> Start:
        """The start that a JSON text tells. Raises ValueError for one that does not fit the state's class."""
        state = shape.model.model_validate_json(text)
        values = {name: state.__dict__[name] for name in shape.fields}
        return cls(shape, values, json_of(shape, values))

    @property
    def clean(self) -> bool:
        """Whether it is what it was: a world can change it past all guards, from C or by an alias it kept."""
        return json_of(self.shape, self.values) == self.text


class Stored:
    """What one session of a world stores."""

    def __init__(self, start: Start) -> None:
        """Begin with `start`; nothing of it is copied before it is written."""
        self._start = start
        self._shape = start.shape
        self.reset()

    def reset(self) -> None:
        """Be the start again. Costs the same whatever it holds."""
        self._values = dict(self._start.values)
        self._owned: set[str] = set()
        self._touched: dict[str, dict[Any, None]] = {}

    def draft(self) -> BaseModel:
        """The state for one call, which may do with it what it likes."""
        return new_draft(self._shape.draft, self._draw)

    def complete(self, draft: BaseModel) -> None:
        """Put in what a call has not drawn, now that it changes nothing any more: its result may be all of it."""
        held = draft.__dict__
        for name, value in self._values.items():
            if name not in held:
                held[name] = value

    def changes(self, draft: BaseModel) -> list[Change]:
        """What a call changed, by field and entry."""
        found: list[Change] = []
        for name, old in self._values.items():
            new = draft.__dict__.get(name, old)
            if new is old:
                continue
            if isinstance(new, Table):
                rows, keys = new.plain(), new.touched() if new.rows is old else _ALL
            else:
                rows, keys = new, _ALL
            if self._shape.fields[name].rows is None or type(rows) is not dict:
                found += [] if same(old, rows) else [Change(name, _ALL, old, rows)]
            else:
                found += _rows_changed(name, old, rows, {**old, **rows} if keys is _ALL else keys)
        return found

    def patch(self, changes: list[Change]) -> Patch:
        """Changes as a JSON Patch. Raises WorldFailed where one leaves what the state's class does not allow."""
        return [step for change in changes for step in self._steps(change)]

    def commit(self, changes: list[Change]) -> None:
        """Store what a call changed."""
        for name, key, _, after in changes:
            self._touched.setdefault(name, {})[key] = None
            if key is _ALL:
                self._values[name] = copied(after)
                continue
            if name not in self._owned:
                self._owned.add(name)
                self._values[name] = dict(self._values[name])
            if after is ABSENT:
                self._values[name].pop(key, None)
            else:
                self._values[name][key] = copied(after)  # the tool may have kept what it put there

    def diff(self) -> Patch:
        """What makes the present state of the start, as a JSON Patch, in the order of fields and keys."""
        steps: Patch = []
        for name in self._shape.fields:
            begun, now = self._start.values[name], self._values[name]
            keys = self._touched.get(name, {})
            if _ALL in keys:
                steps += self._steps(Change(name, _ALL, begun, now))
                continue
            rows = [Change(name, key, begun.get(key, ABSENT), now.get(key, ABSENT)) for key in keys]
            steps += [step for row in sorted(rows, key=lambda row: str(row.key)) for step in self._steps(row)]
        return steps

    def text(self) -> bytes:
        """The whole state as JSON."""
        return json_of(self._shape, self._values)

    def snapshot(self) -> Any:
        """The same as data."""
        return json.loads(self.text())

    def _draw(self, name: str) -> Any:
        value = self._values[name]
        if type(value) in ATOMS:
            return value
        is_table = type(value) is dict and self._shape.fields[name].rows is not None
        return Table(value) if is_table else copied(value)

    def _steps(self, change: Change) -> Patch:
        field = self._shape.fields[change.field]
        pointer = f"/{escaped(change.field)}"
        if change.key is _ALL:
            before, after = (_fitting(change, field.written, value) for value in (change.before, change.after))
            return json_patch(before, after, pointer)
        write = _row_of(field, change.key)
        (_, before), (name, after) = (_fitting(change, write, value) for value in (change.before, change.after))
        return json_patch(before, after, f"{pointer}/{escaped(name)}")


def json_of(shape: Shape, values: dict[str, Any]) -> bytes:
    """A state's values as JSON."""
    fields = (
        b"%s:%s" % (json.dumps(name).encode(), field.whole.dump_json(values[name], round_trip=True))
        for name, field in shape.fields.items()
    )
    return b"{" + b",".join(fields) + b"}"


def _rows_changed(name: str, old: dict[Any, Any], new: dict[Any, Any], keys: Any) -> list[Change]:
    pairs = ((key, old.get(key, ABSENT), new.get(key, ABSENT)) for key in keys)
    return [Change(name, key, before, after) for key, before, after in pairs if not same(before, after)]


def _row_of(field: Field, key: Any) -> Callable[[Any], tuple[str, Any]]:
    return lambda value: field.row_written(key, value)


def _fitting(change: Change, write: Callable[[Any], Any], value: Any) -> Any:
    try:
        return write(value)
    except ValueError as error:  # of pydantic's, for what cannot be written and for what does not fit
        where = change.field if change.key is _ALL else f"{change.field}[{change.key!r}]"
        told = f"the state does not allow what was put at {where}: {error}"
        raise WorldFailed("world_state_bad", told, "mend the tool; the call was undone") from None
