"""Secrets that stand in the environment: by the names of their variables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from proctor.placeholders import is_placeholder
from proctor.redaction.names import names_secret_variable, normal
from proctor.redaction.strength import SHORTEST, is_strong


def secret_variables(
    environ: Mapping[str, str], keep: Iterable[str] = (), named: Collection[str] = ()
) -> dict[str, str]:
    """Secret value to the name of the variable that holds it, the first by name where several do.

    A variable counts whose name says so (`ORDERS_TOKEN`) and whose value is strong: 12 characters, 3 bits a character,
    and no file's path. Names in `keep` do not. Those in `named` do from 8 characters on.
    """
    kept = set(map(normal, keep))
    found: dict[str, str] = {}
    for name, value in sorted(environ.items()):
        says_so = names_secret_variable(name) and normal(name) not in kept
        counts = (name in named and len(value) >= SHORTEST) or (
            says_so and is_strong(value) and not value.startswith("/")
        )
        if counts and not is_placeholder(value):
            found.setdefault(value, name)
    return found
