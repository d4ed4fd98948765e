"""The clients that are recorded and replayed, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["python", "node"]
Preset = Literal["openai", "anthropic"]


@dataclass(frozen=True)
class Client:
    """One real program (of tests/clients/programs, those for Node of tests/clients/npm) with its options.

    `package` is the distribution whose version the table shows (empty: the machine's own).
    `streams` is whether the LLM's answers come as server-sent events.
    """

    name: str
    package: str
    program: str
    options: tuple[str, ...] = ()
    preset: Preset = "openai"
    kind: Kind = "python"
    streams: bool = False

    @property
    def variable(self) -> str:
        """The variable that points it at the proxy."""
        return f"{self.preset.upper()}_BASE_URL"


def _openai(program: str, words: str) -> tuple[Client, ...]:
    return tuple(
        Client(
            f"openai {api}{words}{', streamed' if stream else ''}",
            "openai",
            program,
            (api.lower(), *(("--stream",) if stream else ())),
            streams=stream,
        )
        for api in ("chat", "Responses")
        for stream in (False, True)
    )


def _npm(name: str, package: str, program: str, *options: str) -> tuple[Client, ...]:
    return (
        Client(name, package, program, options, kind="node"),
        Client(f"{name}, streamed", package, program, (*options, "--stream"), kind="node", streams=True),
    )


CLIENTS = (
    *_openai("openai_sync.py", ""),
    *_openai("openai_async.py", ", async"),
    Client("anthropic", "anthropic", "anthropic_messages.py", preset="anthropic"),
    Client("anthropic, streamed", "anthropic", "anthropic_messages.py", ("--stream",), "anthropic", streams=True),
    Client("litellm, OpenAI route", "litellm", "litellm_completion.py", ("openai/gpt-4.1-mini",)),
    Client(
        "litellm, Anthropic route", "litellm", "litellm_completion.py", ("anthropic/claude-sonnet-4-5",), "anthropic"
    ),
    Client(
        "litellm, Anthropic route, streamed",
        "litellm",
        "litellm_completion.py",
        ("anthropic/claude-sonnet-4-5", "--stream"),
        "anthropic",
        streams=True,
    ),
    Client("openai-agents (Responses)", "openai-agents", "agents_sdk.py"),
    Client("langgraph, langchain-openai", "langgraph", "langgraph_agent.py"),
    Client("pydantic-ai, OpenAI chat", "pydantic-ai-slim", "pydantic_ai_agent.py", ("openai-chat:gpt-4.1-mini",)),
    Client(
        "pydantic-ai, Anthropic",
        "pydantic-ai-slim",
        "pydantic_ai_agent.py",
        ("anthropic:claude-sonnet-4-5",),
        "anthropic",
        streams=True,
    ),
    Client("httpx", "httpx", "plain_http.py", ("httpx",)),
    Client("requests", "requests", "plain_http.py", ("requests",)),
    Client("aiohttp", "aiohttp", "plain_http.py", ("aiohttp",)),
    Client("urllib", "", "plain_http.py", ("urllib",)),
    Client("curl", "", "plain_http.py", ("curl",)),
    *_npm("npm openai chat", "openai", "openai_chat.mjs"),
    *_npm("npm openai Responses", "openai", "openai_responses.mjs"),
    *_npm("ai, @ai-sdk/openai (Responses)", "ai", "vercel_ai.mjs"),
    *_npm("ai, @ai-sdk/openai chat", "ai", "vercel_ai.mjs", "--chat"),
    Client("fetch of Node", "", "fetch_chat.mjs", kind="node"),
)
