"""Types of which an answer's JSON and the stored JSON are the same, whatever the value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_TYPES = frozenset(
    """
    model model-fields model-field list dict nullable default definitions definition-ref
    str int float bool none decimal date time datetime timedelta uuid enum literal
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)
_INNER = ("schema", "items_schema", "keys_schema", "values_schema")


def is_plain(schema: Mapping[str, Any]) -> bool:
    """Whether pydantic writes a core schema's values alike with and without `round_trip`, and runs no code of theirs.

    That is computed fields, `Json[...]`, serializers and values of any type; what is not known is taken to differ.
    """
    return (
        schema["type"] in _TYPES
        and not any(key.startswith("serialization") for key in schema)
        and not schema.get("computed_fields")
        and "allow" not in (schema.get("extra_behavior"), _config(schema).get("extra_fields_behavior"))
        and not _config(schema).get("polymorphic_serialization")
        and all(isinstance(value, str | int | None) for value in _values(schema))
        and all(is_plain(each) for each in _parts(schema))
    )


def _config(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return schema.get("config") or {}


def _values(schema: Mapping[str, Any]) -> Iterator[Any]:
    """What is written for each member of an enumeration, or each literal."""
    for member in (*schema.get("members", ()), *schema.get("expected", ())):
        yield getattr(member, "value", member)


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from (schema[key] for key in _INNER if key in schema)
    yield from schema.get("fields", {}).values()
    yield from schema.get("definitions", ())
