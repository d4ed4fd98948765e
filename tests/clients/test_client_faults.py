"""Each kind of fault as a user of the anthropic SDK sees it, in the clients' own environment.

Those of httpx and the openai SDK are in tests/integration/faults.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web

from proctor.fault_plan import KINDS
from proctor.fault_text import plan_of_text
from tests.clients import environments
from tests.clients.catalogue import CLIENTS
from tests.clients.environments import HERE, PYTHON
from tests.support import Project, run, serving, session

TEXT = "It is paid."
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": TEXT}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
RAISED = {
    "timeout": "APITimeoutError",
    "reset": "APIConnectionError",
    "truncated": "APIConnectionError",
    "error": "InternalServerError 500",
    "529": "OverloadedError 529",
    "rate_limited": "RateLimitError 429",
    "expired_token": "AuthenticationError 401",
    "malformed": "JSONDecodeError",
    "empty": "",
    "wrong_type": "dict",
    "slow": TEXT,
}


async def model(request: web.Request) -> web.Response:
    """Anthropic's API, as far as a fault lets it be asked."""
    asked = await request.json()
    if not asked.get("stream"):
        return web.json_response(MESSAGE)
    block = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**MESSAGE, "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        block,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_stop"},
    ]
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return web.Response(text=text, content_type="text/event-stream")


async def seen(project: Project, told: dict[str, str], *options: str) -> dict[str, str]:
    """What the SDK gave or raised in each call, by the fault that it met; and no other call than these was made."""
    [client] = [each for each in CLIENTS if each.name == "anthropic"]
    if reason := environments.missing(client):
        pytest.skip(f"{client.name}: {reason}")
    how = {"slow": "slow@0.05"}
    plan = ", ".join(f"anthropic:{call}={how.get(kind, kind)}" for call, kind in enumerate(told, 1))
    async with serving(model) as url:
        project.configure(f'[services.anthropic]\npreset = "anthropic"\nurl = "{url}"\n')
        async with session(project, "t", "live", faults=plan_of_text(plan), allow_unused=True) as running:
            program = str(HERE / "programs" / "anthropic_faults.py")
            address = {"ANTHROPIC_BASE_URL": running.url("anthropic"), "PYTHONPATH": ""}
            done = await run(str(PYTHON), program, *options, *told, cwd=project.root, env=address)
            summary = await running.close()
    assert done.status == 0, done.stderr
    assert (len(summary.faults), summary.faults_unfired, summary.exchanges) == (len(told), (), len(told))
    lines = (line.partition(": ") for line in done.stdout.splitlines())
    return {kind: found for kind, _, found in lines}


async def test_the_anthropic_sdk_raises_what_it_really_raises(project: Project) -> None:
    assert set(KINDS) <= set(RAISED)
    assert await seen(project, RAISED) == RAISED


async def test_a_stream_of_the_anthropic_sdk_breaks_where_the_fault_is(project: Project) -> None:
    raised = {**RAISED, "truncated": "RemoteProtocolError", "wrong_type": "AttributeError"}
    assert await seen(project, raised, "--stream") == raised
