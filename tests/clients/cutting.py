"""The stand-in model, whose streams break off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from aiohttp import web
from aiohttp.typedefs import Handler

from examples.order_desk import stand_in_model


def cut_model(events: int) -> web.Application:
    """Every answer is a stream, which breaks off after so many events."""
    app = web.Application()
    for path, api in stand_in_model.APIS.items():
        app.router.add_post(path, _handler(api, events))
    return app


def _handler(api: stand_in_model.Api, events: int) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        await request.read()
        with suppress(ConnectionError):
            return await stand_in_model.stream(request, _some(api, events, request))
        return web.Response()

    return handler


def _some(api: stand_in_model.Api, events: int, request: web.Request) -> Iterator[str]:
    whole = api.events("Your orders are on their way to you, both of them, and will be there soon.")
    yield from islice(whole, events)
    assert request.transport is not None
    request.transport.abort()
