"""The order desk's servers on free ports, in the test's own loop."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from examples.order_desk import server, stand_in_model
from tests.integration.order_desk.support import Desk
from tests.support import serving_app


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    app = server.create_app()
    async with serving_app(app) as url, ClientSession() as session:
        yield Desk(url, session, app[server.DESK])


@pytest.fixture
async def model() -> AsyncIterator[str]:
    """The stand-in model's URL, without /v1."""
    async with serving_app(stand_in_model.create_app()) as url:
        yield url
