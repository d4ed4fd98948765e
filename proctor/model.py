"""A live model, through litellm: the one module that imports it, and only where a model is asked.

Retries are ours, so that each attempt is recorded: litellm and the clients below it make none.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any
from uuid import uuid4

from proctor.errors import UsageError
from proctor.model_call import Attempt, Model, ModelCall, ModelFailure, Reply, Usage
from proctor.model_failures import Failed, failure_of, masked
from proctor.model_gate import OPEN, Gate, leave
from proctor.model_ways import Ways, first_ways
from proctor.vendors import STAND_IN
from proctor.wire import ATTEMPTS_HEADER

ATTEMPTS = 3
"""Of one question, where asking again may help."""
FIRST_WAIT = 1.0
"""Seconds; the bound of the wait doubles with each attempt, and the wait is drawn from 0 to the bound."""
LONGEST_WAIT = 60.0
"""Seconds that a provider may ask us to wait (`Retry-After`); whoever asks for more has failed."""

_OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_MODE": "PRODUCTION",  # otherwise it reads the `.env` of any folder above
}
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")

Wait = Callable[[float], Awaitable[None]]


def model_of(name: str, *, base_url: str = "", gate: Gate = OPEN, wait: Wait = asyncio.sleep) -> Model:
    """The model of that name, as litellm writes names: `anthropic/claude-...`, `openai/gpt-...`.

    `base_url` is where its provider's API is found, if not where litellm looks (`OPENAI_API_BASE` and the like).
    Each attempt goes through `gate`; waiting there is not part of its time-out. `wait` waits between attempts.
    Raises UsageError where litellm is missing or knows no such provider.
    """
    litellm = _litellm()
    _provider(litellm, name, base_url)
    supported = litellm.get_supported_openai_params(name) or []
    return _Routed(name, litellm, first_ways(supported, _may_take_schemas(litellm, name)), base_url, gate, wait)


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


@dataclass(frozen=True)
class _Tried:
    """One attempt: the text or why there is none, what was used, who answered, and seconds."""

    read: str | Failed
    usage: Usage
    returned: str
    seconds: float
    folded: int
    """Attempts before it, where a tape answers that keeps only the last."""


class _Routed:
    """A model behind a route of litellm."""

    is_stand_in = False

    def __init__(self, name: str, litellm: Any, ways: Ways, base_url: str, gate: Gate, wait: Wait) -> None:
        self.name = name
        self._litellm = litellm
        self._ways = ways
        self._base_url = base_url
        self._gate = gate
        self._wait = wait

    async def ask(self, call: ModelCall) -> Reply:
        """See Model. One key goes with all attempts, so that a provider that knows it answers only once."""
        await _close_with_the_loop(self._litellm)
        key = f"proctor-{uuid4().hex}"
        jitter = Random(f"{self.name} {call.seed}")  # noqa: S311 - spreads waits, hides nothing
        attempts: list[Attempt] = []
        ways, retries = self._ways, 0
        while True:
            tried = await self._in_turn(call, ways, key)
            read = tried.read
            if isinstance(read, str):
                self._ways = ways
                folded = [Attempt("not_kept", 0.0)] * tried.folded
                return Reply(read, tried.returned, tried.usage, (*attempts, *folded, Attempt("ok", tried.seconds)))
            attempts.append(Attempt(read.cause, tried.seconds, read.said))
            if read.cause == "bad_request" and (others := ways.after(read.said)):
                ways = others
                continue
            retries += 1
            pause = _pause(read, retries, jitter)
            if pause is None:
                raise ModelFailure(read.cause, f"{self.name}: {read.said}", tuple(attempts), tried.usage)
            await self._wait(pause)

    async def _in_turn(self, call: ModelCall, ways: Ways, key: str) -> _Tried:
        """One attempt through the gate. It is told of a limit that waiting ends, not of an account that is spent."""
        async with self._gate.turn():
            await leave()
            tried = await self._try(call, ways, key)
            if isinstance(tried.read, str):
                self._gate.fine()
            elif tried.read.cause == "rate_limited" and tried.read.again:
                self._gate.limited(tried.read.after)
        return tried

    async def _try(self, call: ModelCall, ways: Ways, key: str) -> _Tried:
        started, usage, returned, folded = time.monotonic(), Usage(), self.name, 0
        read: str | Failed
        try:
            async with asyncio.timeout(call.timeout):
                answer = await self._answer(call, ways, key)
            usage = _usage(answer)
            returned = str(getattr(answer, "model", None) or self.name)
            folded = _folded(answer)
            read = _read(answer)
        except Exception as error:  # litellm raises whatever its parts raise; none may end a run
            read = failure_of(error)
        return _Tried(read, usage, returned, time.monotonic() - started, folded)

    async def _answer(self, call: ModelCall, ways: Ways, key: str) -> Any:
        return await self._litellm.acompletion(
            model=self.name,
            messages=[{"role": message.role, "content": message.content} for message in call.messages],
            **ways.parameters(call),
            **({"api_base": self._base_url} if self._base_url else {}),
            extra_headers={"Idempotency-Key": key},
            timeout=call.timeout,
            num_retries=0,
            max_retries=0,
            drop_params=True,
        )


def _pause(failed: Failed, retries: int, jitter: Random) -> float | None:
    """Seconds to wait before the next attempt; None where there is to be none."""
    if not failed.again or retries >= ATTEMPTS:
        return None
    if failed.after is not None and failed.after > LONGEST_WAIT:
        return None
    return (failed.after or 0.0) + jitter.uniform(0, FIRST_WAIT * 2 ** (retries - 1))


def _read(answer: Any) -> str | Failed:
    """The text of the one choice, or why there is none."""
    choices = getattr(answer, "choices", None)
    if not choices:
        return Failed("no_reply", "the answer has no choice")
    message, ended = choices[0].message, choices[0].finish_reason
    text = message.content if isinstance(message.content, str) else ""
    refusal = getattr(message, "refusal", None)
    if ended == "content_filter" or (refusal and not text.strip()):
        return Failed("refusal", masked(str(refusal or "stopped by a content filter")))
    if ended == "length":
        return Failed("cut_off", "the answer reached the limit of output tokens")
    return text if text.strip() else Failed("no_reply", f"the answer is empty ({ended})")


def _folded(answer: Any) -> int:
    """See _Tried."""
    told = getattr(answer, "_hidden_params", {}).get("additional_headers") or {}
    times = str(told.get(f"llm_provider-{ATTEMPTS_HEADER}", ""))
    return int(times) - 1 if times.isdigit() else 0


def _usage(answer: Any) -> Usage:
    """As told. litellm writes 0 tokens where none were told, which no prompt has, and 0 where it knows no price."""
    told = getattr(answer, "usage", None)
    sent = _positive(getattr(told, "prompt_tokens", None))
    if sent is None:
        return Usage()
    cached = getattr(getattr(told, "prompt_tokens_details", None), "cached_tokens", None)
    received = getattr(told, "completion_tokens", None)
    cost = getattr(answer, "_hidden_params", {}).get("response_cost")
    return Usage(
        input_tokens=sent,
        output_tokens=received if isinstance(received, int) else None,
        cached_tokens=cached if isinstance(cached, int) else None,
        cost=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
    )


def _positive(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


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
