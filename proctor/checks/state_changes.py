"""Which calls change the world, as far as that can be told."""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import fnmatchcase

from proctor.effects import READ_VERBS
from proctor.tool_calls import Call

WRITE_VERBS = frozenset(
    """
    accept activate add adjust apply approve assign attach award block book buy cancel change charge checkout clear
    close commit complete confirm create credit deactivate delete deploy destroy disable downgrade drop edit email
    enable erase exchange execute file fill grant insert install invite issue kill lock mark merge modify move notify
    open order patch pay place post publish purchase push put rebook refund register reject release remove rename
    renew reopen replace request reschedule reserve reset restart restore return revoke save schedule send set ship
    shutdown start stop submit subscribe suspend switch terminate transfer unlock unsubscribe update upgrade upload
    upsert wipe withdraw write
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)
INWARD_VERBS = frozenset({"think", "reflect", "plan", "reason", "note"})
"""Tools with which an agent talks to itself."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words_of_name(name: str) -> list[str]:
    """`cancelOrder` and `cancel_order` are `cancel` and `order`."""
    return [word.lower() for word in _WORD.findall(name)]


def changes_state(call: Call, writes: Collection[str] = ()) -> bool | None:
    """True, False, or None where neither a declaration, the traffic nor the tool's name tells.

    `writes` are patterns of tools that are declared to write.
    """
    if any(fnmatchcase(call.name, pattern) for pattern in writes):
        return True
    if call.effect is not None:
        return call.effect == "write"
    words = words_of_name(call.name)
    if not words:
        return None
    if words[0] in READ_VERBS or words[0] in INWARD_VERBS:
        return False
    return True if WRITE_VERBS.intersection(words) else None


def is_reading(call: Call) -> bool:
    """The call looks something up: its traffic or its name says so."""
    if call.effect is not None:
        return call.effect == "read"
    words = words_of_name(call.name)
    return bool(words) and words[0] in READ_VERBS
