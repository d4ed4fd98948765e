"""A standing proxy after many conversations of every kind holds no more than after the first of them."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from proctor.client import ControlClient
from tests.integration.serve.support import TOKEN, Serve, serve
from tests.property.counts import SOAK, count
from tests.soak import programs
from tests.soak.holding import AT_ONCE, assert_no_more, held_by
from tests.soak.load import Load
from tests.soak.programs import Programs
from tests.soak.services import running
from tests.support import Project

CONVERSATIONS = count(120, 1_000)
FIRST = count(40, 100)
"""What is held after so many is the measure."""
SECONDS = count(0, 600)
"""A soak goes on until so much time has passed, too."""
OF_PROGRAMS = count(2, 60)
"""Conversations of other people's clients alone."""

Conversation = Callable[[int, random.Random], Awaitable[None]]
Kinds = Sequence[Conversation]
"""Conversations in turn: so a tenth of a soak has the same share of each kind as the rest."""

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.timeout(1800),
]


@asynccontextmanager
async def standing(project: Project) -> AsyncIterator[tuple[Serve, Load]]:
    """A proxy with every service, and something to ask it."""
    async with (
        running(project, programs.PROGRAMS) as env,
        serve(project, env=env) as on,
        ControlClient(on.ready["control"], TOKEN) as control,
        Load(project, control) as load,
    ):
        yield on, load


async def hold(kinds: Kinds, numbers: range) -> None:
    """These conversations, some of them at once. The number of one decides everything about it."""
    waiting = iter(numbers)

    async def worker() -> None:
        for number in waiting:
            await kinds[number % len(kinds)](number, random.Random(number))

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(worker())


async def assert_nothing_is_kept(
    on: Serve, load: Load, kinds: Kinds, tell: Callable[[str, object], None], first: int, total: int, seconds: float
) -> None:
    """The measure after `first` conversations, and after all of them and so many seconds; both are told."""
    begun = time.monotonic()
    await hold(kinds, range(first))
    await load.hang_up()
    early = await held_by(on, load.control)
    done = first
    while done < total or time.monotonic() < begun + seconds:
        await hold(kinds, range(done, done + first))
        done += first
    await load.hang_up()
    late = await held_by(on, load.control)
    for name, value in (
        ("early", early),
        ("late", late),
        ("conversations", done),
        ("seconds", time.monotonic() - begun),
    ):
        tell(name, str(value))
        print(f"{name}: {value}")  # noqa: T201 - shown by -s, and with a failure
    assert not await load.control.sessions()
    assert_no_more(late, early)


async def test_memory_files_and_tasks_stay_as_they_were_after_a_tenth(
    project: Project, record_property: Callable[[str, object], None]
) -> None:
    async with standing(project) as (on, load):
        await load.tapes()
        kinds = [load.huge, *[load.desk] * 19, *[load.carried] * 10, *[load.hard] * 10, *[load.world] * 10]
        if SOAK and not programs.missing():
            kinds += [(await Programs.recorded(load)).hold] * 2
        random.Random(0).shuffle(kinds)
        await assert_nothing_is_kept(on, load, kinds, record_property, FIRST, CONVERSATIONS, SECONDS)


async def test_so_they_do_after_conversations_of_other_peoples_clients(
    project: Project, record_property: Callable[[str, object], None]
) -> None:
    """Alone, since they are heavy; in a soak they have a share in the others too. Without them this is skipped."""
    if reason := programs.missing():
        pytest.skip(f"no other people's clients took part: {reason}")
    async with standing(project) as (on, load):
        made = await Programs.recorded(load)
        await assert_nothing_is_kept(on, load, [made.hold], record_property, OF_PROGRAMS // 2, OF_PROGRAMS, 0)
