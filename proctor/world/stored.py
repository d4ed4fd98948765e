"""The state of one session, as JSON texts: what is stored, what a call changed, and what differs from the start."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import SchemaSerializer

from proctor.world.drafts import new_draft
from proctor.world.patch import ABSENT, Patch, escaped, json_patch
from proctor.world.shape import Field, Shape, data_of
from proctor.world.table import Rows, Table, Texts

_WHOLE = None
"""The key of a change of a field that is no table."""


class Change(NamedTuple):
    """What became of a field, or of one entry of a table: its texts. `ABSENT` for no entry."""

    field: Field
    key: Any
    before: Any
    after: Any

    def patch(self) -> Patch:
        """The change as a JSON Patch."""
        pointer = f"/{escaped(self.field.name)}"
        if self.field.is_table:
            pointer += f"/{escaped(self.field.key_name(self.key))}"
        return json_patch(data_of(self.before), data_of(self.after), pointer)


class Given(NamedTuple):
    """What a tool gives, of a type that is stored as it is answered: it is written once for both."""

    value: Any
    text: bytes
    writer: SchemaSerializer

    def is_stored(self, field: Field, before: Any, value: Any) -> bool:
        """Whether it is this value, and was stored so."""
        return value is self.value and field.writer is self.writer and self.text == before


@dataclass(frozen=True)
class Start:
    """A state to begin with: the text of each field, and of each entry of a table. None of it can be changed."""

    shape: Shape
    values: Texts
    tables: Mapping[str, Texts]

    @classmethod
    def of(cls, shape: Shape, state: BaseModel) -> Start:
        """The start that a state is. Raises ValueError for one that does not fit its class."""
        values: dict[str, bytes] = {}
        tables: dict[str, Texts] = {}
        for name, field in shape.fields.items():
            value = getattr(state, name)
            if field.is_table:
                tables[name] = MappingProxyType({key: field.text(entry) for key, entry in value.items()})
            else:
                values[name] = field.text(value)
        return cls(shape, MappingProxyType(values), MappingProxyType(tables))

    @classmethod
    def read(cls, shape: Shape, text: bytes) -> Start:
        """The start that a JSON text tells. Raises ValueError for one that does not fit the state's class."""
        return cls.of(shape, shape.model.model_validate_json(text))


class Stored:
    """What one session of a world stores."""

    def __init__(self, start: Start) -> None:
        """Begin with `start`, of which nothing is copied."""
        self._start = start
        self._shape = start.shape
        self.reset()

    def reset(self) -> None:
        """Be the start again. Costs what was changed, whatever there is."""
        self._values = dict(self._start.values)
        self._rows = {name: Rows(texts) for name, texts in self._start.tables.items()}

    def draft(self) -> BaseModel:
        """The state for one call, which may do with it what it likes."""
        return new_draft(self._shape.draft, self._draw)

    def complete(self, draft: BaseModel) -> None:
        """Let a draft hold every field, in plain dicts, now that its call changes nothing any more."""
        for name in self._shape.fields:
            value = getattr(draft, name)
            draft.__dict__[name] = value.copy() if isinstance(value, Table) else value

    def changes(self, draft: BaseModel, given: Given | None = None) -> list[Change]:
        """What a call that gave `given` changed. Raises WorldFailed for what the state's class does not allow."""
        drawn = draft.__dict__
        found = []
        for name, field in self._shape.fields.items():
            if name in drawn:
                for key, before, value in self._looked_at(field, drawn[name]):
                    if given is None or not given.is_stored(field, before, value):
                        change = _changed(field, key, before, value)
                        if change is not None:
                            found.append(change)
        return found

    def commit(self, changes: list[Change]) -> None:
        """Store what a call changed."""
        for field, key, _, after in changes:
            if field.is_table:
                self._rows[field.name].put(key, after)
            else:
                self._values[field.name] = after

    def diff(self) -> Patch:
        """What makes the present state of the start, as a JSON Patch, in the order of fields and keys."""
        return [
            step for field in self._shape.fields.values() for each in self._differing(field) for step in each.patch()
        ]

    def text(self) -> bytes:
        """The whole state as JSON."""
        parts = (b"%s:%s" % (_quoted(name), self._field_text(field)) for name, field in self._shape.fields.items())
        return b"{%s}" % b",".join(parts)

    def snapshot(self) -> Any:
        """The same as data."""
        return json.loads(self.text())

    def _field_text(self, field: Field) -> bytes:
        if not field.is_table:
            return self._values[field.name]
        rows = self._rows[field.name].items()
        return b"{%s}" % b",".join(b"%s:%s" % (_quoted(field.key_name(key)), text) for key, text in rows)

    def _draw(self, name: str) -> Any:
        field = self._shape.fields[name]
        return Table(self._rows[name], field.read) if field.is_table else field.read(self._values[name])

    def _looked_at(self, field: Field, value: Any) -> list[tuple[Any, Any, Any]]:
        """What a call may have changed of a field: key, text before, value now."""
        if not field.is_table:
            return [(_WHOLE, self._values[field.name], value)]
        rows = self._rows[field.name]
        if isinstance(value, Table) and value.rows is rows:
            touched = value.touched()
        else:
            new = dict(field.table_of(value))
            touched = [*new.items(), *((key, ABSENT) for key in rows if key not in new)]
        return [(key, rows.get(key), entry) for key, entry in touched]

    def _differing(self, field: Field) -> list[Change]:
        if not field.is_table:
            return [Change(field, _WHOLE, self._start.values[field.name], self._values[field.name])]
        rows = self._rows[field.name]
        return [Change(field, key, rows.begun(key), rows.get(key)) for key in sorted(rows.over, key=field.key_name)]


def _changed(field: Field, key: Any, before: Any, value: Any) -> Change | None:
    """The change of a field or an entry; None where it is written as before."""
    if value is ABSENT:
        return None if before is ABSENT else Change(field, key, before, ABSENT)
    try:
        if before is not ABSENT and field.text(value) == before:
            return None
    except ValueError:  # it has no JSON: what follows says so
        pass
    after = field.fitting(key, value)
    return None if after == before else Change(field, key, before, after)


def _quoted(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode()
