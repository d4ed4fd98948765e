"""What our own HTTP APIs share where they are served: the token, and bodies of bounded size and known form."""

from __future__ import annotations

import hmac
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from proctor.errors import UsageError
from proctor.misfits import first_error
from proctor.wire import TOKEN_HEADER

Model = TypeVar("Model", bound=BaseModel)
_BODY = "the body"


def carries_token(request: web.BaseRequest, token: str) -> bool:
    """The request has that token, in its own header or as `Authorization: Bearer`."""
    scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
    given = request.headers.get(TOKEN_HEADER) or (bearer.strip() if scheme.lower() == "bearer" else "")
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())


async def body_of(request: web.BaseRequest, most: int) -> bytes:
    """The whole body. Raises UsageError for more bytes than that, without reading it to its end."""
    body = bytearray()
    while len(body) <= most and (request.content_length or 0) <= most:
        piece = await request.content.readany()
        if not piece:
            return bytes(body)
        body += piece
    raise UsageError("body_too_large", f"the body of such a request has at most {most} bytes")


def parsed(model: type[Model], body: bytes) -> Model:
    """A body as JSON of that form. Raises UsageError, which names the first thing wrong with it."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise _refusal(model, error) from None


def formed(model: type[Model], value: Any) -> Model:
    """The same of a value that is parsed already."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _refusal(model, error) from None


def _refusal(model: type[BaseModel], error: ValidationError) -> UsageError:
    """Nothing of the body is quoted but names."""
    first = first_error(model, error, _BODY)
    if first.kind == "json_invalid":
        return UsageError("bad_json", f"the body is no JSON: {first.message.removeprefix(_BODY + ': ')}")
    code = "unknown_field" if first.kind == "extra_forbidden" else "bad_request"
    return UsageError(code, first.message, first.nearest)
