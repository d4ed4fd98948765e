"""A stand-in for an LLM server that a judge asks: chat completions over a real socket, answered by no LLM.

It serves a stand-in model, or a list of answers as awkward as real servers' are; every response says
`x-proctor-stand-in: judge`. `python -m tools.stand_in_judge_server stand-in/obedient [--port 0]`
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from examples.order_desk.serving import run
from proctor.judge.stand_ins import stand_in
from proctor.model_call import Message, Model, ModelCall, ModelFailure

MAX_BODY = 64 * 1024 * 1024  # bytes
USED = {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}


@dataclass(frozen=True)
class Answer:
    """One answer, by `model` where another one than was asked gives it.

    `cut` closes the connection in the middle of it, `hang` never gives it.
    """

    text: str | None = ""
    finish: str = "stop"
    refusal: str | None = None
    usage: Mapping[str, Any] | None = field(default_factory=lambda: USED)
    status: int = 200
    error: Mapping[str, Any] | None = None
    raw: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    hang: bool = False
    model: str = ""


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    headers: Mapping[str, str]
    body: Mapping[str, Any]


Answering = Callable[[Asked], Awaitable[Answer]]


@dataclass(frozen=True)
class Served:
    """The server: its base URL, with `/v1`, and what it was asked so far."""

    url: str
    asked: list[Asked]


def in_turn(answers: Iterable[Answer]) -> Answering:
    """The answers, one after the other; the last one for ever."""
    left = list(answers)

    async def answer(asked: Asked) -> Answer:
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


def by_model(model: Model) -> Answering:
    """What a model answers."""

    async def answer(asked: Asked) -> Answer:
        messages = tuple(Message(each["role"], each["content"]) for each in asked.body["messages"])
        declared = (asked.body.get("response_format") or {}).get("json_schema") or {}
        try:
            reply = await model.ask(
                ModelCall(messages, declared.get("name", ""), declared.get("schema", {}), 0, 4096, 60.0)
            )
        except ModelFailure as failure:
            return Answer(status=400, error={"message": failure.message, "code": failure.cause})
        return Answer(reply.text)

    return answer


def create_app(answering: Answering, asked: list[Asked]) -> web.Application:
    """The one path of the API. Whatever is asked is appended to `asked`."""

    async def complete(request: web.Request) -> web.StreamResponse:
        asked.append(Asked(dict(request.headers), await request.json()))
        answer = await answering(asked[-1])
        if answer.hang:
            await asyncio.Event().wait()
        if answer.cut:
            return await _cut(request)
        if answer.raw is not None:
            return web.Response(text=answer.raw, status=answer.status, headers=answer.headers)
        body = {"error": answer.error} if answer.error is not None else _completion(answer, asked[-1])
        return web.json_response(body, status=answer.status, headers=answer.headers)

    app = web.Application(client_max_size=MAX_BODY)
    app.router.add_post("/v1/chat/completions", complete)
    app.on_response_prepare.append(_mark)
    return app


@asynccontextmanager
async def serving_judge(answering: Answering) -> AsyncIterator[Served]:
    """The server, on a free port of loopback, in this process."""
    asked: list[Asked] = []
    runner = web.AppRunner(create_app(answering, asked), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield Served(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", asked)
    finally:
        await runner.cleanup()


async def _mark(request: web.Request, response: web.StreamResponse) -> None:
    response.headers["x-proctor-stand-in"] = "judge"


async def _cut(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "4000"})
    await response.prepare(request)
    await response.write(b'{"id": "chatcmpl-stand-in", "choices": [{"message": {"content": "{\\"citations\\"')
    assert request.transport is not None
    request.transport.abort()
    return response


def _completion(answer: Answer, asked: Asked) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.refusal is not None:
        message["refusal"] = answer.refusal
    return {
        "id": "chatcmpl-stand-in",
        "object": "chat.completion",
        "created": 0,
        "model": answer.model or f"{asked.body['model']}-stand-in",
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish}],
        **({} if answer.usage is None else {"usage": answer.usage}),
    }


def main() -> int:
    """Serve one stand-in until a signal ends it."""
    parser = argparse.ArgumentParser(description="A stand-in for an LLM server that a judge asks.")
    parser.add_argument("model", help="`stand-in/obedient`, or `stand-in/scripted:FILE`")
    parser.add_argument("--port", type=int, default=0, help="0, the default, lets the system choose")
    options = parser.parse_args()
    app = create_app(by_model(stand_in(options.model)), [])
    return run(app, options.port, "stand-in judge (rules, not an LLM) listening on {url}/v1")


if __name__ == "__main__":
    raise SystemExit(main())
