"""A desk with one tool and a model, on a tape; and the sessions over it in which things go wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from proctor.fault_file import read_plan
from proctor.fault_plan import FaultPlanSpec
from proctor.wire import Mode
from tests.support import Project, Running, serving, session

ORDER = {"order": "A-1", "status": "paid", "lines": [{"sku": "A"}, {"sku": "B"}], "total": 12.5}
CONFIG = """\
[services.orders]
url = "{url}"
env = ["ORDERS_URL"]
tools = "POST /tools/{{tool}}"
reads = ["query_*"]
writes = ["refund"]

[services.openai]
preset = "openai"
url = "{url}/openai"

[services.anthropic]
preset = "anthropic"
url = "{url}/anthropic"
"""
KEYS = {"openai": "Authorization", "anthropic": "x-api-key"}
TEXT = "Your order A-1 is paid, and it will be with you tomorrow."


def plan(text: str, **more: Any) -> FaultPlanSpec:
    """A plan from its short text, with other fields."""
    return read_plan(text).model_copy(update=more)


class Desk:
    """The real services; `asked` has the path of every request that reached one, `heard` all bytes of those."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.heard = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Any request."""
        body = await request.read()
        self.asked.append(request.path)
        self.heard += f"{request.raw_headers!r} {body!r}"
        if request.path.endswith("/chat/completions"):
            return _events() if b'"stream":true' in body.replace(b" ", b"") else web.json_response(_completion())
        return web.json_response(ORDER if "query" in request.path else {"refunded": True, "id": 7})


@asynccontextmanager
async def desk(project: Project) -> AsyncIterator[Desk]:
    """The project's services, running."""
    made = Desk()
    async with serving(made.answer) as url:
        project.configure(CONFIG.format(url=url))
        yield made


async def recorded(project: Project, *streams: bool) -> None:
    """A tape "t": a query, a refund, and a question to the model, streamed or not. Its services are gone."""
    if streams not in _TAPES:
        await _record(project, *streams)
        _TAPES[streams] = (project.root / "cassettes" / "t.yaml").read_bytes()
    project.configure(CONFIG.format(url="http://127.0.0.1:9"))
    (project.root / "cassettes").mkdir(exist_ok=True)
    (project.root / "cassettes" / "t.yaml").write_bytes(_TAPES[streams])


_TAPES: dict[tuple[bool, ...], bytes] = {}
"""Each is recorded once."""


async def _record(project: Project, *streams: bool) -> None:
    async with desk(project), session(project, "t", modes={"anthropic": "live"}, allow_unused=True) as run:
        for tool in ("query_order", "refund"):
            async with run.http.post(run.url("orders", f"/tools/{tool}"), json={"order": "A-1"}) as got:
                await got.read()
        for stream in streams:
            async with run.http.post(
                run.url("openai", "/chat/completions"),
                json=question(stream),
                headers={"Authorization": "Bearer sk-real"},
            ) as got:
                await got.read()
        assert (await run.close()).sealed


def question(stream: bool) -> dict[str, Any]:
    """What the model is asked."""
    asked: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Where is A-1?"}]}
    return {**asked, "stream": True} if stream else asked


@asynccontextmanager
async def replaying(
    project: Project, faults: FaultPlanSpec | str, mode: Mode = "replay", **spec: Any
) -> AsyncIterator[Running]:
    """A session over the tape "t" under a plan. The model that nobody recorded is there, but nowhere."""
    made = plan(faults) if isinstance(faults, str) else faults
    async with session(project, "t", mode, faults=made, allow_unused=True, **spec) as run:
        yield run


def _completion() -> dict[str, Any]:
    message = {"role": "assistant", "content": TEXT}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
    return {**head, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def _events() -> web.Response:
    head = '{"id":"chatcmpl-2","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
    words = TEXT.split(" ")
    lines = [f'data: {head}{{"content":"{word} "}}}}]}}\n\n' for word in words]
    return web.Response(body="".join((*lines, "data: [DONE]\n\n")).encode(), content_type="text/event-stream")
