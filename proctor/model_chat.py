"""Asking a live model for the next message of a chat with tools; `model.chat_model_of` gives one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proctor.model_call import Attempt, Usage
from proctor.model_failures import Failed
from proctor.model_route import Question, Route, whole_choice


@dataclass(frozen=True)
class ChatCall:
    """One question: the messages and tools as OpenAI's chat completions take them."""

    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...]
    sampling: Mapping[str, Any]
    """`temperature`, `top_p`, `seed`, those that are set. A route that takes one of them not refuses the call: a run
    with other settings than were asked for would not be the run that was asked for."""
    timeout: float
    """Seconds for one attempt."""


@dataclass(frozen=True)
class WantedCall:
    """A call of a tool that the model wants made. `arguments` is its text, which may be no JSON."""

    id: str
    name: str
    arguments: str

    def as_message(self) -> dict[str, Any]:
        """As it stands in the model's own message."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


@dataclass(frozen=True)
class ChatReply:
    """The model's message: a text, which may be empty, and the calls it wants made; with none it is its last word."""

    text: str
    calls: tuple[WantedCall, ...]
    model: str
    usage: Usage
    attempts: tuple[Attempt, ...]

    def as_message(self) -> dict[str, Any]:
        """As it goes back to the model in the next call."""
        if not self.calls:
            return {"role": "assistant", "content": self.text}
        calls = [call.as_message() for call in self.calls]
        return {"role": "assistant", "content": self.text or None, "tool_calls": calls}


@dataclass(frozen=True)
class ChatModel:
    """A model that is asked over a route."""

    route: Route

    async def ask(self, call: ChatCall) -> ChatReply:
        """Its next message. Raises ModelFailure."""

        def parameters() -> dict[str, Any]:
            tools = {"tools": [dict(tool) for tool in call.tools]} if call.tools else {}
            return {"messages": [dict(message) for message in call.messages], **tools, **call.sampling}

        got = await self.route.ask(Question(call.timeout, self.route.name, parameters, _read))
        text, calls = got.value
        return ChatReply(text, calls, got.model, got.usage, got.attempts)


def _read(answer: Any) -> tuple[str, tuple[WantedCall, ...]] | Failed:
    choice = whole_choice(answer)
    if isinstance(choice, Failed):
        return choice
    message = choice.message
    text = message.content if isinstance(message.content, str) else ""
    refusal = getattr(message, "refusal", None)
    return text or str(refusal or ""), tuple(_wanted(each) for each in message.tool_calls or ())


def _wanted(call: Any) -> WantedCall:
    function = call.function
    return WantedCall(str(call.id or ""), str(function.name or ""), str(function.arguments or ""))
