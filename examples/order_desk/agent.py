"""A tool-calling customer-service agent on the `openai` SDK, as a team would write one.

`python examples/order_desk/agent.py --conversation refund_zh [--json]`, with ORDERS_URL, OPENAI_BASE_URL
and OPENAI_API_KEY set. It sends nothing random and no time of day: the same answers give the same requests.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx
from openai import OpenAI, OpenAIError
from openai.types.chat import ChatCompletion, ChatCompletionMessage, ChatCompletionMessageParam

if __name__ == "__main__":  # run by path: the folder above `examples` is not on the path yet
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from examples.order_desk.conversations import CONVERSATIONS, Conversation
from examples.order_desk.tools import TOOLS, ToolClient, decode

CHANNEL = "chat"
DEFAULT_MODEL = "gpt-4.1-mini"
MAX_MODEL_CALLS = 12  # in one turn
NO_COMPLETION = "the model's answer is not a chat completion"
NEEDED = ("ORDERS_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY")

SYSTEM_PROMPT = (Path(__file__).parent / "prompt.txt").read_text(encoding="utf-8").rstrip()  # with {account}


class AgentError(Exception):
    """The conversation cannot go on; the text is for the user of the command."""


@dataclass(frozen=True)
class ToolCall:
    """One tool call of the conversation. `status` is null when the call was never sent."""

    name: str
    arguments: Any
    status: int | None
    result: Any


@dataclass
class Agent:
    """Holds one conversation. `show` gets each line of the transcript as it happens."""

    llm: OpenAI
    tools: ToolClient
    model: str
    show: Callable[[str], None]
    messages: list[ChatCompletionMessageParam]
    sampling: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0})
    tool_calls: list[ToolCall] = field(default_factory=list)

    def take_turn(self, text: str) -> str:
        """The agent's final answer to one message of the user."""
        self.show(f"user: {text}")
        self.messages.append({"role": "user", "content": text})
        for _ in range(MAX_MODEL_CALLS):
            message = self._ask_model()
            if not message.tool_calls:
                self.show(f"assistant: {message.content or ''}")
                return message.content or ""
            for call in message.tool_calls:
                if call.type != "function":
                    raise AgentError(f"the model asked for a {call.type} tool call, which was not offered")
                content = self._call_tool(call.function.name, call.function.arguments)
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        raise AgentError(f"no final answer after {MAX_MODEL_CALLS} model calls in one turn")

    def _ask_model(self) -> ChatCompletionMessage:
        """One model call; its message joins the history."""
        try:
            completion = self.llm.chat.completions.create(
                model=self.model, messages=self.messages, tools=TOOLS, **self.sampling
            )
        except json.JSONDecodeError as error:  # the SDK lets it through
            raise AgentError(NO_COMPLETION) from error
        message = checked_message(completion)
        fields = message.to_dict(exclude_none=True)
        kept = {name: fields[name] for name in ("role", "content", "tool_calls") if name in fields}
        self.messages.append(cast(ChatCompletionMessageParam, kept))
        return message

    def _call_tool(self, name: str, raw_arguments: str) -> str:
        """Runs one tool call and returns what the model gets to read of it.

        Several calls of one message run one after the other, so that the order of requests is fixed.
        """
        arguments = decode(raw_arguments)
        if not isinstance(arguments, dict):
            result = {"error": "arguments_not_object", "message": "The arguments must be a JSON object."}
            self._note(ToolCall(name, arguments, None, result))
            return json.dumps(result)
        arguments = {**arguments, "channel": CHANNEL}
        answer = self.tools.call(name, arguments)
        self._note(ToolCall(name, arguments, answer.status, answer.result))
        return answer.for_model()

    def _note(self, call: ToolCall) -> None:
        self.tool_calls.append(call)
        status = "not sent" if call.status is None else call.status
        self.show(f"  tool: {call.name} {json.dumps(call.arguments, ensure_ascii=False)} -> {status}")


def checked_message(completion: ChatCompletion) -> ChatCompletionMessage:
    """The answer's message, once its form is sure: the SDK itself hands on whatever JSON came."""
    try:
        fields = completion.choices[0].message.to_dict(warnings=False)
        return ChatCompletionMessage.model_validate(fields)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise AgentError(NO_COMPLETION) from error


def system_message(customer_id: str) -> ChatCompletionMessageParam:
    """What every conversation of that customer begins with."""
    return {"role": "system", "content": SYSTEM_PROMPT.replace("{account}", customer_id)}


def hold(conversation: Conversation, show: Callable[[str], None]) -> dict[str, Any]:
    """Holds the whole conversation and returns what happened, ready for JSON."""
    model = os.environ.get("ORDER_DESK_MODEL") or DEFAULT_MODEL
    with OpenAI() as llm, ToolClient(os.environ["ORDERS_URL"]) as tools:
        agent = Agent(llm, tools, model, show, [system_message(conversation.customer_id)])
        replies = [agent.take_turn(text) for text in conversation.turns]
    calls = [asdict(call) for call in agent.tool_calls]
    return {"conversation": conversation.name, "tool_calls": calls, "replies": replies}


def missing_variables() -> str | None:
    """What to tell the user about environment variables that are not set."""
    missing = [name for name in NEEDED if not os.environ.get(name)]
    if not missing:
        return None
    verb = "is" if len(missing) == 1 else "are"
    return (
        f"{', '.join(missing)} {verb} not set. Either start the agent under `proctor record` or "
        f"`proctor replay`, which set the variables for it, or set them by hand: "
        f"export {missing[0]}=... (see README.md beside this file)."
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Holds one conversation with the order desk's agent.")
    parser.add_argument("--conversation", required=True, choices=sorted(CONVERSATIONS))
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a transcript")
    options = parser.parse_args()
    problem = missing_variables()
    if problem is not None:
        print(problem, file=sys.stderr)
        return 2
    show = _silent if options.json else _print
    try:
        outcome = hold(CONVERSATIONS[options.conversation], show)
    except OpenAIError as error:
        return _fail(f"the model call failed: {error}")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return _fail(f"a tool call failed: {str(error) or type(error).__name__}")
    except AgentError as error:
        return _fail(str(error))
    if options.json:
        print(json.dumps(outcome, ensure_ascii=False))
    return 0


def _silent(line: str) -> None:
    pass


def _print(line: str) -> None:
    print(line, flush=True)


def _fail(problem: str) -> int:
    print(f"agent: {problem}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
