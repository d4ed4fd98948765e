"""One interaction as an item of a vcrpy version-1 cassette, and back.

vcrpy has fields for method, URI, headers (a mapping, so repeats of a name are a list) and body. What it has no field
for stands in one flow mapping under the response, where vcrpy leaves unknown keys alone: `x-proctor`.
"""

from __future__ import annotations

from typing import Any

import yaml

from proctor.errors import CassetteUndecodable
from proctor.interaction import Headers, Interaction, Request, Response

EXTENSION = "x-proctor"
FORMAT = 1
"""Version of the `x-proctor` extension."""

try:
    from yaml import CSafeDumper as _BaseDumper
    from yaml import CSafeLoader as _BaseLoader
except ImportError:  # PyYAML without libYAML: slower, the same bytes
    from yaml import SafeDumper as _BaseDumper  # type: ignore[assignment]
    from yaml import SafeLoader as _BaseLoader  # type: ignore[assignment]


class Loader(_BaseLoader):
    """Reads plain data only: a tape can never make an object."""


class _Flow(dict[str, Any]):
    """A mapping written on one line."""


class _FlowList(list[Any]):
    """A list written on one line."""


class _Block(str):
    """Text of several lines, written as a literal block where YAML can hold it so."""

    __slots__ = ()


class _Dumper(_BaseDumper):
    """Readable Unicode, keys in the order given, no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(_Flow, lambda d, v: d.represent_mapping("tag:yaml.org,2002:map", v.items(), flow_style=True))
_Dumper.add_representer(_FlowList, lambda d, v: d.represent_sequence("tag:yaml.org,2002:seq", v, flow_style=True))
_Dumper.add_representer(_Block, lambda d, v: d.represent_scalar("tag:yaml.org,2002:str", str(v), style="|"))


def dump(value: Any) -> str:
    """YAML text of one document."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=2**31 - 1, default_flow_style=False
    )
    return text


def to_item(interaction: Interaction) -> dict[str, Any]:
    """The cassette item of one interaction: plain data, keys in the order they are written."""
    request, response = interaction.request, interaction.response
    return {
        "request": {
            "method": request.method,
            "uri": _printable(interaction.url),
            "headers": _header_map(request.headers),
            "body": _body(request.body) if request.body else None,
        },
        "response": {
            "status": _Flow(code=response.status, message=_printable(response.reason)),
            "headers": _header_map(response.headers),
            "body": {"string": _body(response.body)},
            EXTENSION: _Flow(_extension(interaction)),
        },
    }


def from_item(item: Any, index: int) -> Interaction:
    """The interaction of one cassette item. Raises CassetteUndecodable where the item is not one of ours."""
    try:
        request, response = item["request"], item["response"]
        extra = response[EXTENSION]
        return Interaction(
            index=index,
            request=Request(
                service=_text(extra["service"]),
                method=_text(request["method"]),
                target=_surrogates(extra["target"]),
                headers=_headers(request["headers"], extra.get("request_headers")),
                body=_bytes(request["body"]),
            ),
            response=Response(
                status=int(response["status"]["code"]),
                reason=_surrogates(extra.get("reason", response["status"]["message"])),
                headers=_headers(response["headers"], extra.get("response_headers")),
                body=_bytes(response["body"]["string"]),
                complete=not extra.get("cut", False),
            ),
            url=_surrogates(extra.get("url", request["uri"])),
            effect=extra["effect"],
            effect_why=extra["why"],
            tool=_optional(extra.get("tool")),
            started=float(extra["at"]),
            seconds=float(extra["took"]),
            stand_in=_optional(extra.get("stand_in")),
            redacted=tuple(extra.get("redacted", ())),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CassetteUndecodable(
            "cassette_item", f"interaction {index} lacks or garbles a field ({type(error).__name__}: {error})"
        ) from None


def _extension(interaction: Interaction) -> dict[str, Any]:
    request, response = interaction.request, interaction.response
    extra: dict[str, Any] = {
        "service": request.service,
        "target": _value(request.target),
        "effect": interaction.effect,
        "why": interaction.effect_why,
    }
    optional = {
        "tool": _value(interaction.tool or ""),
        "stand_in": _value(interaction.stand_in or ""),
        "url": _unprintable(interaction.url),
        "reason": _unprintable(response.reason),
        "cut": not response.complete,
        "redacted": _FlowList(interaction.redacted),
        "request_headers": _raw_headers(request.headers),
        "response_headers": _raw_headers(response.headers),
    }
    extra.update((key, value) for key, value in optional.items() if value)
    extra["at"] = round(interaction.started, 3)
    extra["took"] = round(interaction.seconds, 3)
    return extra


def _header_map(headers: Headers) -> dict[str, list[str]]:
    """vcrpy's mapping: first spelling of a name, all of its values."""
    spelled: dict[str, str] = {}
    mapping: dict[str, list[str]] = {}
    for name, value in headers:
        key = spelled.setdefault(name.lower(), name)
        mapping.setdefault(key, _FlowList()).append(_printable(value))
    return mapping


def _raw_headers(headers: Headers) -> _FlowList | None:
    """The exact header list, where the mapping cannot give it back: else None."""
    mapping = _header_map(headers)
    if tuple((name, value) for name, values in mapping.items() for value in values) == headers:
        return None
    return _FlowList(_FlowList((name, _value(value))) for name, value in headers)


def _headers(mapping: dict[str, list[str]], raw: list[list[Any]] | None) -> Headers:
    if raw is not None:
        return tuple((_text(name), _surrogates(value)) for name, value in raw)
    return tuple((_text(name), _text(value)) for name, values in (mapping or {}).items() for value in values)


def _printable(value: str) -> str:
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _unprintable(value: str) -> bytes | None:
    """The bytes of a text that vcrpy's field cannot hold; None for any other."""
    held = _value(value)
    return held if isinstance(held, bytes) else None


def _value(value: str) -> str | bytes:
    raw = value.encode("utf-8", "surrogateescape")
    return value if _printable(value) == value else raw


def _surrogates(value: str | bytes) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else _text(value)


def _optional(value: str | bytes | None) -> str | None:
    return None if value is None else _surrogates(value)


def _body(body: bytes) -> str | bytes:
    """Text where the bytes are UTF-8, else binary."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return body
    return _Block(text) if "\n" in text else text


def _bytes(value: Any) -> bytes:
    if value is None:
        return b""
    if isinstance(value, bytes):
        return value
    return _text(value).encode("utf-8")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, got {type(value).__name__}")
    return value
