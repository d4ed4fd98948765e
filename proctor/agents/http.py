"""An agent that is a service: a POST for each turn."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import aiohttp

from proctor.agents.contract import LARGEST_ANSWER, AgentFailed, Answered, Asked, read_answer

_FINE = 200
_SHOWN = 2_000


class HttpConversation:
    """One conversation with a service, which tells conversations apart by `session`."""

    def __init__(self, url: str) -> None:
        """`url` takes `Asked` as JSON and answers `Answered`."""
        self._url = url

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(trust_env=False)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.close()

    async def ask(self, asked: Asked, seconds: float) -> Answered:
        """See `Conversation.ask`."""
        timeout = aiohttp.ClientTimeout(total=seconds)
        headers = {"Content-Type": "application/json"}
        try:
            data = asked.model_dump_json().encode()
            async with self._http.post(self._url, data=data, headers=headers, timeout=timeout) as answer:
                body = await _limited(answer)
        except TimeoutError:
            raise AgentFailed("agent_timeout", f"no answer within {seconds:g} s") from None
        except (aiohttp.ClientConnectorError, aiohttp.InvalidURL, ValueError) as error:
            raise AgentFailed("agent_unreachable", f"{self._url} cannot be asked: {_said(error)}") from None
        except aiohttp.ClientError as error:
            raise AgentFailed("agent_ended", f"{self._url} broke off its answer: {_said(error)}") from None
        shown = body[:_SHOWN].decode("utf-8", "replace")
        if answer.status != _FINE:
            raise AgentFailed("agent_refused", f"{self._url} answered {answer.status}", shown)
        return read_answer(body, shown)


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


async def _limited(answer: aiohttp.ClientResponse) -> bytes:
    """The body. Raises AgentFailed (`agent_flood`) for one that is too large."""
    body = bytearray()
    async for piece in answer.content.iter_any():
        body += piece
        if len(body) > LARGEST_ANSWER:
            raise AgentFailed("agent_flood", f"an answer of more than {LARGEST_ANSWER:,} bytes")
    return bytes(body)
