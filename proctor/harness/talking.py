"""One conversation with an agent: the case's turns one after the other, each within its limits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from proctor.agents.contract import Answered, Asked, Conversation, Said, Settings
from proctor.harness.limits import Deadlines, Limit
from proctor.harness.replies import Replies
from proctor.harness.sessions import TrialSession
from proctor.harness.trial import TrialPlan
from proctor.wire import Cut

T = TypeVar("T")
Tell = Callable[[str, tuple[Any, ...]], Awaitable[None]]
"""Takes a session's URL and events that its agent told with an answer, to it."""
CUTS: dict[Cut, Limit] = {"steps": "limit_steps", "loop": "loop"}


class LimitHit(Exception):
    """The agent was stopped."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(limit)
        self.limit = limit


@dataclass
class Held:
    """One message of the user and what came of it. Times are seconds on the session's clock."""

    turn: int
    """Of the case; a message that the user answers by rule belongs to the turn in which the agent asked."""
    user: str
    began: float
    before: dict[str, Any]
    reply: str | None = None
    ended: float | None = None
    after: dict[str, Any] | None = None


class Talk:
    """The conversation of one trial. What was held so far stands in `held`, however it ends."""

    def __init__(self, plan: TrialPlan, session: TrialSession, settings: Settings, tell: Tell) -> None:
        self._plan = plan
        self._session = session
        self._settings = settings
        self._tell = tell
        self._replies = Replies(plan.case.replies)
        self.held: list[Held] = []

    async def hold(self, agent: Conversation) -> None:
        """Every turn. Raises AgentFailed, and LimitHit where the agent is stopped."""
        for number, turn in enumerate(self._plan.case.turns):
            user: str | None = turn.user
            while user is not None:
                answered = await self._turn(agent, number, user)
                user = self._replies.to(answered.reply)

    async def _turn(self, agent: Conversation, number: int, user: str) -> Answered:
        session = self._session
        before = (self.held[-1].after if self.held else None) or session.states()
        session.turn()
        held = Held(number, user, session.now(), before)
        self.held.append(held)
        try:
            deadlines = Deadlines(self._plan.limits, held.began, session.fault_seconds())
            answered = await within(self._answered(agent, held), deadlines, session)
        finally:
            held.after = session.states()
        if answered.events:
            await self._tell(session.info.url, answered.events)
        return answered

    async def _answered(self, agent: Conversation, held: Held) -> Answered:
        """The answer, with its moment as soon as it is there: what is called from then on is called too late."""
        answered = await agent.ask(self._asked(held.user), self._plan.limits.task)
        held.reply, held.ended = answered.reply, self._session.now()
        return answered

    def _asked(self, user: str) -> Asked:
        plan, info = self._plan, self._session.info
        history: list[Said] = []
        for each in self.held[:-1]:
            history.append(Said(role="user", content=each.user))
            if each.reply is not None:
                history.append(Said(role="assistant", content=each.reply))
        return Asked(
            case=plan.case.id,
            trial=plan.number,
            session=info.session,
            session_url=info.url,
            services={name: f"{info.url}/{name}" for name in info.modes},
            user_id=plan.identity.user_id,
            account=plan.identity.account,
            audience=plan.case.audience,
            settings=self._settings,
            turn=len(self.held) - 1,
            user=user,
            history=tuple(history),
        )


async def within(work: Coroutine[Any, Any, T], deadlines: Deadlines, session: TrialSession) -> T:
    """What the work gives, unless a deadline or the session's guard stops it. Raises LimitHit.

    An agent that was cut off and answers all the same was cut off.
    """
    task = asyncio.create_task(work)
    cut = asyncio.create_task(session.cut())
    try:
        while not task.done() and not cut.done():
            end, limit = deadlines.nearest(session.fault_seconds())
            left = end - session.now()
            if left <= 0:
                raise LimitHit(limit)
            await asyncio.wait({task, cut}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if cut.done():
            raise LimitHit(CUTS[cut.result()])
        return task.result()
    finally:
        for each in (task, cut):
            await _dropped(each)


async def _dropped(task: asyncio.Task[Any]) -> None:
    """End a task whose result nobody wants; one that is done already has been read, or is not wanted."""
    if not task.done():
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await task
