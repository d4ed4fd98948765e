"""What a call does to its service, and how sure that is: declared, by preset, by method, or guessed from its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from proctor.interaction import Effect, EffectWhy, Headers, Interaction, header, readable
from proctor.service_config import ServiceConfig

READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
WRITE_METHODS = frozenset({"PUT", "PATCH", "DELETE"})
READ_VERBS = frozenset(
    """
    query get list search find fetch read lookup check calc calculate describe show view count estimate
    validate verify preview quote scan track status head select think
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


class EffectFound(NamedTuple):
    """An effect and where it was learnt."""

    effect: Effect
    why: EffectWhy


def tool_of(service: ServiceConfig, method: str, path: str, headers: Headers = ()) -> str | None:
    """The tool that a request names: by the service's template, else by its RPC header, else None."""
    named = _named(service.tools, method, path)
    if named is not None:
        return named
    target = header(headers, "x-amz-target") or header(headers, "soapaction") or ""
    return readable(re.split(r"[./#]", target.strip('"'))[-1]) or None


def effect_of(service: ServiceConfig, method: str, path: str, tool: str | None) -> EffectFound:
    """The effect of one call. A POST that nothing declares is guessed from its name, and marked so."""
    name = tool if tool is not None else path.strip("/")
    if _declared(service.writes, name, method, path):
        return EffectFound("write", "declared")
    if _declared(service.reads, name, method, path):
        return EffectFound("read", "declared")
    if method in READ_METHODS:
        return EffectFound("read", "method")
    if service.preset:
        return EffectFound("pure", "preset")
    if method in WRITE_METHODS:
        return EffectFound("write", "method")
    return EffectFound(guessed_effect(name), "guessed")


def tool_today(services: Mapping[str, ServiceConfig], interaction: Interaction) -> str | None:
    """The tool of a recorded call by today's configuration; as recorded for a service that is no longer there."""
    request = interaction.request
    service = services.get(request.service)
    if service is None:
        return interaction.tool
    return tool_of(service, request.method, request.target.partition("?")[0], request.headers)


def effect_today(services: Mapping[str, ServiceConfig], interaction: Interaction) -> EffectFound:
    """The effect of a recorded call by today's configuration; as recorded for a service that is no longer there."""
    request = interaction.request
    service = services.get(request.service)
    if service is None:
        return EffectFound(interaction.effect, interaction.effect_why)
    path = request.target.partition("?")[0]
    return effect_of(service, request.method, path, tool_today(services, interaction))


def guessed_effect(name: str) -> Effect:
    """`query_order`, `GetItem` and `orders/search` read; what names no reading verb is taken to write."""
    last = name.rpartition("/")[2]
    words = [word.lower() for word in _WORD.findall(last)]
    return "read" if words and words[0] in READ_VERBS else "write"


def _declared(patterns: tuple[str, ...], name: str, method: str, path: str) -> bool:
    """Whether one names the call: by its tool or path, or by `METHOD /path` where it says a method."""
    called = f"{method} {path or '/'}"
    return any(
        fnmatchcase(called, pattern) if " /" in pattern else fnmatchcase(name, pattern.strip("/"))
        for pattern in patterns
    )


@lru_cache(maxsize=4096)
def _named(tools: str, method: str, path: str) -> str | None:
    template = _template(tools)
    match = template[1].fullmatch(path) if template is not None and method == template[0] else None
    return match[1] if match else None


@lru_cache(maxsize=256)
def _template(tools: str) -> tuple[str, re.Pattern[str]] | None:
    if not tools:
        return None
    method, _, path = tools.partition(" ")
    before, _, after = path.partition("{tool}")
    return method, re.compile(f"{re.escape(before)}([^/?]+){re.escape(after)}")
