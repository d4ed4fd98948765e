"""Why a call through litellm gave no reply, read off the exception without importing litellm.

litellm wraps what happened in its own classes, some of which say `500` for a connection that broke and for an answer
that is no completion. So the whole chain of causes is looked at: litellm's class, the client's, the socket's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any

from proctor.model_call import Cause
from proctor.redaction.environment import secret_variables
from proctor.sensitive.shapes import keys

SAID_AT_MOST = 300
"""Characters kept of what a provider said."""
_PREFIX = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Timeout|Exception)\b(?: - |: ))+")
_TRACE = "Traceback (most recent call last)"
_BY_CLASS: dict[str, tuple[Cause, bool]] = {
    "TimeoutError": ("timeout", True),
    "APITimeoutError": ("timeout", True),
    "ContextWindowExceededError": ("too_long", False),
    "ContentPolicyViolationError": ("refusal", False),
    "RateLimitError": ("rate_limited", True),
    "AuthenticationError": ("credentials", False),
    "PermissionDeniedError": ("credentials", False),
    "PaymentRequiredError": ("credentials", False),
    "ImportError": ("bad_request", False),
}
"""What each class means, and whether asking again may help."""
_BY_STATUS: dict[int, tuple[Cause, bool]] = {
    401: ("credentials", False),
    402: ("credentials", False),
    403: ("credentials", False),
    408: ("timeout", True),
    413: ("too_long", False),
    429: ("rate_limited", True),
}
_BROKEN = frozenset({"APIConnectionError", "TransportError", "ClientConnectionError", "ClientPayloadError"})
_FILTERED = re.compile(r"content_filter|content[_ ]policy|content management policy", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context_length_exceeded|(?:maximum|max) context|context (?:length|window)|prompt is too long|too many tokens",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"missing credentials|missing (?:\w+ )?api key|unable to locate credentials", re.IGNORECASE)
_SPENT = re.compile(r"insufficient_quota|exceeded your current quota|credit balance is too low", re.IGNORECASE)


@dataclass(frozen=True)
class Failed:
    """One attempt that gave no reply. `again`: the same question may well be answered if asked once more."""

    cause: Cause
    said: str
    again: bool = False
    after: float | None = None
    """Seconds that the provider asks to be left alone for; None where it does not say."""


def failure_of(error: BaseException) -> Failed:
    """What an exception of one attempt means."""
    chain = list(islice(_chain(error), 12))
    cause, again = _cause(chain)
    return Failed(cause, _said(chain), again, _after(chain) if again else None)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _cause(chain: list[BaseException]) -> tuple[Cause, bool]:
    classes = {each.__name__ for error in chain for each in type(error).__mro__}
    words = " ".join(f"{error} {getattr(error, 'code', '')}" for error in chain)
    status = _status(chain)
    by_class = next((meaning for name, meaning in _BY_CLASS.items() if name in classes), None)
    found = (_BY_STATUS.get(status) if status else None) or by_class
    if found is not None:
        return ("rate_limited", False) if found[0] == "rate_limited" and _SPENT.search(words) else found
    if status is None:
        if _NO_KEY.search(words):
            return "credentials", False
        return ("unreachable", True) if _BROKEN & classes else ("no_reply", False)
    if status >= 500:
        return "unreachable", True
    if _FILTERED.search(words):
        return "refusal", False
    return ("too_long", False) if _TOO_LONG.search(words) else ("bad_request", False)


def _status(chain: list[BaseException]) -> int | None:
    """The status of a real answer, which the deepest cause has. litellm makes some up: of an answer without headers."""
    for error in reversed(chain):
        response = getattr(error, "response", None)
        status = getattr(response, "status_code", None)
        if isinstance(status, int) and _headers(error):
            return status
    status = getattr(chain[0], "status_code", None)
    return status if isinstance(status, int) and 400 <= status < 500 else None


def _headers(error: BaseException) -> Mapping[str, str]:
    found: Any = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None)
    return found if isinstance(found, Mapping) else {}


def _after(chain: list[BaseException]) -> float | None:
    for error in chain:
        told = {name.lower(): str(value) for name, value in _headers(error).items()}
        if "retry-after-ms" in told and (milliseconds := _number(told["retry-after-ms"])) is not None:
            return milliseconds / 1000
        if "retry-after" in told:
            return _seconds(told["retry-after"])
    return None


def _seconds(value: str) -> float | None:
    """A `Retry-After`, which is seconds or a date."""
    if (number := _number(value)) is not None:
        return number
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _number(value: str) -> float | None:
    return float(value) if re.fullmatch(r"\s*\d{1,9}(?:\.\d{1,9})?\s*", value) else None


def _said(chain: list[BaseException]) -> str:
    texts = [text for error in chain if (text := masked(_words(error)))]
    status, first = _status(chain), (texts or [type(chain[0]).__name__])[0]
    if status is not None:
        return f"{status}: {first}"
    deepest = texts[-1] if texts else first
    return first if deepest in first else f"{first} ({deepest})"[:SAID_AT_MOST]


def _words(error: BaseException) -> str:
    """Without litellm's names for it, and of a traceback that it put into its message only the last line."""
    head, _, trace = _PREFIX.sub("", str(error)).partition(_TRACE)
    last = _PREFIX.sub("", trace.strip().rpartition("\n")[2])
    return head if last in head else f"{head} {last}"


def masked(text: str) -> str:
    """One line of at most 300 characters, without any key of the environment and whatever looks like one."""
    for secret, variable in secret_variables(os.environ).items():
        text = text.replace(secret, f"[{variable}]")
    for start, end, _ in sorted(keys(text), reverse=True):
        text = f"{text[:start]}[key]{text[end:]}"
    line = " ".join(text.split())
    return line if len(line) <= SAID_AT_MOST else line[: SAID_AT_MOST - 1] + "…"
