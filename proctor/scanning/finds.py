"""What a scan finds: places and fingerprints, never a value."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from proctor.redaction.strength import Reach, reach_of

FILE = -1
"""The index of what stands in a tape's file beside its interactions."""
_BYTES = 3
"""Of a fingerprint. So few that a phone number is one of hundreds with the same: it gives no value away."""

State = Literal["found", "allowed", "kept", "already"]
"""`kept`: no secret because of `keep`. `already`: a placeholder stands there."""


@dataclass(frozen=True)
class Find:
    """One value at one place of one tape. `interaction` is None where it stands beside them."""

    tape: str
    interaction: int | None
    place: str
    kind: str
    fingerprint: str
    rule: str
    """What decided it, in words."""
    state: State = "found"
    reason: str = ""
    """Why it is allowed."""


@dataclass(frozen=True)
class NotLooked:
    """A body that could not be looked into. `interaction` is None for a file that belongs to none."""

    tape: str
    interaction: int | None
    place: str
    why: str
    fingerprint: str
    """Of its bytes: a body that changes is another one."""
    reason: str = ""
    """Why that is allowed."""


@dataclass(frozen=True)
class TapeScan:
    """What one tape holds."""

    tape: str
    by: str
    """`proctor` or `vcrpy`."""
    interactions: int
    finds: tuple[Find, ...]
    not_looked: tuple[NotLooked, ...]
    notes: tuple[str, ...] = ()


def fingerprint(value: str, place: str) -> str:
    """Six hex digits of a value, alike on all machines; of its place where it is so short that it could be guessed."""
    said = f"place {place}" if reach_of(value) is Reach.PLACE else f"value {value}"
    return fingerprint_of_bytes(said.encode("utf-8", "surrogatepass"))


def fingerprint_of_bytes(data: bytes) -> str:
    """Six hex digits of some bytes."""
    return hashlib.blake2b(data, digest_size=_BYTES, person=b"proctor-scan").hexdigest()
