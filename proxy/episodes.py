"""The source that answers from a tape, and asks the real service for what the tape does not have, to append it."""

from __future__ import annotations

from aiohttp import web

from proctor.effects import effect_of, tool_of
from proctor.proxy.identity import IdentityBinder
from proctor.proxy.keeping import Ending
from proctor.proxy.live_world import LiveWorld, Played, Unreached
from proctor.proxy.receiving import FAILURES
from proctor.proxy.replay import Playable, Replay
from proctor.proxy.seams import Exchange
from proctor.proxy.upstream import Upstream
from proctor.service_config import ServiceConfig


class ModelEpisodes:
    """Answers an LLM service: its calls depend on no state, so only what the tape lacks is asked."""

    def __init__(self, replay: Replay, upstream: Upstream) -> None:
        self._replay = replay
        self._upstream = upstream

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """See `Source.answer`."""
        found = self._replay.look(exchange, strict=True)
        if isinstance(found, Playable):
            return await self._replay.play(exchange, found)
        return await self._upstream.answer(exchange)


class ToolEpisodes:
    """Answers a tool service: from the tape only in the very same state, and never a write once more.

    Everything else goes to the real service, which has then seen all that the tape answered in this session.
    """

    def __init__(
        self, service: ServiceConfig, replay: Replay, upstream: Upstream, world: LiveWorld, binder: IdentityBinder
    ) -> None:
        self._service = service
        self._replay = replay
        self._upstream = upstream
        self._world = world
        self._binder = binder

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """See `Source.answer`."""
        async with self._world.lock:
            found = self._replay.look(exchange, strict=True)
            if not isinstance(found, Playable):
                return await self._new_episode(exchange)
            await self._world.played(Played(self._upstream, exchange.request, found.choice.position))
            return await self._replay.play(exchange, found)

    async def _new_episode(self, exchange: Exchange) -> web.StreamResponse:
        world, name = self._world, exchange.service.name
        group = exchange.session.config.group_of(name)
        try:
            await world.catch_up()
        except Unreached as left:
            return left.played.upstream.unreachable(exchange, left.cause)
        exchange.after, exchange.beside = world.after(group), ()  # one call after the other: none overlaps
        if self._writes(exchange):
            world.order.wrote_elsewhere(group, exchange.index)
        try:
            live = await self._upstream.ask(world.request(self._upstream, exchange.request), exchange.limit)
        except FAILURES as error:
            return self._upstream.unreachable(exchange, error)
        answer = world.worlds.response(live)
        self._binder.fresh |= world.worlds.secrets_in(answer)
        return self._upstream.keeper.deliver(exchange, answer, Ending(client_gone=exchange.http.transport is None))

    def _writes(self, exchange: Exchange) -> bool:
        path, method = exchange.target.partition("?")[0], exchange.http.method
        tool = tool_of(self._service, method, path, exchange.headers)
        return effect_of(self._service, method, path, tool).effect == "write"
