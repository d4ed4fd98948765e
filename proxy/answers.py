"""Answers on their last step: misses and refusals in the shape that the client's SDK expects, others as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from aiohttp import web
from pydantic import BaseModel

from proctor.service_config import ServiceConfig
from proctor.wire import ERROR_HEADER, MISS_HEADER, ErrorAnswer

MISS_STATUS = 422
"""SDKs retry 408, 409, 429 and 5xx; they do not retry this, and no test expects it by chance."""


class Streamed(web.StreamResponse):
    """A real service's answer that is sent piece by piece, with no type where the service gave it none."""

    async def _prepare_headers(self) -> None:
        """The HTTP library would make a type up, which clients then see in place of none."""
        typed = "Content-Type" in self.headers
        await super()._prepare_headers()
        if not typed:
            self.headers.popall("Content-Type", None)


class Whole(Streamed, web.Response):
    """The same of one that is sent at once."""


def miss(service: ServiceConfig, error: dict[str, Any]) -> web.Response:
    """The answer to a request that nothing on the tape answers."""
    return _answer(MISS_STATUS, service, error, MISS_HEADER)


def refusal(status: int, error: dict[str, Any], service: ServiceConfig | None = None) -> web.Response:
    """The answer to a request that Proctor will not or cannot pass on."""
    return _answer(status, service, error, ERROR_HEADER)


def of_model(model: BaseModel, status: int = 200) -> web.Response:
    """An answer of Proctor's own, to one of its own clients."""
    return web.Response(status=status, body=model.model_dump_json().encode(), content_type="application/json")


def of_error(status: int, error: ErrorAnswer, headers: Mapping[str, str] | None = None) -> web.Response:
    """The same, where it is an error."""
    answer = of_model(error, status)
    answer.headers.update(headers or {})
    return answer


def _answer(status: int, service: ServiceConfig | None, error: dict[str, Any], header: str) -> web.Response:
    shape = service.preset_facts.error_shape if service and service.preset_facts else "plain"
    return web.Response(
        status=status,
        reason=f"Proctor: {error['code']}; see the body, or: proctor session show",
        body=orjson.dumps(_shaped(shape, error)),
        content_type="application/json",
        charset="utf-8",
        headers={header: error["code"], "x-should-retry": "false"},
    )


def _shaped(shape: str, error: dict[str, Any]) -> dict[str, Any]:
    """`error` as the API's SDK reads it, with all of it under `proctor` as well."""
    told = f"Proctor: {error['message']}" + (f" ({error['fix']})" if error.get("fix") else "")
    if shape == "openai":
        inner = {"message": told, "type": "proctor_error", "param": None, "code": error["code"]}
        return {"error": inner, "proctor": error}
    if shape == "anthropic":
        return {"type": "error", "error": {"type": "proctor_error", "message": told}, "proctor": error}
    return {"error": error["code"], "message": told, "proctor": error}
