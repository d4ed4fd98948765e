"""What a test asks of Proctor, read from its markers and the command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from proctor.errors import UsageError, nearest

MARKER = "proctor"
FIXTURE = "proctor_session"
RECORD = "--proctor-record"
STRICT = "--proctor-strict"

_KINDS: dict[str, type] = {
    "cassette": str,
    "modes": Mapping,
    "strict": bool,
    "timing": bool,
    "allow_unused": bool,
    "faults": str,
}


@dataclass(frozen=True)
class Wanted:
    """The settings of one test."""

    cassette: str = ""
    """The tape's name, where it is not to be the test's."""
    modes: Mapping[str, str] = field(default_factory=dict)
    """Services in another mode than the rest, as `--mode` gives them."""
    strict: bool = False
    timing: bool = False
    """Answers from the tape take as long as the real ones took."""
    allow_unused: bool = False
    faults: str = ""
    """What goes wrong, and when, as `--faults` takes it."""


def wanted_by(item: pytest.Item) -> Wanted:
    """The settings of a test: of its markers the nearest decides, key by key. Raises UsageError for unknown ones."""
    found: dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers(MARKER))):
        if marker.args:
            raise UsageError("marker_wrong", f"@pytest.mark.{MARKER} takes names only", f"say {MARKER}(cassette=...)")
        for key, value in marker.kwargs.items():
            kind = _KINDS.get(key)
            if kind is None:
                raise UsageError("marker_wrong", f'@pytest.mark.{MARKER} has no "{key}"', nearest(key, _KINDS))
            if not isinstance(value, kind):
                told = f"@pytest.mark.{MARKER}: {key} is {value!r}"
                raise UsageError("marker_wrong", told, f"it takes a {kind.__name__.lower()}")
            found[key] = value
    return Wanted(**{**found, "strict": found.get("strict", False) or item.config.getoption(STRICT)})


def test_name(item: pytest.Item) -> str:
    """A test's name within its file: `TestRefund.test_full[en]`."""
    return ".".join(_names(item))


def test_id(item: pytest.Item) -> str:
    """How a person names a test to pytest. Unlike `nodeid`, without what xdist adds for its groups."""
    return "::".join((item.nodeid.partition("::")[0], *_names(item)))


def recording_command(item: pytest.Item) -> str:
    """What records a test's tape."""
    return f"pytest {shlex.quote(test_id(item))} {RECORD}"


def _names(item: pytest.Item) -> list[str]:
    return [node.name for node in item.listchain() if isinstance(node, pytest.Class | pytest.Item)]
