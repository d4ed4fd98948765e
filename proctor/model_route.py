"""A route of litellm to a model: one question over it, asked as often as may help. litellm itself is handed in.

Retries are ours, so that each attempt is recorded: litellm and the clients below it make none.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, TypeVar
from uuid import uuid4

from proctor.model_call import Attempt, ModelFailure, Usage
from proctor.model_failures import Failed, failure_of, masked
from proctor.model_gate import OPEN, Gate, leave
from proctor.wire import ATTEMPTS_HEADER

ATTEMPTS = 3
"""Of one question, where asking again may help."""
FIRST_WAIT = 1.0
"""Seconds; the bound of the wait doubles with each attempt, and the wait is drawn from 0 to the bound."""
LONGEST_WAIT = 60.0
"""Seconds that a provider may ask us to wait (`Retry-After`); whoever asks for more has failed."""

Wait = Callable[[float], Awaitable[None]]
T = TypeVar("T")


def _no_other_way(refusal: str) -> bool:
    return False


@dataclass(frozen=True)
class Question(Generic[T]):
    """What is asked, and how an answer is read."""

    timeout: float
    """Seconds for one attempt."""
    waits: str
    """The same waits are drawn for the same text."""
    parameters: Callable[[], dict[str, Any]]
    """What litellm's `acompletion` gets, asked before each attempt."""
    read: Callable[[Any], T | Failed]
    """The answer, or why there is none, from the completion."""
    other_way: Callable[[str], bool] = _no_other_way
    """Gets the words of a refusal, and says whether the parameters are others now, to be tried at once."""


@dataclass(frozen=True)
class Got(Generic[T]):
    """What a question was answered: see `model_call.Reply`."""

    value: T
    model: str
    usage: Usage
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True)
class _Tried(Generic[T]):
    """One attempt: the answer or why there is none, what was used, who answered, and seconds."""

    read: T | Failed
    usage: Usage
    returned: str
    seconds: float
    folded: int
    """Attempts before it, where a tape answers that keeps only the last."""


@dataclass(frozen=True)
class Route:
    """A model's name, as litellm has it, and where its provider is asked. An empty address or key is litellm's own."""

    name: str
    litellm: Any
    enter: Callable[[], Awaitable[None]]
    """Awaited before each question: whatever litellm needs in this event loop."""
    base_url: str = ""
    api_key: str = ""
    gate: Gate = OPEN
    wait: Wait = asyncio.sleep

    async def ask(self, question: Question[T]) -> Got[T]:
        """The answer. Raises ModelFailure.

        One key goes with all attempts, so that a provider that knows it answers only once.
        """
        await self.enter()
        key = f"proctor-{uuid4().hex}"
        jitter = Random(question.waits)  # noqa: S311 - spreads waits, hides nothing
        attempts: list[Attempt] = []
        retries = 0
        while True:
            tried = await self._in_turn(question, key)
            read = tried.read
            if not isinstance(read, Failed):
                folded = [Attempt("not_kept", 0.0)] * tried.folded
                return Got(read, tried.returned, tried.usage, (*attempts, *folded, Attempt("ok", tried.seconds)))
            attempts.append(Attempt(read.cause, tried.seconds, read.said))
            if read.cause == "bad_request" and question.other_way(read.said):
                continue
            retries += 1
            pause = _pause(read, retries, jitter)
            if pause is None:
                raise ModelFailure(read.cause, f"{self.name}: {read.said}", tuple(attempts), tried.usage)
            await self.wait(pause)

    async def _in_turn(self, question: Question[T], key: str) -> _Tried[T]:
        """One attempt through the gate. It is told of a limit that waiting ends, not of an account that is spent."""
        async with self.gate.turn():
            await leave()
            tried = await self._try(question, key)
            if not isinstance(tried.read, Failed):
                self.gate.fine()
            elif tried.read.cause == "rate_limited" and tried.read.again:
                self.gate.limited(tried.read.after)
        return tried

    async def _try(self, question: Question[T], key: str) -> _Tried[T]:
        started, usage, returned, folded = time.monotonic(), Usage(), self.name, 0
        read: T | Failed
        try:
            async with asyncio.timeout(question.timeout):
                answer = await self._answer(question, key)
            usage = _usage(answer)
            returned = str(getattr(answer, "model", None) or self.name)
            folded = _folded(answer)
            read = question.read(answer)
        except Exception as error:  # litellm raises whatever its parts raise; none may end a run
            read = failure_of(error)
        return _Tried(read, usage, returned, time.monotonic() - started, folded)

    async def _answer(self, question: Question[T], key: str) -> Any:
        return await self.litellm.acompletion(
            model=self.name,
            **question.parameters(),
            **({"api_base": self.base_url} if self.base_url else {}),
            **({"api_key": self.api_key} if self.api_key else {}),
            extra_headers={"Idempotency-Key": key},
            timeout=question.timeout,
            num_retries=0,
            max_retries=0,
        )


def whole_choice(answer: Any) -> Any:
    """The one choice of a completion, or a Failed where there is none, or only the beginning of one."""
    choices = getattr(answer, "choices", None)
    if not choices:
        return Failed("no_reply", "the answer has no choice")
    if choices[0].finish_reason == "content_filter":
        said = getattr(choices[0].message, "refusal", None) or "stopped by a content filter"
        return Failed("refusal", masked(str(said)))
    if choices[0].finish_reason == "length":
        return Failed("cut_off", "the answer reached the limit of output tokens")
    return choices[0]


def _pause(failed: Failed, retries: int, jitter: Random) -> float | None:
    """Seconds to wait before the next attempt; None where there is to be none."""
    if not failed.again or retries >= ATTEMPTS:
        return None
    if failed.after is not None and failed.after > LONGEST_WAIT:
        return None
    return (failed.after or 0.0) + jitter.uniform(0, FIRST_WAIT * 2 ** (retries - 1))


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
