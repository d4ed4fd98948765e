"""What has to be unguessable for the author of a run, and yet the same whenever the same run is judged again."""

from __future__ import annotations

import hmac
from collections.abc import Iterable

from proctor.rubric import Criterion

LENGTH = 16
"""Hexadecimal characters of a tag."""


def fence(salt: bytes, digest: str, criterion: str, texts: Iterable[str] = ()) -> str:
    """The tag that begins every line of ours: lower-case hex, drawn again where one of `texts` holds it by chance.

    `salt` is the installation's secret, `digest` the transcript's, `criterion` an id.
    """
    shown = tuple(texts)
    number = 0
    while True:
        tag = _drawn(salt, "fence", digest, criterion, str(number))[:LENGTH]
        if not any(tag in text for text in shown):
            return tag
        number += 1


def level_order(salt: bytes, digest: str, criterion: Criterion) -> tuple[int, ...]:
    """The levels in the order in which they are listed: judges favour positions, so no level has one of its own."""
    scores = sorted(level.score for level in criterion.levels)
    return tuple(sorted(scores, key=lambda score: _drawn(salt, "level", digest, criterion.id, str(score))))


def seed(salt: bytes, digest: str, criterion: str) -> int:
    """For models that take one: 31 bits."""
    return int(_drawn(salt, "seed", digest, criterion)[:8], 16) & 0x7FFFFFFF


def _drawn(salt: bytes, *parts: str) -> str:
    return hmac.digest(salt, "\0".join(parts).encode(), "sha256").hex()
