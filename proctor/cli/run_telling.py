"""Bringing the events that an agent tells with its answer to its session, as if it had sent them itself."""

from __future__ import annotations

from typing import Any

import aiohttp
import orjson

from proctor.errors import PlatformError
from proctor.harness.talking import Tell


def telling(http: aiohttp.ClientSession) -> Tell:
    """Sends events to a session. What the session refuses is noted there, and fails its trial."""

    async def tell(url: str, events: tuple[Any, ...]) -> None:
        try:
            async with http.post(f"{url}/_events", data=orjson.dumps(events)) as answer:
                await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            told = f"the events of the agent's answer could not be written: {error or type(error).__name__}"
            raise PlatformError("events_unwritten", told) from None

    return tell
