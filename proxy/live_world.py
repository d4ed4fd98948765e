"""Keeping the real services in step with a session that a tape answers, from the first call that the tape lacks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proctor.interaction import Request, Response
from proctor.proxy.both_worlds import BothWorlds
from proctor.proxy.order import StateAware
from proctor.proxy.playback import Tape
from proctor.proxy.receiving import FAILURES
from proctor.proxy.upstream import Upstream
from proctor.summary import label

if TYPE_CHECKING:
    from proctor.proxy.session import Session


@dataclass(frozen=True)
class Played:
    """A call that the tape answered from `position`, and the real service that it would have gone to."""

    upstream: Upstream
    request: Request
    position: int


class Unreached(Exception):
    """A call that could not be made again."""

    def __init__(self, played: Played, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.played = played
        self.cause = cause


@dataclass
class LiveWorld:
    """The real tool services that one session may ask. They are asked one call after the other, under `lock`.

    Until one of them is needed none is asked. Then all that the tape has answered so far is made again, of every
    service, since one may hand out what another wants; and from then on each call as it comes.
    """

    session: Session
    tape: Tape
    order: StateAware
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    worlds: BothWorlds = field(init=False)
    _played: list[Played] = field(default_factory=list, init=False)
    """Those that the real services have not seen yet."""
    _in_step: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Nothing is known yet of what stands for what."""
        self.worlds = BothWorlds(self.session.secrets)

    async def played(self, played: Played) -> None:
        """Note a call that the tape answers; it is made again at once where the real services are in step."""
        self._played.append(played)
        if self._in_step:
            try:
                await self.catch_up()
            except Unreached as left:
                error = left.played.upstream.unreached(left.cause)
                self.session.failed(error["code"], error["message"], error["fix"])

    async def catch_up(self) -> None:
        """Make every call again that the real services have not seen. Raises Unreached."""
        self._in_step = True
        while self._played:
            await self._again(self._played[0])
            del self._played[0]

    def request(self, upstream: Upstream, request: Request) -> Request:
        """A request as staging understands it; where it may not, what is new is no basis for a tape."""
        carried = self.worlds.unmapped.carried(request, upstream.key_headers)
        if carried:
            value, where = carried
            path = request.target.partition("?")[0]
            told = f"{request.service} {request.method} {path} carries {value}, which staging has otherwise ({where})"
            self.session.doubted("unmapped_value", told)
            self.session.tally.notes[f"{told}: staging may know it by another name, or as another's"] = None
        return self.worlds.request(request)

    def after(self, group: str) -> tuple[int, ...]:
        """The writes of a group so far, as `Interaction.after` has them in the journal.

        Those that are new follow the tape's, by the numbers of their exchanges; sealing gives them their places.
        """
        positions, new = self.order.made(group)
        size = len(self.tape.cassette.interactions)
        return (*positions, *(size + index for index in new))

    async def _again(self, played: Played) -> None:
        recorded = self.tape.cassette.interactions[played.position]
        try:
            live = await played.upstream.ask(self.request(played.upstream, played.request))
        except FAILURES as error:
            raise Unreached(played, error) from None
        tally = self.session.tally
        tally.made_again += 1
        told = f"#{played.position} {recorded.request.service} {label(recorded)}"
        if live.status != recorded.response.status or not live.complete:
            told = f"staging answered {told} with {_status(live)}, the tape has {recorded.response.status}"
            self.session.doubted("other_answer", told)
            tally.notes[f"{told}: what is new was recorded in another state"] = None
            return
        unmapped = self.worlds.learn(recorded.response, live, told)
        if unmapped:
            more = f", and {len(unmapped) - 1} more" if len(unmapped) > 1 else ""
            tally.notes[f"staging's answer to {told} is not the tape's: {unmapped[0]}{more}"] = None


def _status(live: Response) -> str:
    return str(live.status) if live.complete else f"{live.status}, and broke off"
