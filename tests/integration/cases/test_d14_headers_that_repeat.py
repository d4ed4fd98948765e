"""D14: of three Set-Cookie lines only the last one survived."""

from __future__ import annotations

import pytest

from tests.integration.cases.support import CLIENTS, Asked, ask, replaying
from tests.integration.proxy.raw import Answer, canned, chunk, raw_service
from tests.support import Project, services, session

LINES: dict[str, tuple[str, ...]] = {
    "three cookies": (
        "Set-Cookie: lang=en; Path=/",
        "Set-Cookie: theme=dark; HttpOnly",
        "Set-Cookie: seen=1; Max-Age=60",
    ),
    "one cookie three times": ("Set-Cookie: lang=en", "Set-Cookie: lang=fr; Path=/fr", "Set-Cookie: lang=; Max-Age=0"),
    "dates with commas": (
        "Set-Cookie: lang=en; Expires=Wed, 21 Oct 2065 07:28:00 GMT",
        "Set-Cookie: theme=dark; Expires=Thu, 22 Oct 2065 07:28:00 GMT",
    ),
    "other headers between": ("Set-Cookie: lang=en", "X-A: 1", "Set-Cookie: theme=dark", "x-a: 2"),
    "three spellings of the name": ("Set-Cookie: lang=en", "set-cookie: theme=dark", "SET-COOKIE: seen=1"),
    "equal lines": ("Set-Cookie: lang=en", "Set-Cookie: lang=en"),
    "links": ('Link: <https://a.test/2>; rel="next"', 'Link: <https://a.test/9>; rel="last"'),
    "ways to log in": ('WWW-Authenticate: Bearer realm="x", error="y"', "www-authenticate: Negotiate"),
    "values in one line and in two": ("Vary: Accept, Origin", "Vary: X-Tenant", "Warning: 199 - a", "Warning: 299 - b"),
    "an empty one among them": ("X-Note: a", "X-Note:", "X-Note: b, c"),
}


def lines(answer: Answer) -> list[str]:
    """An answer's own header lines, as they came."""
    return [
        f"{name}: {value}".strip() for name, value in answer.relayed if name not in ("Content-Length", "Content-Type")
    ]


@pytest.mark.parametrize("kind", LINES)
async def test_all_lines_come_in_order_and_case_while_recording_and_in_replay(project: Project, kind: str) -> None:
    async with raw_service(canned(b"x", "Content-Type: text/plain", *LINES[kind])) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            recorded = await ask(run, Asked("/"))
            assert (await run.close()).sealed
    async with replaying(project) as run:
        again = await ask(run, Asked("/"))
    assert lines(recorded) == list(LINES[kind])
    assert [without_values(line) for line in lines(again)] == [without_values(line) for line in LINES[kind]]


@pytest.mark.parametrize("head", [(), ("Content-Type: application/octet-stream",), ("content-type:",)])
@pytest.mark.parametrize("chunked", [False, True])
async def test_an_answer_gets_no_type_that_the_service_did_not_give_it(
    project: Project, head: tuple[str, ...], chunked: bool
) -> None:
    answer = canned(chunk(b"x") + chunk(b"y") + chunk(b""), *head, "Transfer-Encoding: chunked", length=False)
    async with raw_service(answer if chunked else canned(b"xy", *head)) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            recorded = await ask(run, Asked("/"))
            assert (await run.close()).sealed
    async with replaying(project) as run:
        again = await ask(run, Asked("/"))
    for got in (recorded, again):
        types = [f"{name}: {value}".strip() for name, value in got.headers if name.lower() == "content-type"]
        assert (got.body, types) == (b"xy", list(head))


def without_values(line: str) -> str:
    """A line without a cookie's value, which is redacted; its name and attributes stay."""
    name, _, value = line.partition(": ")
    if name.lower() != "set-cookie":
        return line
    cookie, _, attributes = value.partition(";")
    return f"{name}: {cookie.partition('=')[0]};{attributes}"


@pytest.mark.parametrize("client", CLIENTS)
async def test_every_client_sees_the_three_cookies(project: Project, client: str) -> None:
    async with raw_service(canned(b"x", *LINES["three cookies"])) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            recorded = await CLIENTS[client]("GET", run.url("desk", "/"), b"", {})
            assert (await run.close()).sealed
    async with replaying(project) as run:
        again = await CLIENTS[client]("GET", run.url("desk", "/"), b"", {})
    assert [f"Set-Cookie: {value}" for value in recorded.values("set-cookie")] == list(LINES["three cookies"])
    assert [cookie.partition("=")[0] for cookie in again.values("set-cookie")] == ["lang", "theme", "seen"]
    assert [cookie.partition(";")[2] for cookie in again.values("set-cookie")] == [
        " Path=/",
        " HttpOnly",
        " Max-Age=60",
    ]


async def test_cookies_of_a_request_come_to_the_service_as_they_were_sent(project: Project) -> None:
    async with raw_service(canned()) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            await ask(run, Asked("/", headers=("Cookie: a=1; b=2", "X-B: 2", "Cookie: c=3", "X-A: 1")))
        assert [line for line in service.head() if line[:2] in ("Co", "X-") and "Connection" not in line] == [
            "Cookie: a=1; b=2",
            "X-B: 2",
            "Cookie: c=3",
            "X-A: 1",
        ]
