"""One interaction as an item of a vcrpy version-1 cassette, and back.

vcrpy has fields for method, URI, headers (a mapping, so repeats of a name are a list) and body. What it has no field
for stands in one flow mapping under the response, where vcrpy leaves unknown keys alone: `x-proctor`. What differs
from one recording to the next although nothing changed (times) is kept apart, in the seal.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from proctor.errors import CassetteUndecodable
from proctor.interaction import Headers, Interaction, Request, Response
from proctor.pieces import Pieces, resized
from proctor.tape_yaml import BINARY, BODY_FILE, EXTENSION, RERECORD, Block, BodyFile, Flow, FlowList

BodyReader = Callable[[BodyFile], bytes]
"""Fetches a body that is kept beside the tape."""
Shared = dict[Any, Any]
"""Values that were seen before, by themselves."""


def to_item(interaction: Interaction, outside: Callable[[bytes], BodyFile | None] = lambda _: None) -> dict[str, Any]:
    """The cassette item of one interaction: plain data, keys in the order they are written.

    `outside` says which bodies are kept beside the tape, and in which file.
    """
    request, response = interaction.request, interaction.response

    def body(content: bytes) -> Any:
        return outside(content) or _body(content)

    return {
        "request": {
            "method": request.method,
            "uri": _printable(interaction.url),
            "headers": _header_map(request.headers),
            "body": body(request.body) if request.body else None,
        },
        "response": {
            "status": Flow(code=response.status, message=_printable(response.reason)),
            "headers": _header_map(response.headers),
            "body": {"string": body(response.body)},
            EXTENSION: Flow(_extension(interaction)),
        },
    }


def from_item(
    item: Any,
    index: int,
    times: Sequence[Any],
    read_body: BodyReader,
    shared: Shared | None = None,
    *,
    edited: bool = False,
) -> Interaction:
    """The interaction of one item, from YAML or from its canonical JSON; `times` are as `times_of` gives them.

    `shared` keeps one object of what many interactions repeat. In one that may be `edited`, the table of pieces is
    fitted to the body. Raises CassetteUndecodable where the item is not one of ours.
    """
    seen: Shared = {} if shared is None else shared
    try:
        request, response = item["request"], item["response"]
        extra = response[EXTENSION]
        body = _bytes(response["body"]["string"], read_body)
        return Interaction(
            index=index,
            request=Request(
                service=_one(_text(extra["service"]), seen),
                method=_one(_text(request["method"]), seen),
                target=_one(_surrogates(extra["target"]), seen),
                headers=_headers(request["headers"], extra.get("request_headers"), seen),
                body=_bytes(request["body"], read_body),
            ),
            response=Response(
                status=int(response["status"]["code"]),
                reason=_surrogates(extra.get("reason", response["status"]["message"])),
                headers=_headers(response["headers"], extra.get("response_headers"), seen),
                body=body,
                complete=not extra.get("cut", False),
                pieces=_pieces(extra, times, body, edited=edited) if "pieces" in extra else None,
                trailers=_surrogates(extra.get("trailers", "")),
            ),
            url=_surrogates(extra.get("url", request["uri"])),
            effect=_one(extra["effect"], seen),
            effect_why=_one(extra["why"], seen),
            tool=_optional(extra.get("tool")),
            started=float(times[0]),
            seconds=float(times[1]),
            stand_in=_optional(extra.get("stand_in")),
            attempts=int(extra.get("attempts", 1)),
            beside=tuple(map(int, extra["beside"])) if "beside" in extra else (),
            after=tuple(map(int, extra["after"])) if "after" in extra else None,
            redacted=tuple(extra.get("redacted", ())),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise CassetteUndecodable(
            "cassette_item", f"interaction {index} lacks or garbles a field ({type(error).__name__}: {error})"
        ) from None


def times_of(interaction: Interaction) -> FlowList:
    """When an interaction began and how long it took, in seconds, as the seal keeps them.

    Of a streamed answer also when each piece came, in milliseconds since the interaction began.
    """
    times = FlowList((round(interaction.started, 3), round(interaction.seconds, 3)))
    if interaction.response.pieces is not None:
        times.append(_spaced(interaction.response.pieces.at))
    return times


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
        "pieces": _spaced(response.pieces.lengths) if response.pieces else "",
        "pieces_anew": response.pieces is not None and response.pieces.anew,
        "trailers": _value(response.trailers),
        "attempts": interaction.attempts if interaction.attempts > 1 else 0,
        "beside": FlowList(interaction.beside),
        "redacted": FlowList(interaction.redacted),
        "request_headers": _raw_headers(request.headers),
        "response_headers": _raw_headers(response.headers),
    }
    if interaction.after is not None:
        extra["after"] = FlowList(interaction.after)
    extra.update((key, value) for key, value in optional.items() if value)
    return extra


def _spaced(numbers: Iterable[int]) -> str:
    """Many numbers as one text: a list of them would take YAML a hundred times longer to read."""
    return " ".join(map(str, numbers))


def _pieces(extra: Any, times: Sequence[Any], body: bytes, *, edited: bool) -> Pieces | None:
    """The table of a streamed body. Raises CassetteUndecodable where it is none of this body."""
    try:
        lengths = tuple(map(int, _text(extra["pieces"]).split()))
        at = tuple(map(int, _text(times[2]).split()))
        pieces = Pieces(lengths, at, bool(extra.get("pieces_anew", False)))
        if pieces.fit(body):
            return pieces
        told = f"{len(lengths)} pieces of {sum(lengths)} bytes at {len(at)} times, for a body of {len(body)} bytes"
    except (ValueError, TypeError, IndexError) as error:
        pieces, told = None, str(error)
    if edited:
        return resized(pieces, len(body)) if pieces and len(pieces.at) == len(pieces.lengths) else None
    raise CassetteUndecodable("cassette_pieces", f"the table of pieces does not fit its answer: {told}", RERECORD)


def _header_map(headers: Headers) -> dict[str, list[str]]:
    """vcrpy's mapping: first spelling of a name, all of its values."""
    spelled: dict[str, str] = {}
    mapping: dict[str, list[str]] = {}
    for name, value in headers:
        key = spelled.setdefault(name.lower(), name)
        mapping.setdefault(key, FlowList()).append(_printable(value))
    return mapping


def _raw_headers(headers: Headers) -> FlowList | None:
    """The exact header list, where the mapping cannot give it back: else None."""
    mapping = _header_map(headers)
    if tuple((name, value) for name, values in mapping.items() for value in values) == headers:
        return None
    return FlowList(FlowList((name, _value(value))) for name, value in headers)


def _headers(mapping: dict[str, list[str]], raw: list[list[Any]] | None, seen: Shared) -> Headers:
    if raw is not None:
        return tuple((_text(name), _surrogates(value)) for name, value in raw)
    pairs = [(_text(name), _text(value)) for name, values in (mapping or {}).items() for value in values]
    return tuple([seen.setdefault(pair, pair) for pair in pairs])


def _one(value: Any, seen: Shared) -> Any:
    return seen.setdefault(value, value)


def _printable(value: str) -> str:
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _unprintable(value: str) -> bytes | None:
    """The bytes of a text that vcrpy's field cannot hold; None for any other."""
    held = _value(value)
    return held if isinstance(held, bytes) else None


def _value(value: str) -> str | bytes:
    raw = value.encode("utf-8", "surrogateescape")
    return value if _printable(value) == value else raw


def _surrogates(value: Any) -> str:
    if isinstance(value, str):
        return value
    return _binary(value).decode("utf-8", "surrogateescape")


def _optional(value: Any) -> str | None:
    return None if value is None else _surrogates(value)


def _body(body: bytes) -> str | bytes:
    """Text where the bytes are UTF-8, else binary."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return body
    return Block(text) if "\n" in text else text


def _bytes(value: Any, read_body: BodyReader) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8")
    if value is None:
        return b""
    if isinstance(value, BodyFile):
        return read_body(value)
    if isinstance(value, list) and value[:1] == [BODY_FILE]:
        return read_body(BodyFile(_text(value[1]), int(value[2])))
    return _binary(value)


def _binary(value: Any) -> bytes:
    """Bytes, from YAML or as the canonical JSON spells them."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, list) and value[:1] == [BINARY]:
        return b64decode(value[1], validate=True)
    raise TypeError(f"text or binary expected, got {type(value).__name__}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, got {type(value).__name__}")
    return value
