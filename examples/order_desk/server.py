"""The order desk's staging server: the world of `world.py`, each tool at `POST /tools/NAME`, as a real service has it.

The rules are the world's. What a service adds to them is here: the time of day, numbers that nobody can guess, and two
fields of each answer that never repeat. `python examples/order_desk/server.py [--port 0]`
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

if __name__ == "__main__":  # run by path: the folder above `examples` is not on the path yet
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from examples.order_desk.serving import run
from examples.order_desk.world import OrderDesk
from proctor.errors import WorldFailed
from proctor.world.kind import WorldKind
from proctor.world.openai_tools import openai_tools
from proctor.world.session import WorldSession

DESK: web.AppKey[WorldSession] = web.AppKey("desk", WorldSession)


class StagingDesk(OrderDesk):
    """The world in real time."""

    def now(self) -> datetime:
        """The time of day, in milliseconds."""
        time = datetime.now(UTC)
        return time.replace(microsecond=time.microsecond // 1000 * 1000)


def create_app() -> web.Application:
    """The API over a desk of its own, which lives as long as the app and is found in it as `DESK`."""
    app = web.Application(middlewares=[errors_as_json])
    app[DESK] = WorldSession(WorldKind(StagingDesk), secrets.token_hex(16))
    app.router.add_get("/health", health)
    app.router.add_get("/tools", list_tools)
    app.router.add_post("/tools/{name}", call_tool)
    return app


async def health(request: web.Request) -> web.Response:
    return reply({"status": "ok"})


async def list_tools(request: web.Request) -> web.Response:
    """The tools as OpenAI's API takes them."""
    return reply(openai_tools(request.app[DESK].kind))


async def call_tool(request: web.Request) -> web.Response:
    """The world's answer. One that succeeded has two fields that differ on every call, as in real life."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    credential = token.strip() if scheme.lower() == "bearer" else ""
    answer = request.app[DESK].call(request.match_info["name"], await request.read(), credential=credential)
    body = json.loads(answer.body)
    if not answer.refused:
        served_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        body = {**body, "served_at": served_at, "request_id": f"req_{secrets.token_hex(8)}"}
    return reply(body, answer.status)


def reply(body: Any, status: int = 200) -> web.Response:
    return web.json_response(body, status=status, dumps=lambda value: json.dumps(value, ensure_ascii=False))


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every refusal in one shape: {"error", "message", ...}."""
    try:
        return await handler(request)
    except WorldFailed as failed:
        print(failed.trace, file=sys.stderr)
        return reply({"error": failed.code, "message": failed.message}, 500)
    except web.HTTPException as error:
        name = error.reason.lower().replace(" ", "_")
        return reply({"error": name, "message": f"{request.method} {request.path}: {error.reason}."}, error.status)


def main() -> int:
    parser = argparse.ArgumentParser(description="The order desk, a stateful customer-service API.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, lets the system choose")
    options = parser.parse_args()
    return run(create_app(), options.port, "order desk listening on {url}")


if __name__ == "__main__":
    raise SystemExit(main())
