"""A live model, through litellm: the one module that imports it, and only where a model is asked."""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from collections.abc import AsyncGenerator
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

from proctor.errors import UsageError
from proctor.model_call import Model, ModelCall, Reply
from proctor.model_chat import ChatModel
from proctor.model_failures import Failed, masked
from proctor.model_gate import OPEN, Gate
from proctor.model_route import Question, Route, Wait, whole_choice
from proctor.model_ways import Ways, first_ways
from proctor.vendors import STAND_IN

_OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_MODE": "PRODUCTION",  # otherwise it reads the `.env` of any folder above
}
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")


def model_of(name: str, *, base_url: str = "", gate: Gate = OPEN, wait: Wait = asyncio.sleep) -> Model:
    """The model of that name, as litellm writes names: `anthropic/claude-...`, `openai/gpt-...`.

    `base_url` is where its provider's API is found, if not where litellm looks (`OPENAI_API_BASE` and the like).
    Each attempt goes through `gate`; waiting there is not part of its time-out. `wait` waits between attempts.
    Raises UsageError where litellm is missing or knows no such provider.
    """
    litellm = _litellm()
    route = _route(litellm, name, base_url=base_url, gate=gate, wait=wait)
    supported = litellm.get_supported_openai_params(name) or []
    return _Routed(route, first_ways(supported, _may_take_schemas(litellm, name)))


def chat_model_of(name: str, *, base_url: str = "", api_key: str = "", wait: Wait = asyncio.sleep) -> ChatModel:
    """The same model, to be asked for the next message of a chat with tools.

    `api_key` goes to its provider, if not what litellm looks up. Raises UsageError as `model_of` does.
    """
    return ChatModel(_route(_litellm(), name, base_url=base_url, api_key=api_key, wait=wait))


def _route(litellm: Any, name: str, *, base_url: str, **more: Any) -> Route:
    _provider(litellm, name, base_url)
    return Route(name, litellm, partial(_close_with_the_loop, litellm), base_url, **more)


@lru_cache(maxsize=256)
def provider_of(name: str) -> str:
    """Whose limits calls to that model count towards: `anthropic`, `azure`, `openrouter`; `stand-in` for a stand-in.

    Raises UsageError as `model_of` does.
    """
    return STAND_IN if name.startswith(f"{STAND_IN}/") else _provider(_litellm(), name, "")


def _provider(litellm: Any, name: str, base_url: str) -> str:
    try:
        return str(litellm.get_llm_provider(name, api_base=base_url or None)[1])
    except litellm.exceptions.BadRequestError:
        raise UsageError(
            "unknown_model",
            f"{name!r} names no model: litellm knows no such provider",
            "Write PROVIDER/MODEL, such as `anthropic/claude-sonnet-4-5` or `openai/gpt-5`.",
        ) from None


def _litellm() -> Any:
    """litellm, without its tries at the network, its advice on stdout and its log."""
    os.environ.update(_OFFLINE)
    try:
        import litellm
    except ImportError as error:
        raise UsageError(
            "litellm_not_installed",
            f"a live model is asked through litellm, which cannot be imported: {error}",
            "Install it with: pip install 'proctor[llm]'",
        ) from None
    # It makes the coroutine of a call in a thread: if we are cancelled meanwhile, that is dropped before it began.
    warnings.filterwarnings("ignore", r"coroutine '.*completion.*' was never awaited", RuntimeWarning)
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)  # of answers in an odd shape
    litellm.suppress_debug_info = True
    if "LITELLM_LOG" not in os.environ:
        for logger in _LOGGERS:
            logging.getLogger(logger).disabled = True
    return litellm


def _may_take_schemas(litellm: Any, name: str) -> bool:
    """By litellm's table. A model that is not in it (of a server of one's own) is tried with a schema first."""
    try:
        litellm.get_model_info(name)
    except Exception:  # a bare Exception is what it raises
        return True
    return bool(litellm.supports_response_schema(name))


class _Routed:
    """A model behind a route of litellm."""

    is_stand_in = False

    def __init__(self, route: Route, ways: Ways) -> None:
        self.name = route.name
        self._route = route
        self._ways = ways

    async def ask(self, call: ModelCall) -> Reply:
        """See Model. What a route refuses is left out, and from then on if it was answered without."""
        ways = self._ways
        messages = [{"role": message.role, "content": message.content} for message in call.messages]

        def parameters() -> dict[str, Any]:
            return {"messages": messages, "drop_params": True, **ways.parameters(call)}

        def other_way(refusal: str) -> bool:
            nonlocal ways
            others = ways.after(refusal)
            ways = others or ways
            return others is not None

        waits = f"{self.name} {call.seed}"
        got = await self._route.ask(Question(call.timeout, waits, parameters, _read, other_way))
        self._ways = ways
        return Reply(got.value, got.model, got.usage, got.attempts)


def _read(answer: Any) -> str | Failed:
    """The text of the one choice, or why there is none."""
    choice = whole_choice(answer)
    if isinstance(choice, Failed):
        return choice
    message = choice.message
    text = message.content if isinstance(message.content, str) else ""
    if text.strip():
        return text
    if refusal := getattr(message, "refusal", None):
        return Failed("refusal", masked(str(refusal)))
    return Failed("no_reply", f"the answer is empty ({choice.finish_reason})")


_closers: dict[asyncio.AbstractEventLoop, AsyncGenerator[None]] = {}


async def _close_with_the_loop(litellm: Any) -> None:
    """Have litellm's connections closed when this loop ends, by whatever way: a loop finishes its generators then.

    litellm keeps its clients in a cache of the process, and what it has to log in a queue; left alone, both are
    destroyed open, with warnings.
    """
    loop = asyncio.get_running_loop()
    if loop not in _closers:
        _closers[loop] = closer = _closing(loop, litellm)
        await anext(closer)


async def _closing(loop: asyncio.AbstractEventLoop, litellm: Any) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        del _closers[loop]
        from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER
        from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients

        with suppress(Exception):
            await GLOBAL_LOGGING_WORKER.clear_queue()
        await close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()
