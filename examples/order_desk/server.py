"""The order desk: a real, stateful customer-service API with six tools, each `POST /tools/NAME`.

`python examples/order_desk/server.py [--port 0] [--database PATH]`
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

if __name__ == "__main__":  # run by path: the folder above `examples` is not on the path yet
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from examples.order_desk.serving import run
from examples.order_desk.store import RefusalError, Store, now

STORE: web.AppKey[Store] = web.AppKey("store", Store)
Arguments = dict[str, Any]
Tool = Callable[[Store, str, Arguments], dict[str, Any]]


def create_app(database: Path) -> web.Application:
    """The API over one SQLite file, which is created and seeded when it is new."""

    async def store(app: web.Application) -> AsyncIterator[None]:
        app[STORE] = Store(database)
        yield
        app[STORE].close()

    app = web.Application(middlewares=[errors_as_json])
    app.cleanup_ctx.append(store)
    app.router.add_get("/health", health)
    app.router.add_post("/tools/{name}", call_tool)
    return app


async def health(request: web.Request) -> web.Response:
    return reply({"status": "ok"})


async def call_tool(request: web.Request) -> web.Response:
    """Checks tool, credential and body, in this order, and runs the tool."""
    name, store = request.match_info["name"], request.app[STORE]
    if name == "get_token":
        arguments = await read_arguments(request)
        customer_id = text(arguments, "customer_id")
        return succeed({"customer_id": customer_id, "token": store.issue_token(customer_id)})
    tool = TOOLS.get(name)
    if tool is None:
        known = ", ".join(["get_token", *TOOLS])
        raise RefusalError(404, 40401, "unknown_tool", f"There is no tool {name}. Tools: {known}.")
    customer_id = authenticate(request, store)
    return succeed(tool(store, customer_id, await read_arguments(request)))


def authenticate(request: web.Request, store: Store) -> str:
    """The customer for whom the bearer token acts."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        message = "Send `Authorization: Bearer TOKEN`; get_token answers a token."
        raise RefusalError(401, 40101, "token_required", message)
    customer_id = store.customer_of(token.strip())
    if customer_id is None:
        raise RefusalError(401, 40102, "token_invalid", "This token is unknown. Call get_token again.")
    return customer_id


async def read_arguments(request: web.Request) -> Arguments:
    """The JSON object in the body. Every tool takes an optional string `channel`."""
    try:
        body = json.loads(await request.read())
        json.dumps(body, ensure_ascii=False).encode()  # a lone surrogate is no text that can be stored
    except (ValueError, RecursionError):
        raise RefusalError(400, 40001, "body_not_json", "The body is not JSON in UTF-8.") from None
    if not isinstance(body, dict):
        raise RefusalError(400, 40002, "body_not_object", "The body must be a JSON object of arguments.")
    if not isinstance(body.get("channel", ""), str):
        raise RefusalError(400, 40004, "channel_invalid", "`channel` must be a string.")
    return body


def text(arguments: Arguments, name: str) -> str:
    """A required argument that must be a string with something in it."""
    if name not in arguments:
        raise RefusalError(400, 40003, f"{name}_required", f"The argument `{name}` is missing.")
    value = arguments[name]
    if not isinstance(value, str) or not value.strip():
        raise RefusalError(400, 40004, f"{name}_invalid", f"`{name}` must be a string that is not empty.")
    return value.strip()


def amount(arguments: Arguments) -> Decimal:
    """The argument `amount`: money as a decimal string, since a float cannot hold every cent."""
    value = text(arguments, "amount")
    try:
        number = Decimal(value)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        message = '`amount` must be a decimal number in a string, such as "84.90".'
        raise RefusalError(400, 40004, "amount_invalid", message)
    return number


TOOLS: dict[str, Tool] = {
    "query_order": lambda store, customer, a: store.order(customer, text(a, "order_id")),
    "query_logistics": lambda store, customer, a: store.logistics(customer, text(a, "order_id")),
    "calc_refund": lambda store, customer, a: store.quote_refund(customer, text(a, "order_id")),
    "create_refund": lambda store, customer, a: store.refund(
        customer, text(a, "order_id"), amount(a), a.get("channel")
    ),
    "change_address": lambda store, customer, a: store.change_address(
        customer, text(a, "order_id"), text(a, "address"), a.get("channel")
    ),
}


def succeed(body: dict[str, Any]) -> web.Response:
    """A tool's answer, with the two fields that differ on every call, as in real life."""
    return reply({**body, "served_at": now(), "request_id": f"req_{secrets.token_hex(8)}"})


def reply(body: dict[str, Any], status: int = 200) -> web.Response:
    return web.json_response(body, status=status, dumps=lambda value: json.dumps(value, ensure_ascii=False))


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every refusal in one shape: {"code", "error", "message", ...}. Status 422 is never used."""
    try:
        return await handler(request)
    except RefusalError as refusal:
        return reply(refusal.body, refusal.status)
    except web.HTTPException as error:
        name = error.reason.lower().replace(" ", "_")
        message = f"{request.method} {request.path}: {error.reason}."
        return reply({"code": error.status * 100, "error": name, "message": message}, error.status)


def main() -> int:
    parser = argparse.ArgumentParser(description="The order desk, a stateful customer-service API.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, lets the system choose")
    parser.add_argument("--database", type=Path, help="SQLite file; a temporary one unless given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="order-desk-") as folder:
        app = create_app(options.database or Path(folder) / "desk.db")
        return run(app, options.port, "order desk listening on {url}")


if __name__ == "__main__":
    raise SystemExit(main())
