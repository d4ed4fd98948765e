"""The agent as a service: `[agent] url = "http://127.0.0.1:8080/turns"`.

`python examples/order_desk/agents/http_agent.py [--port 8080]`, with OPENAI_API_KEY set. One process holds many
conversations, so the services' addresses are those that each task has, not those of variables.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections import OrderedDict
from pathlib import Path

from aiohttp import web
from openai import OpenAI

if __name__ == "__main__":  # run by path: the folder above `examples` is not on the path yet
    sys.path.append(str(Path(__file__).resolve().parents[3]))

from examples.order_desk.agent import Agent
from examples.order_desk.agents.turns import Task, agent_of
from examples.order_desk.serving import run
from examples.order_desk.tools import ToolClient

MOST_HELD = 1000  # conversations; nothing says that one is over, so the one that was silent longest makes room
Held = OrderedDict[str, Agent]
HELD: web.AppKey[Held] = web.AppKey("held", OrderedDict)


def create_app() -> web.Application:
    """The service, with no conversation yet."""
    app = web.Application()
    app[HELD] = OrderedDict()
    app.router.add_post("/turns", answer)
    app.on_cleanup.append(close_all)
    return app


async def answer(request: web.Request) -> web.Response:
    """The reply to one turn. The turns of a conversation come one after the other."""
    task: Task = await request.json()
    agent = conversation(request.app[HELD], task)
    reply = await asyncio.to_thread(agent.take_turn, task["user"])
    return web.json_response({"reply": reply})


def conversation(held: Held, task: Task) -> Agent:
    """The one that the task belongs to."""
    session, services = task["session"], task["services"]
    if session not in held:
        llm = OpenAI(base_url=services["llm"], api_key=os.environ.get("OPENAI_API_KEY") or "none")
        held[session] = agent_of(task, llm, ToolClient(services["orders"]))
    held.move_to_end(session)
    if len(held) > MOST_HELD:
        close(held.popitem(last=False)[1])
    return held[session]


def close(agent: Agent) -> None:
    """Let go of its connections."""
    agent.llm.close()
    agent.tools.close()


async def close_all(app: web.Application) -> None:
    for agent in app[HELD].values():
        close(agent)


def main() -> int:
    parser = argparse.ArgumentParser(description="The order desk's agent as a service.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, lets the system choose")
    options = parser.parse_args()
    return run(create_app(), options.port, "order desk agent listening on {url}/turns")


if __name__ == "__main__":
    raise SystemExit(main())
