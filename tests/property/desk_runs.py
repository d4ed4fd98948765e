"""An agent at the order desk that asks again, asks less, asks more and asks in another order between its writes."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiohttp import ClientSession

from examples.order_desk import server
from tests.support import serving_app

CUSTOMER = "C-1001"
ORDERS = ("CN1001", "CN1002")
VOLATILE = frozenset({"served_at", "request_id", "refund_id", "token", "created_at"})


class Call(NamedTuple):
    """One tool call."""

    tool: str
    arguments: Mapping[str, str]

    @property
    def writes(self) -> bool:
        """Whether it changes the desk's state; a quote is stored, so it does."""
        return not self.tool.startswith("query_")


READS = tuple(Call(tool, {"order_id": order}) for tool in ("query_order", "query_logistics") for order in ORDERS)


def _write(rng: random.Random, number: int) -> list[Call]:
    order = rng.choice(ORDERS)
    if rng.random() < 0.6:
        return [Call("change_address", {"order_id": order, "address": f"上海市 {number} 号"})]
    return [Call("calc_refund", {"order_id": order}), Call("create_refund", {"order_id": order, "amount": "5.00"})]


def script(rng: random.Random, writes: int) -> list[Call]:
    """Reads, a write, reads, a write, ..., reads."""
    calls = [rng.choice(READS) for _ in range(rng.randrange(1, 5))]
    for number in range(writes):
        calls += _write(rng, number)
        calls += [rng.choice(READS) for _ in range(rng.randrange(5))]
    return calls


def varied(rng: random.Random, calls: Sequence[Call]) -> list[Call]:
    """The same writes in the same order, with the reads between them repeated, dropped, added and shuffled."""
    made: list[Call] = []
    between: list[Call] = []
    known = [call for call in calls if not call.writes]
    for call in calls:
        if not call.writes:
            between.append(call)
            continue
        made += [*_other(rng, between, known), call]
        between = []
    return made + _other(rng, between, known)


def _other(rng: random.Random, reads: Sequence[Call], known: Sequence[Call]) -> list[Call]:
    kept = [read for read in reads if rng.random() < 0.8]
    kept += [read for read in kept if rng.random() < 0.3]
    if rng.random() < 0.25:
        kept.append(rng.choice(known))
    rng.shuffle(kept)
    return kept


@asynccontextmanager
async def desk() -> AsyncIterator[str]:
    """A new order desk; gives its URL."""
    async with serving_app(server.create_app()) as url:
        yield url


async def run(http: ClientSession, url: str, calls: Sequence[Call]) -> list[Any]:
    """Make the calls one after the other; each answer without what differs on every call. A miss is None."""
    token = await token_of(http, url)
    return [await ask(http, url, call, token) for call in calls]


async def token_of(http: ClientSession, url: str) -> str:
    """The customer's token."""
    return str((await _post(http, f"{url}/tools/get_token", {"customer_id": CUSTOMER}, ""))["token"])


async def ask(http: ClientSession, url: str, call: Call, token: str) -> Any:
    """The answer to one call, without what differs on every call; None for a miss."""
    return _stable(await _post(http, f"{url}/tools/{call.tool}", call.arguments, token))


async def _post(http: ClientSession, url: str, body: Mapping[str, str], token: str) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with http.post(url, json=dict(body), headers=headers) as answer:
        told = json.loads(await answer.read())
        return {"status": answer.status, **told} if answer.status != 422 else None


def _stable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _stable(each) for key, each in value.items() if key not in VOLATILE}
    return [_stable(each) for each in value] if isinstance(value, list) else value


def next_in_line(calls: Sequence[Call], answers: Sequence[Any], asked: Sequence[Call]) -> list[Any]:
    """What a recorder answers that gives equal calls their recordings in order, and the last one again."""
    lines: dict[str, list[Any]] = {}
    for call, answer in zip(calls, answers, strict=True):
        lines.setdefault(repr(call), []).append(answer)
    return [_taken(lines.get(repr(call), [])) for call in asked]


def _taken(line: list[Any]) -> Any:
    if not line:
        return None
    return line.pop(0) if len(line) > 1 else line[0]
