"""A stand-in for the LLM servers of OpenAI (chat completions, Responses) and Anthropic (messages).

It is not an LLM: it plans by rules (see plans.py). It says so in every answer: the model is always
`stand-in-rules-1`, and each response carries `x-proctor-stand-in: order-desk-rules`.
`python examples/order_desk/stand_in_model.py [--port 0]`
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from aiohttp import web
from aiohttp.typedefs import Handler

if __name__ == "__main__":  # run by path: the folder above `examples` is not on the path yet
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from examples.order_desk import completions, messages, responses
from examples.order_desk.asked import MODEL, Asked, Json, RejectedError, checked_object, dumps
from examples.order_desk.history import read_history
from examples.order_desk.plans import Move, next_move
from examples.order_desk.serving import run

MAX_BODY = 16 * 1024 * 1024  # bytes; long histories must pass


class Api(Protocol):
    """One way to ask a model, as a module: it reads requests, and writes answers, streams and errors."""

    def read(self, request: Json) -> Asked: ...
    def whole(self, move: Move) -> Json: ...
    def events(self, move: Move) -> Iterator[str]: ...
    def error_body(self, error: RejectedError) -> Json: ...


APIS: dict[str, Api] = {
    "/v1/chat/completions": completions,
    "/v1/responses": responses,
    "/v1/messages": messages,
}


def create_app() -> web.Application:
    """The APIs under /v1. It keeps no state: each answer follows from the request's messages alone."""
    app = web.Application(middlewares=[errors_in_the_apis_shape], client_max_size=MAX_BODY)
    app.on_response_prepare.append(mark_as_stand_in)
    app.router.add_get("/v1/models", list_models)
    for path in APIS:
        app.router.add_post(path, answer)
    return app


async def list_models(request: web.Request) -> web.Response:
    require_key(request)
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "proctor-stand-in"}
    return web.json_response({"object": "list", "data": [model]})


async def answer(request: web.Request) -> web.StreamResponse:
    """One answer of the API at this path, whole or as server-sent events."""
    require_key(request)
    api = APIS[request.path]
    try:
        body = json.loads(await request.read())
    except (ValueError, RecursionError):
        raise RejectedError(400, "We could not parse the JSON body of your request.") from None
    asked = api.read(checked_object(body))
    move = next_move(read_history(asked.messages), asked.offered, parallel=asked.parallel)
    if body.get("stream"):
        return await stream(request, api.events(move))
    return web.json_response(api.whole(move), dumps=dumps)


async def stream(request: web.Request, events: Iterator[str]) -> web.StreamResponse:
    """The answer as server-sent events."""
    response = web.StreamResponse(headers={"Cache-Control": "no-cache"})
    response.content_type, response.charset = "text/event-stream", "utf-8"
    await response.prepare(request)
    for event in events:
        await response.write(event.encode())
    await response.write_eof()
    return response


def require_key(request: web.Request) -> None:
    """Any bearer key (Anthropic's clients: or `x-api-key`) will do; to send none is an error, as at the real ones."""
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    by_header = APIS.get(request.path) is messages and request.headers.get("x-api-key", "").strip()
    if not by_header and (scheme.lower() != "bearer" or not key.strip()):
        text = "You didn't provide an API key. Send `Authorization: Bearer KEY`; this stand-in takes any key."
        raise RejectedError(401, text, code="missing_api_key")


async def mark_as_stand_in(request: web.Request, response: web.StreamResponse) -> None:
    response.headers["x-proctor-stand-in"] = "order-desk-rules"


@web.middleware
async def errors_in_the_apis_shape(request: web.Request, handler: Handler) -> web.StreamResponse:
    api = APIS.get(request.path, completions)
    try:
        return await handler(request)
    except RejectedError as error:
        return web.json_response(api.error_body(error), status=error.status, dumps=dumps)
    except web.HTTPException as error:
        rejected = RejectedError(error.status, f"{error.reason}: {request.method} {request.path}")
        return web.json_response(api.error_body(rejected), status=error.status, dumps=dumps)


def main() -> int:
    parser = argparse.ArgumentParser(description="A rule-based stand-in for an LLM server.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, lets the system choose")
    options = parser.parse_args()
    return run(create_app(), options.port, "stand-in model (rules, not an LLM) listening on {url}/v1")


if __name__ == "__main__":
    raise SystemExit(main())
