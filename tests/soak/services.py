"""The real services of a soak, in one `proctor.toml`: plain ones, a model, and those that are hard to reach."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import trustme
from aiohttp import web

from examples.order_desk import server, stand_in_model
from tests.clients.catalogue import Client
from tests.clients.running import CLOSED, KEYS
from tests.integration.proxy.raw import Answering, Canned, raw_service
from tests.integration.serve.support import TOKEN
from tests.integration.upstream.odd import FINE, NO_HTTP, never, then_closes
from tests.integration.upstream.support import between, https, say_ok, write
from tests.soak.exchanges import answer
from tests.support import ROOT, Project, serving, serving_app

USER = "ann:p4ss-of-ann"
HARD = {
    "tls": 200,
    "proxied": 200,
    "tunnelled": 200,
    "odd": 200,
    "malformed": 502,
    "distrusted": 502,
    "down": 502,
    "silent": 504,
}
"""The services that are reached in unusual ways, with the status that an agent gets."""
FINE_ONES = tuple(name for name, status in HARD.items() if status == 200)

TOML = """
[services.desk]
url = "{desk}"
reads = ["*"]

[services.orders]
url = "{orders}"
reads = ["*"]

[services.shop]
world = "shop:Shop"
identities = {{ alice = "env:ALICE_TOKEN", bob = "env:BOB_TOKEN" }}

[services.openai]
preset = "openai"
url = "{model}/v1"

[services.anthropic]
preset = "anthropic"
url = "{model}"

[services.tls]
url = "{mutual}"
ca = "ca.pem"
client_cert = "me.pem"
client_key = "me.key"
credential = "env:PUT_ON"

[services.proxied]
url = "{plain}"
proxy = "env:WAY_OUT"
credential = {{ value = "env:PUT_ON", header = "X-Key" }}

[services.tunnelled]
url = "{secure}"
ca = "ca.pem"
proxy = "env:WAY_OUT"

[services.odd]
url = "{odd}"

[services.malformed]
url = "{malformed}"

[services.distrusted]
url = "{secure}"

[services.down]
url = "{down}"

[services.silent]
url = "{silent}"
timeout = 0.2
"""


@asynccontextmanager
async def running(project: Project, clients: tuple[Client, ...]) -> AsyncIterator[dict[str, str]]:
    """Every service, with the project's `proctor.toml`. Gives the environment of a proxy that may ask them all."""
    ca = trustme.CA()
    mine = ca.issue_cert("proctor@example.org")
    write(project, "ca.pem", ca.cert_pem)
    write(project, "me.pem", *mine.cert_chain_pems)
    write(project, "me.key", mine.private_key_pem)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        way = await enter(between(USER))
        urls = {
            "desk": await enter(serving(answer)),
            "orders": await enter(serving_app(_order_desks(project, clients))),
            "model": await enter(serving_app(stand_in_model.create_app())),
            "plain": await enter(serving(say_ok)),
            "secure": await enter(https(ca.issue_cert("127.0.0.1"))),
            "mutual": await enter(https(ca.issue_cert("127.0.0.1"), client_ca=ca)),
            "odd": (await enter(raw_service(_in_turn(*(data for data, _ in FINE.values()))))).url,
            "malformed": (await enter(raw_service(_in_turn(*(then_closes(data) for data, _ in NO_HTTP.values()))))).url,
            "silent": (await enter(raw_service(never))).url,
        }
        project.script("shop.py", (ROOT / "tests" / "unit" / "world" / "shop.py").read_text(encoding="utf-8"))
        project.configure(TOML.format(down=CLOSED, **urls))
        way_out = way.url.replace("//", f"//{USER}@")
        yield {"PROCTOR_TOKEN": TOKEN, "PUT_ON": "staging-key.9f8e7d6c5b4a3210", "WAY_OUT": way_out, **KEYS}


def _order_desks(project: Project, clients: tuple[Client, ...]) -> web.Application:
    """A desk for each client, at `/NUMBER`: an order is refunded once."""
    app = web.Application()
    for number, _ in enumerate(clients):
        app.add_subapp(f"/{number}/", server.create_app())
    return app


def _in_turn(*answers: Canned) -> Answering:
    """One after the other, and again from the first."""
    following = itertools.cycle(answers)

    async def answer_next(writer: asyncio.StreamWriter) -> None:
        data = next(following)
        if isinstance(data, bytes):
            writer.write(data)
            await writer.drain()
        else:
            await data(writer)

    return answer_next
