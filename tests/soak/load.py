"""Conversations of this process with a standing proxy: every mode, carrier and kind of service."""

from __future__ import annotations

import asyncio
import contextlib
import random
import shutil
from dataclasses import dataclass, field
from typing import get_args

from aiohttp import ClientError, ClientSession

from proctor.client import ControlClient
from proctor.fault_file import read_plan
from proctor.wire import CarrierName, Mode, SessionInfo, SessionSpec
from tests.integration.proxy.carrying import CLIENTS, PATH, Way, body, way
from tests.soak.exchanges import chosen, left
from tests.soak.services import FINE_ONES, HARD
from tests.support import Project

TAPES = 5
FIRST = [{"role": "user", "content": "Where is my order US2001?"}]
"""Every conversation with the model begins so."""
MODES: tuple[Mode, ...] = ("record", "replay", "live")
FAULTS = ("place_order=503", "cancel_order:2=reset", "query_order=malformed", "list_orders=empty", "plain/1=truncated")
CALLS = (
    ("place_order", '{"lines": [{"sku": "TV01"}], "gift": true, "discount": 0.5, "due": "2026-02-01", "way": "post"}'),
    ("cancel_order", '{"order_id": "A1"}'),
    ("query_order", '{"order_id": "A2"}'),
    ("list_orders", "{}"),
    ("get_token", "{}"),
    ("break_down", '{"how": "throw"}'),
    ("query_order", '{"order_id": 1}'),
    ("desk", "{}"),
)
"""Tools of the world with arguments, and the service beside it."""
TALKERS = tuple(name for name in CLIENTS if name != "curl" or shutil.which("curl"))


def client() -> ClientSession:
    """A client with limits as wide as the longest head."""
    return ClientSession(max_field_size=2**17, max_headers=2_000)


@dataclass
class Load:
    """Conversations with one proxy. A stray of one fails the others too, so only the answers are asserted."""

    project: Project
    control: ControlClient
    http: ClientSession = field(default_factory=client)
    current: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the one session to which `_current` is bound."""

    async def hang_up(self) -> None:
        """End the connections that are kept for the next conversation: while they stand, the proxy holds its ends."""
        await self.http.close()
        self.http = client()

    async def __aenter__(self) -> Load:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.http.close()

    async def tapes(self) -> None:
        """Something to replay."""
        for number in range(TAPES):
            info = await self._opened(f"tape{number}", "record", "desk")
            await self._ask(f"{info.url}/desk", {f"/plain/{number}": 200, f"/stream/{number}": 200})
            await self._sealed(info)
        info = await self._opened("hard", "record", *FINE_ONES)
        for name in FINE_ONES:
            await self._ask(f"{info.url}/{name}", {"/x": 200})
        await self._sealed(info)
        info = await self._opened("model", "record", "openai")
        await CLIENTS["aiohttp"](_way("path", info, "sk-of-the-tape-0123456789"), FIRST)
        await self._sealed(info)

    async def desk(self, number: int, rng: random.Random) -> None:
        """Recorded, replayed or live, with misses, strays, cut answers and clients that leave early."""
        mode, place = rng.choice(MODES), number % TAPES
        info = await self._opened(f"tape{place}" if mode == "replay" else f"new{number}", mode, "desk")
        if mode == "replay":
            targets = {f"/plain/{place}": 200, f"/stream/{place}": 200, "/never": 422}
            await self._ask(f"{info.url}/desk", targets)
        else:
            own = {"Authorization": f"Bearer {rng.randbytes(16).hex()}"}
            for path, client in chosen(rng, 6):
                with contextlib.suppress(ClientError, ConnectionError):
                    await client(self.http, f"{info.url}/desk{path}", own)
        await self._ask(info.current_url.removesuffix("/s/_current"), {"/nowhere": 404})
        await self.control.close(info.session, rng.choice((0, 0, 1)))

    async def huge(self, number: int, rng: random.Random) -> None:
        """An answer of many MiB, and then one that nobody waits for."""
        info = await self._opened(f"huge{number}", rng.choice(("record", "record", "live")), "desk")
        await self._ask(f"{info.url}/desk", {"/huge/1": 200})
        await left(self.http, f"{info.url}/desk/huge/2", {})
        await self.control.close(info.session, 0)

    async def carried(self, number: int, rng: random.Random) -> None:
        """A chat by any client, whose session is named in any way; now and then another than its own."""
        carrier: CarrierName = rng.choice(get_args(CarrierName))
        mode, talker = rng.choice(MODES), rng.choice(TALKERS)
        async with self.current if carrier == "current" else contextlib.nullcontext():
            info = await self._opened("model" if mode == "replay" else f"said{number}", mode, "openai")
            if carrier == "current":
                await self.control.bind_current(info.session)
            assert await CLIENTS[talker](_way(carrier, info, f"sk-{rng.randbytes(16).hex()}"), FIRST)
            if rng.random() < 0.2:
                await self._refused(_way("header", info.model_copy(update={"session": "nobody"}), info.key), 404)
            await self.control.close(info.session, 0)
            if carrier == "current":
                await self.control.bind_current(None)
                await self._refused(_way("path", info, info.key), 410)

    async def hard(self, number: int, rng: random.Random) -> None:
        """Services behind TLS and proxies, old ones, and those that fail."""
        mode = rng.choice(MODES)
        names = rng.sample(FINE_ONES if mode == "replay" else tuple(HARD), 3)
        info = await self._opened("hard" if mode == "replay" else f"hard{number}", mode, *names)
        for name in names:
            await self._ask(f"{info.url}/{name}", {"/x": HARD[name]})
        await self.control.close(info.session, 0)

    async def world(self, number: int, rng: random.Random) -> None:
        """Tools that hold state, with faults on some calls, events, a reset, and an end that may be in the middle."""
        faults = read_plan(", ".join(rng.sample(FAULTS, 3)))
        spec = SessionSpec(cassette=f"case{number}", modes={"shop": "world", "desk": "live"}, faults=faults)
        info = await self.control.open(spec)
        async with self.http.post(f"{info.url}/_events", json={"kind": "note", "data": {"text": "hello"}}) as got:
            assert got.status == 200, await got.text()
        calls = [self._call(info, rng) for _ in range(rng.randrange(4, 16))]
        for answered in asyncio.as_completed(calls):
            await answered
        if rng.random() < 0.5:
            await self.control.reset_world(info.session, "shop")
            assert (await self.control.world(info.session, "shop")).diff == []
        await self.control.close(info.session, 0)

    async def _call(self, info: SessionInfo, rng: random.Random) -> None:
        """One call of the world or of the service beside it, right or wrong."""
        tool, arguments = rng.choice(CALLS)
        url = f"{info.url}/desk/plain/1" if tool == "desk" else f"{info.url}/shop/tools/{tool}"
        by = {"Authorization": f"Bearer proctor-world-{rng.choice(('alice', 'bob'))}"}
        with contextlib.suppress(ClientError, ConnectionError):
            async with self.http.post(url, data=arguments, headers=by) as got:
                await got.read()

    async def _opened(self, cassette: str, mode: Mode, *services: str) -> SessionInfo:
        return await self.control.open(SessionSpec(cassette=cassette, modes=dict.fromkeys(services, mode)))

    async def _sealed(self, info: SessionInfo) -> None:
        assert (await self.control.close(info.session, 0)).sealed

    async def _ask(self, url: str, targets: dict[str, int]) -> None:
        """Each target, which must be answered with its status."""
        for target, status in targets.items():
            async with self.http.get(url + target) as got:
                told = await got.read()
                assert got.status == status, (url, got.status, told[:500])

    async def _refused(self, asked: Way, status: int) -> None:
        async with self.http.post(asked.url + PATH, json=body(FIRST), headers=asked.sent) as got:
            told = await got.read()
            assert got.status == status, (got.status, told[:500])


def _way(carrier: CarrierName, info: SessionInfo, key: str) -> Way:
    return way(carrier, info, key, service="openai")
