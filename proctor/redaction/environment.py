"""Secrets that stand in the environment: by the names of their variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from proctor.placeholders import is_placeholder
from proctor.redaction.names import names_secret_variable, normal
from proctor.redaction.strength import is_strong


def secret_variables(environ: Mapping[str, str], keep: Iterable[str] = ()) -> dict[str, str]:
    """Secret value to the name of the variable that holds it, the first by name where several do.

    A variable counts whose name says so (`ORDERS_TOKEN`) and whose value is strong: 12 characters, 3 bits a character,
    and no file's path. Names in `keep` do not.
    """
    kept = set(map(normal, keep))
    found: dict[str, str] = {}
    for name, value in sorted(environ.items()):
        named = names_secret_variable(name) and normal(name) not in kept
        if named and is_strong(value) and not value.startswith("/") and not is_placeholder(value):
            found.setdefault(value, name)
    return found
