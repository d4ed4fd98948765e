"""From tests to the names of their tapes. Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePath

_UNSAFE = re.compile(r"[^\w.@+-]+")
_LONGEST = 199
"""Bytes of a whole name, as tapes' names are limited to."""
_SHORTEST_TEST = 40
_DIGEST = 8


def tape_name(file: PurePath, test: str) -> str:
    """`tests/test_refund/test_full-en` for `test_full[en]` of `tests/test_refund.py`, a path from the project's folder.

    What no path should hold becomes `-`, so two tests may come to one name (see `shared_names`). A name that would be
    too long is cut, and ends in a digest of the whole.
    """
    folder = "/".join(filter(None, map(_safe, file.with_suffix("").parts)))
    room = max(_LONGEST - len(folder.encode()) - 1, _SHORTEST_TEST)
    name = _safe(test) or "test"
    if len(name.encode()) > room:
        digest = hashlib.sha256(test.encode()).hexdigest()[:_DIGEST]
        name = f"{name.encode()[: room - _DIGEST - 1].decode(errors='ignore')}-{digest}"
    return f"{folder}/{name}"


def shared_names(named: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """By test, the others whose tape would be the same file somewhere; `named` are tests with the names of their tapes.

    File systems may not tell letters apart by case or composition, so neither does this.
    """
    tests: defaultdict[str, list[str]] = defaultdict(list)
    for test, name in named:
        tests[unicodedata.normalize("NFC", name).casefold()].append(test)
    return {
        test: tuple(other for other in group if other != test)
        for group in tests.values()
        if len(group) > 1
        for test in group
    }


def _safe(part: str) -> str:
    return _UNSAFE.sub("-", part).lstrip("-.@+").rstrip("-")
