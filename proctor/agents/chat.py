"""An agent that is no program: a model, a system prompt, and the tools of the project's worlds."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import aiohttp

from proctor.agents.chat_tools import ChatTools, ToolService
from proctor.agents.contract import AgentFailed, Answered, Asked, Settings
from proctor.model import chat_model_of
from proctor.model_call import ModelFailure
from proctor.model_chat import ChatCall, ChatModel

MOST_CALLS = 50
"""Model calls in one turn; a session's guard usually stops an agent earlier."""
_PLACE = re.compile(r"\{(account|audience|user_id)\}")


@dataclass(frozen=True)
class Chat:
    """All that a chat is made of."""

    prompt: str
    """The system prompt; `{account}`, `{audience}`, `{user_id}` in it are replaced by what the first turn says."""
    settings: Settings
    """`model` is the model that is asked, as litellm names it."""
    address: str
    """Of the LLM service in the session."""
    key: str = field(repr=False, default="")
    """That the LLM service is sent; empty for what litellm looks up."""
    services: tuple[ToolService, ...] = ()


class ChatConversation:
    """One conversation. The model is asked until it answers without calls, and sees all that was said before.

    Calls of one message are made one after the other. `ask` also raises AgentFailed (`model_failed`) where the model
    gives no message: that is not the agent's conduct.
    """

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._messages: list[dict[str, Any]] = []

    async def __aenter__(self) -> Self:
        """Raises UsageError where litellm is missing or knows no such model."""
        chat = self._chat
        # the first import of litellm takes seconds, in which a proxy of this process has to answer
        self._model: ChatModel = await asyncio.to_thread(
            chat_model_of, chat.settings.model, base_url=chat.address, api_key=chat.key
        )
        self._http = aiohttp.ClientSession(trust_env=False)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.close()

    async def ask(self, asked: Asked, seconds: float) -> Answered:
        """See `Conversation.ask`."""
        try:
            async with asyncio.timeout(seconds):
                return Answered(reply=await self._turn(asked, seconds))
        except TimeoutError:
            raise AgentFailed("agent_timeout", f"no answer within {seconds:g} s") from None
        except ModelFailure as failure:
            raise AgentFailed("model_failed", f"{failure.cause}: {failure.message}") from None

    async def _turn(self, asked: Asked, seconds: float) -> str:
        if not self._messages:
            await self._begin(asked)
        self._messages.append({"role": "user", "content": asked.user})
        for _ in range(MOST_CALLS):
            call = ChatCall(tuple(self._messages), self._tools.listed, _sampling(self._chat.settings), seconds)
            reply = await self._model.ask(call)
            self._messages.append(reply.as_message())
            if not reply.calls:
                return reply.text
            for wanted in reply.calls:
                content = await self._tools.call(wanted.name, wanted.arguments)
                self._messages.append({"role": "tool", "tool_call_id": wanted.id, "content": content})
        raise AgentFailed("agent_ended", f"{MOST_CALLS} model calls in one turn, and no answer without a tool call")

    async def _begin(self, asked: Asked) -> None:
        self._tools = ChatTools(self._http, self._chat.services, asked.account, asked.audience)
        await self._tools.read()
        prompt = _PLACE.sub(lambda place: str(getattr(asked, place[1])), self._chat.prompt)
        self._messages.append({"role": "system", "content": prompt})


def _sampling(settings: Settings) -> dict[str, Any]:
    return settings.model_dump(include={"temperature", "top_p", "seed"}, exclude_none=True)
