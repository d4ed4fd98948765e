"""A stand-in for an OpenAI chat completions server. It is not an LLM: it plans by rules (see plans.py).

It says so in every answer: the model is always `stand-in-rules-1`, and each response carries
`x-proctor-stand-in: order-desk-rules`. `python examples/order_desk/stand_in_model.py [--port 0]`
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

if __name__ == "__main__":  # run by path: the folder above `examples` is not on the path yet
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from examples.order_desk.completions import (
    MODEL,
    RejectedError,
    check_request,
    chunks,
    completion,
    offered_tools,
)
from examples.order_desk.history import read_history
from examples.order_desk.plans import Call, next_move
from examples.order_desk.serving import run

MAX_BODY = 16 * 1024 * 1024  # bytes; long histories must pass


def create_app() -> web.Application:
    """The API under /v1. It keeps no state: each answer follows from the request's messages alone."""
    app = web.Application(middlewares=[errors_in_openai_shape], client_max_size=MAX_BODY)
    app.on_response_prepare.append(mark_as_stand_in)
    app.router.add_get("/v1/models", list_models)
    app.router.add_post("/v1/chat/completions", complete)
    return app


async def list_models(request: web.Request) -> web.Response:
    require_key(request)
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "proctor-stand-in"}
    return web.json_response({"object": "list", "data": [model]})


async def complete(request: web.Request) -> web.StreamResponse:
    """One chat completion, whole or as server-sent events."""
    require_key(request)
    try:
        body = json.loads(await request.read())
    except (ValueError, RecursionError):
        raise RejectedError(400, "We could not parse the JSON body of your request.") from None
    body = check_request(body)
    move = next_move(read_history(body["messages"]), offered_tools(body))
    if body.get("stream"):
        return await stream(request, move)
    return web.json_response(completion(move), dumps=dumps)


async def stream(request: web.Request, move: Call | str) -> web.StreamResponse:
    """The answer as events, each `data: JSON`, the last `data: [DONE]`."""
    response = web.StreamResponse(headers={"Cache-Control": "no-cache"})
    response.content_type, response.charset = "text/event-stream", "utf-8"
    await response.prepare(request)
    for chunk in chunks(move):
        await response.write(f"data: {dumps(chunk)}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


def require_key(request: web.Request) -> None:
    """Any bearer key will do; to send none is an error, as at OpenAI."""
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        text = "You didn't provide an API key. Send `Authorization: Bearer KEY`; this stand-in takes any key."
        raise RejectedError(401, text, code="missing_api_key")


async def mark_as_stand_in(request: web.Request, response: web.StreamResponse) -> None:
    response.headers["x-proctor-stand-in"] = "order-desk-rules"


@web.middleware
async def errors_in_openai_shape(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except RejectedError as error:
        return web.json_response(error.body, status=error.status, dumps=dumps)
    except web.HTTPException as error:
        rejected = RejectedError(error.status, f"{error.reason}: {request.method} {request.path}")
        return web.json_response(rejected.body, status=error.status, dumps=dumps)


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def main() -> int:
    parser = argparse.ArgumentParser(description="A rule-based stand-in for a chat completions server.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, lets the system choose")
    options = parser.parse_args()
    return run(create_app(), options.port, "stand-in model (rules, not an LLM) listening on {url}/v1")


if __name__ == "__main__":
    raise SystemExit(main())
