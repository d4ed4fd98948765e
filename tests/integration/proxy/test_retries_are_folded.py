"""The openai SDK retries by itself; the tape holds one call, and a replay meets no rate limit."""

from __future__ import annotations

from aiohttp import web
from openai import AsyncOpenAI

from tests.support import Project, Running, serving, session

COMPLETION = {
    "id": "c1",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "好"}}],
}


async def ask(run: Running) -> str | None:
    async with AsyncOpenAI(base_url=run.url("llm"), api_key="sk-of-the-tests-0123456789", max_retries=3) as client:
        done = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    return done.choices[0].message.content


async def test_a_rate_limit_that_the_sdk_got_over_is_not_played_again(project: Project) -> None:
    statuses = [429, 503, 200]

    async def llm(request: web.Request) -> web.StreamResponse:
        status = statuses.pop(0)
        hurry = {"retry-after-ms": "1"} if status != 200 else {}
        return web.json_response(COMPLETION if status == 200 else {"error": {}}, status=status, headers=hurry)

    async with serving(llm) as url:
        project.configure(f'[services.llm]\npreset = "openai"\nurl = "{url}"\n')
        async with session(project, "t") as run:
            assert await ask(run) == "好"
            summary = await run.close()
    assert summary.sealed
    assert "2 retries were folded into the calls that they repeat: #0 llm POST /chat/completions" in summary.notes
    assert [row.status for row in project.trace(summary.session)] == [429, 503, 200]
    async with session(project, "t", "replay") as run:
        assert await ask(run) == "好"
        summary = await run.close()
    (row,) = project.trace(summary.session)
    assert (row.status, row.attempts) == (200, 3)
