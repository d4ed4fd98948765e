"""D10: a secret parameter was taken out of the request, and stored once more in the answer's own URL field."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import quote

import pytest
from aiohttp import web

from tests.integration.cases.support import Asked, ask, recording, replaying
from tests.property.planted import left_in
from tests.support import Project, session

SECRETS = {
    "plain": "tok7Fq2Lx9Zp4Rv8Wn3",
    "with signs": "a+b/c=7Fq2Lx9Zp4&Rv8 Wn3",
    "other letters": "密码7Fq2Lx9Zp4Rv8é",
    "with quotes": 'q"7Fq2\\Lx9Zp4<Rv8>',
}
ECHOES: dict[str, Callable[[str, str], web.Response]] = {
    "the URL in a field": lambda url, secret: web.json_response({"url": url}),
    "the URL in a header": lambda url, secret: web.Response(headers={"Content-Location": url, "Link": f"<{url}>"}),
    "a redirect": lambda url, secret: web.Response(status=302, headers={"Location": url}),
    "the value alone": lambda url, secret: web.json_response({"said": [{"v": secret}]}),
    "URL in a URL": lambda url, secret: web.json_response({"login": f"https://sso.test/?next={quote(url, safe='')}"}),
    "JSON in a text": lambda url, secret: web.json_response({"log": json.dumps({"request": {"url": url}})}),
    "base64": lambda url, secret: web.json_response({"state": b64encode(json.dumps({"t": secret}).encode()).decode()}),
    "a page": lambda url, secret: web.Response(text=f'<a href="{url}&amp;page=2">next</a>', content_type="text/html"),
}


def asked(secret: str, page: int = 1) -> Asked:
    return Asked(f"/items?api_token={quote(secret, safe='')}&page={page}")


@pytest.mark.req(74)
@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("kind", SECRETS)
async def test_the_value_is_nowhere_in_any_file_raw_or_encoded_and_replay_needs_it_not(
    project: Project, kind: str, echo: str
) -> None:
    secret = SECRETS[kind]

    async def service(request: web.Request) -> web.StreamResponse:
        return ECHOES[echo](f"https://desk.test{request.raw_path}", secret)

    async with recording(project, service) as run:
        recorded = await ask(run, asked(secret))
        assert left_in(project, secret, recorded.body, repr(recorded.headers).encode()), "the echo does not echo"
    assert left_in(project, secret) == []
    async with replaying(project) as run:
        again = await ask(run, asked("an0ther-Secret-0f-Today-42"))
    assert again.status == recorded.status
    assert left_in(project, secret, again.body, repr(again.headers).encode()) == []


async def test_a_change_beside_the_secret_still_misses(project: Project) -> None:
    async def service(request: web.Request) -> web.StreamResponse:
        return web.json_response({"url": str(request.url)})

    async with recording(project, service) as run:
        await ask(run, asked(SECRETS["plain"]))
    async with session(project, "t", "replay") as run:
        assert (await ask(run, asked(SECRETS["plain"], page=2))).status == 422
        summary = await run.close()
    assert 'query page: recorded "1", got "2"' in summary.misses[0].diff
