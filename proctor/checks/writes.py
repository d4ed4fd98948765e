"""Which calls changed something: as the suite declares, as the traffic showed, else guessed from the name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from proctor.effects import guessed_effect
from proctor.tool_calls import Call, calls_of
from proctor.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class ToolEffects:
    """Patterns of tool names that are known to write or to read; `writes` wins."""

    writes: Sequence[str] = ()
    reads: Sequence[str] = ()

    def is_write(self, call: Call) -> bool:
        """Declared, else as its traffic showed, else by the verb in its name."""
        if any(fnmatchcase(call.name, pattern) for pattern in self.writes):
            return True
        if any(fnmatchcase(call.name, pattern) for pattern in self.reads):
            return False
        return (call.effect or guessed_effect(call.name)) == "write"


def writes_made(trajectory: Trajectory, effects: ToolEffects) -> tuple[Call, ...]:
    """The writing calls in order, without those that ended in an error: an error changes nothing."""
    return tuple(call for call in calls_of(trajectory) if call.failed is not True and effects.is_write(call))


def writes_refused(trajectory: Trajectory, effects: ToolEffects) -> tuple[Call, ...]:
    """The writing calls that ended in an error."""
    return tuple(call for call in calls_of(trajectory) if call.failed is True and effects.is_write(call))
