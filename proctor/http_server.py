"""What our own HTTP APIs share where they are served: the token, and bodies of bounded size and known form."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, get_args

from aiohttp import web
from pydantic import BaseModel, ValidationError

from proctor.errors import UsageError, nearest
from proctor.wire import TOKEN_HEADER

Model = TypeVar("Model", bound=BaseModel)


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
    """A field that is misspelt comes before one that is missing for it. Nothing of the body is quoted but names."""
    first = min(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
    if first["type"] == "json_invalid":
        return UsageError("bad_json", f"the body is no JSON: {first['msg']}")
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        *path, wrong = first["loc"]
        known = _model_at(model, path)
        return UsageError(
            "unknown_field", f'unknown field "{where}"', nearest(str(wrong), known.model_fields if known else ())
        )
    return UsageError("bad_request", f"{where or 'the body'}: {first['msg']}")


def _model_at(model: type[BaseModel], path: Sequence[int | str]) -> type[BaseModel] | None:
    """The model of the object at a place in a body; None where the fields do not tell which one it is."""
    for name in path:
        if isinstance(name, int):  # an item of what the name before it led to
            continue
        field = model.model_fields.get(name)
        inner = [] if field is None else list(_models_in(field.annotation))
        if len(inner) != 1:
            return None
        model = inner[0]
    return model


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)
