"""When planned faults are due: positions become calls, and calls are counted as they come. Pure; the seed decides."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

from proctor.effects import tool_today
from proctor.errors import UsageError, nearest
from proctor.fault_plan import POSITIONS, Fault, FaultPlanSpec, Position
from proctor.interaction import Interaction
from proctor.service_config import ServiceConfig


class Call(NamedTuple):
    """One request, as far as a plan can name it."""

    service: str
    tool: str | None
    method: str = ""
    path: str = ""
    llm: bool = False
    """It goes to an LLM service."""

    @property
    def name(self) -> str:
        """Its tool, else method and path."""
        return self.tool or f"{self.method} {self.path}"

    @property
    def short(self) -> str:
        """Its tool; where nothing says how requests name those, the end of its path."""
        return self.tool or self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Planned:
    """A fault with the call at which it begins."""

    fault: Fault
    first: int
    """The how-manieth of the calls that the fault is for, from 1."""

    @property
    def last(self) -> int:
        """The last of its calls."""
        return self.first + self.fault.times - 1


class Firing(NamedTuple):
    """A fault that is due."""

    fault: Fault
    planned: str
    """The fault as the plan says it."""
    call: int
    """The how-manieth call it is."""


@dataclass
class Schedule:
    """Counts the calls of one session against its plan."""

    planned: tuple[Planned, ...]
    calls: list[int] = field(init=False)
    """By fault of the plan: how many calls there were that it is for."""
    fired: list[int] = field(init=False)
    """By fault of the plan: how often it fired."""

    def __post_init__(self) -> None:
        """Nothing was called yet."""
        self.calls, self.fired = [0] * len(self.planned), [0] * len(self.planned)

    def next(self, call: Call, *, taken: bool = False) -> Firing | None:
        """Count a call; gives the fault that is due at it: of several the first of the plan.

        A call that is `taken` meets a fault which no plan has: it is counted, and nothing fires at it.
        """
        due: Firing | None = None
        for number, planned in enumerate(self.planned):
            if not is_for(planned.fault, call):
                continue
            self.calls[number] += 1
            if due is None and not taken and planned.first <= self.calls[number] <= planned.last:
                self.fired[number] += 1
                due = Firing(planned.fault, planned.fault.told, self.calls[number])
        return due

    def unfired(self) -> Iterable[tuple[Planned, int, int]]:
        """Each fault that did not fire as often as was planned, with how often it did, and how many calls came."""
        for planned, fired, calls in zip(self.planned, self.fired, self.calls, strict=True):
            if fired < planned.fault.times:
                yield planned, fired, calls


def is_for(fault: Fault, call: Call) -> bool:
    """Whether a call is one of those that a fault names."""
    if fault.service and fault.service != call.service:
        return False
    wanted = fault.tool
    if wanted == call.service or (wanted == "*" and fault.service):
        return True
    places = (call.path, f"{call.method} {call.path}")
    if call.llm:  # "*" means every tool call, and an LLM is none
        return "/" in wanted and any(fnmatchcase(place, wanted) for place in places)
    return any(fnmatchcase(name, wanted) for name in (call.short, call.service, *places) if name)


def resolved(plan: FaultPlanSpec, tape: Sequence[Call] = ()) -> tuple[Planned, ...]:
    """Every fault with its first call: positions are thirds of the plan's reference, else of the tape's tool calls.

    Raises UsageError for a position where there is neither, or where no call that is meant lies in that third.
    """
    calls = [Call("", name) for name in plan.reference] or [call for call in tape if not call.llm]
    whose = "the reference" if plan.reference else "the tape"
    return tuple(
        Planned(fault, fault.call or 1)
        if fault.position is None
        else Planned(fault, _placed(plan, number, fault, fault.position, calls, whose))
        for number, fault in enumerate(plan.fault)
    )


def calls_on(interactions: Iterable[Interaction], services: Mapping[str, ServiceConfig]) -> tuple[Call, ...]:
    """The calls on a tape, in order."""
    return tuple(
        Call(
            interaction.request.service,
            tool_today(services, interaction),
            interaction.request.method,
            interaction.request.target.partition("?")[0],
            llm=interaction.request.service in services and services[interaction.request.service].preset is not None,
        )
        for interaction in interactions
    )


def third_of(place: int, count: int) -> Position:
    """In which third of `count` calls the one at `place` (from 0) lies."""
    return POSITIONS[place * 3 // count]


def drawn(count: int, *key: object) -> int:
    """A number below `count` (at least 1) that the key alone decides, on any machine and any day."""
    digest = hashlib.blake2b("\0".join(map(str, key)).encode(), digest_size=8).digest()
    return int.from_bytes(digest) % count


def _placed(
    plan: FaultPlanSpec, number: int, fault: Fault, position: Position, calls: Sequence[Call], whose: str
) -> int:
    """The how-manieth of its calls a fault by position begins at."""
    if not calls:
        raise UsageError(
            "fault_position_unknown",
            f"fault {fault.told}: positions are thirds of the tool calls, and no tape or reference says what those are",
            f"say which call: {fault.told.replace(f':{position}', ':1')}; or give the plan a reference, or use a tape",
        )
    meant = [place for place, call in enumerate(calls) if is_for(fault, call)]
    inside = [nth for nth, place in enumerate(meant, 1) if third_of(place, len(calls)) == position]
    if not inside:
        thirds = ", ".join(f"call {nth} is {third_of(place, len(calls))}" for nth, place in enumerate(meant, 1))
        known = nearest(fault.tool, {call.short for call in calls if call.short})
        raise UsageError(
            "fault_position_empty",
            f"fault {fault.told}: none of the {len(calls)} tool calls of {whose} is one of these and {position}",
            f"of these {thirds}" if meant else f"it has none of these at all; {known}",
        )
    return inside[drawn(len(inside), plan.seed, number, fault.told)]
