"""D9: a name was redacted in an answer, and the request that was built from it matched nothing any more."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

import pytest
from aiohttp import web

from tests.integration.cases.support import Asked, ask, recording, replaying, told
from tests.property.planted import left_in
from tests.support import Project, Running, session

NAME = "acmeprod7731eu"
BY_POINTER = '[redact]\npointers = ["/account/name"]\n'
BY_NAME = '[redact]\nnames = ["name"]\n'
BY_PATTERN = '[redact]\npatterns = ["acme[a-z]+[0-9]+[a-z]*"]\n'
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Use:
    """The request that an agent builds from the name, and the rule by which that is a secret."""

    request: Callable[[str], Asked]
    rules: str = BY_POINTER


def coded(name: str) -> str:
    """A name inside a token that the agent makes of it."""
    return urlsafe_b64encode(json.dumps({"account": name}).encode()).decode().rstrip("=")


USES = {
    "the path": Use(lambda name: Asked(f"/accounts/{name}/keys")),
    "the middle of a path segment": Use(lambda name: Asked(f"/blobs/{name}.store.test/x")),
    "the query": Use(lambda name: Asked(f"/keys?account={name}&page=1"), BY_NAME),
    "a URL in the query": Use(lambda name: Asked(f"/fetch?url={quote(f'https://{name}.store.test/a?b=c', safe='')}")),
    "JSON": Use(lambda name: Asked("/keys", told({"filter": {"accounts": [name]}}))),
    "a sentence": Use(lambda name: Asked("/chat", told({"messages": [{"content": f"List keys of {name}, please."}]}))),
    "a form": Use(lambda name: Asked("/keys", f"who={name}&n=1".encode(), FORM), BY_PATTERN),
    "base64 in the path": Use(lambda name: Asked(f"/open/{coded(name)}")),
    "a key header": Use(lambda name: Asked("/keys", headers=(f"X-Amz-Target: {name}.List",)), BY_PATTERN),
    "XML": Use(lambda name: Asked("/soap", f"<q><who>{name}</who></q>".encode(), "text/xml")),
}


async def accounts(request: web.Request) -> web.StreamResponse:
    """Gives an account's name, and its keys to who says it."""
    body = (await request.read()).decode()
    if request.path == "/account":
        return web.json_response({"account": {"name": NAME, "region": "eu"}})
    said = request.raw_path + body + request.headers.get("X-Amz-Target", "")
    known = NAME in said or coded(NAME) in said
    return web.json_response({"keys": [1, 2]} if known else {"error": "who?"}, status=200 if known else 404)


async def agent(run: Running, use: Use) -> tuple[str, int, bytes]:
    """Ask for the name, and use what came."""
    name = json.loads((await ask(run, Asked("/account"))).body)["account"]["name"]
    answer = await ask(run, use.request(name))
    return name, answer.status, answer.body


@pytest.mark.req(173)
@pytest.mark.parametrize("kind", USES)
async def test_the_next_request_matches_by_the_placeholder(project: Project, kind: str) -> None:
    use = USES[kind]
    async with recording(project, accounts, use.rules) as run:
        assert await agent(run, use) == (NAME, 200, b'{"keys": [1, 2]}')
    async with replaying(project) as run:
        name, *rest = await agent(run, use)
    assert (name != NAME, rest) == (True, [200, b'{"keys": [1, 2]}'])
    assert left_in(project, NAME) == []
    again = use.request(name)
    recorded = project.tape("t").interactions[1].request
    assert (recorded.target, recorded.body) == (again.target, again.body)


@pytest.mark.parametrize("kind", USES)
async def test_another_name_is_not_taken_for_it(project: Project, kind: str) -> None:
    use = USES[kind]
    async with recording(project, accounts, use.rules) as run:
        await agent(run, use)
    async with session(project, "t", "replay") as run:
        await ask(run, Asked("/account"))
        assert (await ask(run, use.request("acmetest0002us"))).status == 422


async def test_two_names_have_two_placeholders_that_each_lead_to_their_own(project: Project) -> None:
    async def both(request: web.Request) -> web.StreamResponse:
        if request.path == "/accounts":
            return web.json_response([{"name": NAME}, {"name": "otherprod0042us"}])
        return web.json_response({"of": len(request.path)})

    async def walk(run: Running) -> list[bytes]:
        names = [each["name"] for each in json.loads((await ask(run, Asked("/accounts"))).body)]
        return [(await ask(run, Asked(f"/keys/{name}"))).body for name in [*names, *reversed(names)]]

    async with recording(project, both, '[redact]\npointers = ["/*/name"]\n') as run:
        recorded = await walk(run)
    async with replaying(project) as run:
        assert await walk(run) == recorded
