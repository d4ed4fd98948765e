"""What a session of a world keeps beside its state: ids and tokens handed out, and tools that have succeeded."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

_ID_LETTERS = 8


class Grant(NamedTuple):
    """What a token was handed out for."""

    holder: str
    expires: datetime | None
    """The moment from which it is not valid any more, if there is one."""


@dataclass(frozen=True)
class Ledger:
    """Never changes: each step gives a new one, so that a call that is undone leaves nothing."""

    key: str
    """Of the session's seed: other sessions hand out other ids."""
    issued: Mapping[str, int] = field(default_factory=dict)
    """How many ids there are with each prefix."""
    tokens: Mapping[str, Grant] = field(default_factory=dict)
    done: frozenset[str] = frozenset()
    """The tools that have succeeded, as far as another one wants to know."""

    def new_id(self, prefix: str) -> tuple[str, Ledger]:
        """An id, and the ledger that knows of it."""
        number = self.issued.get(prefix, 0) + 1
        return session_id(self.key, prefix, number), replace(self, issued={**self.issued, prefix: number})

    def new_token(self, grant: Grant) -> tuple[str, Ledger]:
        """A token, and the ledger that knows of it."""
        made, after = self.new_id("tok")
        return made, replace(after, tokens={**self.tokens, made: grant})

    def with_done(self, tool: str) -> Ledger:
        """The ledger in which that tool has succeeded."""
        return self if tool in self.done else replace(self, done=self.done | {tool})


def session_id(key: str, prefix: str, number: int) -> str:
    """An id that no other session has, nor this one for another prefix or number."""
    digest = hashlib.sha256(f"{key}\n{prefix}\n{number}".encode("utf-8", "surrogatepass")).digest()
    letters = b32encode(digest).decode("ascii")[:_ID_LETTERS]
    return f"{prefix}-{letters}" if prefix else letters
