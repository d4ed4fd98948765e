"""A real service behind an agent, and a project that records from it: for tests of runs on tapes."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from aiohttp import web

from tests.integration.harness.shop import CALLING
from tests.support import Project


@dataclass
class Desk:
    """Orders by id, and refunds. It notes what reached it."""

    status: int = 200
    """Of every answer."""
    asked: list[str] = field(default_factory=list)
    at_once: int = 0
    """The most requests that were under way together."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Handle a request."""
        self.asked.append(request.path)
        told = json.loads(await request.read() or b"{}")
        return web.json_response({"status": "arrived", "order": told.get("order_id")}, status=self.status)


ASKS = (
    CALLING
    + """
for line in sys.stdin:
    asked = json.loads(line)
    order = asked["user"].split()[-1]
    reply("It has " + str(call("query_order", order_id=order).get("status")))
"""
)
"""An agent that looks an order up."""


def looked_up(name: str, order: str = "A1", says: Sequence[str] = ("arrived",), **more: Any) -> dict[str, Any]:
    """A case in which the order's state is asked for."""
    turns = [{"user": f"Where is {order}"}]
    return {"id": name, "title": name, "admitted": True, "turns": turns, "expect": {"says": list(says)}, **more}


def set_up(project: Project, url: str, agent: str, cases: Sequence[Mapping[str, Any]], toml: str = "") -> None:
    """Write agent, configuration (the service `orders` at `url`) and the suite `shop`."""
    program = project.script("agent.py", agent)
    project.configure(
        f'[services.orders]\nurl = "{url}"\nenv = ["ORDERS_URL"]\ntools = "POST /tools/{{tool}}"\n'
        + f"[agent]\ncommand = {json.dumps([sys.executable, str(program)])}\n{toml}\n"
    )
    folder = project.root / "suites"
    folder.mkdir(exist_ok=True)
    told = {"name": "shop", "title": "Shop", "tests": "orders", "tests_not": "all else", "cases": list(cases)}
    (folder / "shop.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(told))), encoding="utf-8")


@dataclass
class Model:
    """Something that answers as a chat API does and does not say that it is none: to Proctor it is a live model."""

    says: list[str]
    """By question, in order; the last one stays."""
    usage: tuple[int, int] | None = (1_000, 100)
    """Tokens that each answer tells: in, out."""
    headers: Mapping[str, str] = field(default_factory=dict)
    asked: int = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Handle a request."""
        asked = json.loads(await request.read())
        self.asked += 1
        said = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        message = {"role": "assistant", "content": said}
        told: dict[str, Any] = {
            "id": f"chatcmpl-{self.asked}",
            "object": "chat.completion",
            "created": 1,
            "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
        if self.usage is not None:
            sent, received = self.usage
            told["usage"] = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
        return web.json_response(told, headers=self.headers)


THINKING = """

def think(url, text, model="gpt-4.1-mini"):
    body = {"model": model, "messages": [{"role": "user", "content": text}]}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    asked = urllib.request.Request(url + "/chat/completions", json.dumps(body).encode(), headers)
    with DIRECT.open(asked) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]

"""
"""How an agent of a few lines asks a model; stands after `shop.CALLING`."""
MODELLED = (
    CALLING
    + THINKING
    + """
for line in sys.stdin:
    asked = json.loads(line)
    order = think(asked["services"]["llm"], asked["user"])
    reply("It has " + str(call("query_order", order_id=order).get("status")))
"""
)
"""An agent that looks up whatever order a model names."""


def llm(url: str) -> str:
    """The model at an address, as a service."""
    return f'[services.llm]\npreset = "openai"\nurl = "{url}"\n'
