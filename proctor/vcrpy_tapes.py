"""vcrpy at work: it reads back every tape of ours before it is sealed, and reads the tapes that it recorded itself.

The one module that imports it, lazily: replaying a tape of ours never does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from proctor.errors import CassetteTorn, CassetteUndecodable, PlatformError
from proctor.interaction import Headers, Interaction, Request, Response
from proctor.tape_yaml import RERECORD


def verify_with_vcrpy(data: bytes, name: str, interactions: Sequence[Interaction]) -> None:
    """Prove that plain vcrpy reads these interactions from a tape's bytes. Raises PlatformError where it does not."""
    from vcr.serialize import deserialize
    from vcr.serializers import yamlserializer

    requests, responses, *_ = deserialize(data.decode("utf-8"), yamlserializer)
    for request, response, ours in zip(requests, responses, interactions, strict=True):
        same = (
            request.method == ours.request.method
            and request.uri == ours.url
            and _vcrpy_body(request.body) == ours.request.body
            and response["status"]["code"] == ours.response.status
            and response["body"]["string"] == ours.response.body
        )
        if not same:
            raise PlatformError(
                "cassette_not_portable", f"vcrpy reads interaction {ours.index} of {name} otherwise than it is"
            )


def read_by_vcrpy(document: dict[str, Any]) -> tuple[Interaction, ...]:
    """The interactions of a tape that vcrpy recorded, as vcrpy itself reads it; each one's service is its origin.

    Raises CassetteUndecodable, or CassetteTorn for a tape without any.
    """
    from vcr.serialize import deserialize

    try:
        requests, responses, *_ = deserialize("", _Parsed(document))
        pairs = zip(requests, responses, strict=True)
        found = tuple([_vcrpy_interaction(index, *pair) for index, pair in enumerate(pairs)])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CassetteUndecodable(
            "cassette_item", f"not sealed by Proctor, and no tape of vcrpy's either ({type(error).__name__}: {error})"
        ) from None
    if not found:
        raise CassetteTorn("cassette_empty", "holds no interaction", RERECORD)
    return found


class _Parsed:
    """What vcrpy takes for a serializer; the document is parsed already, more strictly than vcrpy would."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def deserialize(self, _text: str) -> dict[str, Any]:
        return self._document


def _vcrpy_interaction(index: int, request: Any, response: dict[str, Any]) -> Interaction:
    parts = urlsplit(request.uri)
    if not parts.scheme or not parts.netloc:
        raise ValueError(f"interaction {index} has no whole URL")
    origin = f"{parts.scheme}://{parts.netloc}"
    status = response["status"]
    body = _vcrpy_body(response["body"].get("string"))
    return Interaction(
        index=index,
        request=Request(
            service=origin,
            method=request.method,
            target=request.uri[len(origin) :].partition("#")[0],
            headers=tuple((str(key), str(value)) for key, value in request.headers.items()),
            body=_vcrpy_body(request.body),
        ),
        response=Response(
            status=int(status["code"]),
            reason=str(status.get("message") or ""),
            headers=_measured(request.method, _vcrpy_headers(response["headers"]), body),
            body=body,
        ),
        url=request.uri,
        effect="write",
        effect_why="guessed",
    )


def _vcrpy_headers(headers: dict[str, Any]) -> Headers:
    pairs = [(name, value if isinstance(value, list) else [value]) for name, value in headers.items()]
    return tuple((str(name), str(value)) for name, values in pairs for value in values)


def _measured(method: str, headers: Headers, body: bytes) -> Headers:
    """Without a Content-Length that is not the body's: vcrpy may keep an answer otherwise than it came."""
    if method == "HEAD":
        return headers
    return tuple(pair for pair in headers if pair[0].lower() != "content-length" or pair[1] == str(len(body)))


def _vcrpy_body(body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8")
    if isinstance(body, bytes):
        return body
    raise TypeError(f"a body is {type(body).__name__}")
