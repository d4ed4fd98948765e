"""The door of the judge's service: what is no request, who has no token, and a disk that takes nothing more."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from proctor.judge.service import working
from proctor.judge.service.settings import Limits
from proctor.judge_client import JudgeClient
from proctor.judge_wire import VerdictRequest
from proctor.trajectories.file import line_of
from tests.integration.cli.support import started
from tests.integration.judge.raw_http import Told, exchange, request
from tests.integration.judge.services import at_once, judge_service, run
from tests.integration.judge.test_service import LIVE, Held, provider, stored, vendorless
from tests.support import Project
from tools.stand_in_judge_server import serving_judge

__all__ = ["provider"]
TOKEN = "the-token-that-nobody-may-read-anywhere"
MARK = "what-stands-in-the-body"
KEY = "sk-proj-Zx81kQpLmN47vTyRbC29wEfGhJ"


@dataclass
class Served:
    """The real command, and what it has written to its log when it has ended."""

    url: str
    pid: int
    client: JudgeClient
    log: list[str]

    async def sent(self, sent: bytes) -> Told:
        """The answer, in which no secret may stand."""
        answer = await exchange(self.url, sent)
        if answer.status >= 400:
            assert answer.error["fix"].isprintable()
            for secret in (TOKEN, TOKEN[:-4], MARK, KEY):
                assert secret.encode() not in answer.body, answer
        return answer

    async def still_judges(self) -> None:
        answer = await self.client.judge(VerdictRequest(trajectory=run("good")))
        assert answer.state == "done"


@asynccontextmanager
async def judge_serve(root: Path) -> AsyncIterator[Served]:
    """`proctor judge serve`, until the block ends. It must have ended well then, and told no secret."""
    env = {"PROCTOR_TOKEN": TOKEN, "OPENAI_API_KEY": KEY}
    async with started(Project(root), "judge", "serve", "--model", "stand-in/obedient", "--json", env=env) as process:
        assert process.stdout is not None
        line = await process.stdout.readline()
        assert line, (await process.communicate())[1].decode()
        ready = json.loads(line)
        async with JudgeClient(ready["url"], TOKEN, at_once) as client:
            served = Served(ready["url"], ready["pid"], client, [])
            yield served
            await served.still_judges()
        process.send_signal(signal.SIGTERM)
        out, log = await process.communicate()
    served.log += log.decode().splitlines()
    assert process.returncode == 0
    for secret in (TOKEN, TOKEN[:-4], MARK, KEY, "Traceback"):
        assert secret not in out.decode() + log.decode(), log.decode()


def with_header(*lines: bytes, start: bytes = b"GET /v1/rubrics HTTP/1.1", body: bytes = b"") -> bytes:
    named = [b"Host: loopback", b"x-proctor-token: " + TOKEN.encode(), *lines]
    return b"\r\n".join([start, *named, b"", body])


NO_HTTP = {
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + TOKEN.encode() + b"\r\n\r\n",
    "rubbish": MARK.encode() + b"\r\n\r\n",
    "rubbish of NULs": b"\0" * 1000 + MARK.encode() + b"\r\n\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "another version": with_header(start=b"GET /v1/rubrics HTTP/9.9"),
    "a header of 100 KiB": with_header(b"x-long: " + MARK.encode() * 4500),
    "a token of 100 KiB": with_header(b"Authorization: Bearer " + (TOKEN * 2700).encode()),
    "a name of 100 KiB": with_header(MARK.encode() * 4500 + b": x"),
    "a request line of 100 KiB": with_header(start=b"GET /" + MARK.encode() * 4500 + b" HTTP/1.1"),
    "20,000 headers": with_header(*[b"a: b"] * 20_000),
    "a NUL in a header": with_header(b"x: \0" + MARK.encode()),
    "a line end in a token": with_header(b"x-token: a\r" + MARK.encode()),
    "bytes that are no path": with_header(start=b"GET /\xff\xfe" + MARK.encode() + b" HTTP/1.1"),
    "a space in the path": with_header(start=b"GET /a " + MARK.encode() + b" HTTP/1.1"),
    "a length that is no number": with_header(b"Content-Length: " + MARK.encode()),
    "a negative length": with_header(b"Content-Length: -1"),
    "two lengths": with_header(b"Content-Length: 5", b"Content-Length: 6", body=MARK.encode()),
    "length and chunks": with_header(b"Content-Length: 5", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    "a chunk that is none": with_header(
        b"Transfer-Encoding: chunked", start=b"POST /v1/batches HTTP/1.1", body=MARK.encode() + b"\r\n"
    ),
    "rubbish behind a request": with_header() + MARK.encode() + b" " + TOKEN.encode() + b"\r\n\r\n",
    "no host": b"GET /v1/rubrics HTTP/1.1\r\nx-proctor-token: " + TOKEN.encode() + b"\r\n\r\n",
}

TOKENS: dict[str, list[str | bytes]] = {
    "none": [],
    "empty": ["x-proctor-token:"],
    "another": ["x-proctor-token: another-token-of-a-good-length"],
    "its beginning": [f"x-proctor-token: {TOKEN[:-1]}"],
    "with more behind it": [f"x-proctor-token: {TOKEN}s"],
    "in capitals": [f"x-proctor-token: {TOKEN.upper()}"],
    "not ASCII": ["x-proctor-token: é中文"],
    "not UTF-8": [b"x-proctor-token: \xff\xfe\x80"],
    "in quotes": [f'x-proctor-token: "{TOKEN}"'],
    "Basic": [f"Authorization: Basic {TOKEN}"],
    "Bearer of nothing": ["Authorization: Bearer"],
    "Bearer of another": ["Authorization: Bearer another-token-of-a-good-length"],
    "without its scheme": [f"Authorization: {TOKEN}"],
    "in a cookie": [f"Cookie: x-proctor-token={TOKEN}"],
    "a wrong one before the right one": ["x-proctor-token: wrong", f"x-proctor-token: {TOKEN}"],
}

PATHS = [
    "/",
    "//",
    "/v1",
    "/v1/../v1/metrics",
    "/v1/verdicts/../../metrics",
    "/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/v1/..%2f..%2fetc%2fpasswd",
    "/%00",
    "/v1/verdicts%00",
    "/healthz/",
    "/HEALTHZ",
    "/readyz%2f..",
    f"/nothing?token={TOKEN}",
    "/x%0aproctor:%20all%20is%20well",
    "/" + "x" * 10_000,
]


async def test_what_is_no_request_is_refused_and_its_bytes_stand_nowhere(tmp_path: Path) -> None:
    async with judge_serve(tmp_path) as served:
        told = {name: (await served.sent(sent)).code for name, sent in NO_HTTP.items()}
        assert told == dict.fromkeys(NO_HTTP, "400 bad_http")
    refused = [
        line for line in served.log if line == "proctor: refused: a request that is no HTTP, or with too long a header"
    ]
    assert len(refused) >= len(NO_HTTP) - 5, "some are too common on open ports to be logged"
    assert len(served.log) == len(refused) + 2, served.log


async def test_without_the_right_token_nothing_is_told_and_the_log_names_the_path_alone(tmp_path: Path) -> None:
    async with judge_serve(tmp_path) as served:
        answers = {name: await served.sent(request("GET", "/metrics?x=1", b"", *each)) for name, each in TOKENS.items()}
        assert {name: told.code for name, told in answers.items()} == dict.fromkeys(TOKENS, "401 token_wrong")
        assert {told.headers["www-authenticate"] for told in answers.values()} == {"Bearer"}
        for method, path in (("POST", "/v1/verdicts"), ("POST", "/v1/batches"), ("DELETE", "/v1/rubrics")):
            body = json.dumps({"trajectory": MARK}).encode()
            assert (await served.sent(request(method, path, body))).code == "401 token_wrong"
        for path in PATHS:
            assert (await served.sent(request("GET", path))).code == "401 token_wrong", path
            assert (await served.sent(request("GET", path, token=TOKEN))).code == "404 unknown_route", path
        for given in ([f"Authorization: Bearer {TOKEN}"], [f"authorization: bearer  {TOKEN} "]):
            assert (await served.sent(request("GET", "/metrics", b"", *given))).status == 200
        open_to_all = [
            await served.sent(request("GET", path)) for path in ("/healthz", "/readyz?x=%ff", "/healthz?a=b")
        ]
        assert [each.status for each in open_to_all] == [200] * 3
        assert all(TOKEN.encode() not in each.body and str(tmp_path).encode() not in each.body for each in open_to_all)
    assert len(served.log) == len(TOKENS) + 3 + len(PATHS) + 2
    assert {line.partition(" ")[0] for line in served.log[:-2]} == {"proctor:"}, "no path can forge a line"
    assert "proctor: refused: GET /x%0aproctor:%20all%20is%20well without the token" in served.log
    assert max(map(len, served.log)) < 300


async def test_bodies_that_are_refused_or_fail_leave_nothing_of_themselves_in_the_log(tmp_path: Path) -> None:
    bodies = [
        MARK.encode(),
        json.dumps({MARK: 1}).encode(),
        json.dumps({"trajectory": {"id": MARK, "steps": MARK}}).encode(),
        json.dumps({"trajectory": {"id": "x"}, "rubric": {"name": MARK}}).encode(),
        b'{"trajectory": {"id": "x", "final_answer": "' + MARK.encode() + b'\\ud800"}}',
        line_of(run(MARK)).replace(b'"steps"', b'"stepz"'),
        b'{"trajectory": {"seconds": 1e400}, "x": "' + MARK.encode() + b'"}',
    ]
    async with judge_serve(tmp_path) as served:
        for body in bodies:
            for path in ("/v1/verdicts", "/v1/batches", "/v1/reviews/x/labels", "/v1/reviews/x/reveal"):
                answer = await exchange(served.url, request("POST", path, body, token=TOKEN))
                assert 400 <= answer.status < 500, (path, body)
                assert TOKEN.encode() not in answer.body
        gzipped = request("POST", "/v1/verdicts", bodies[0], "Content-Encoding: gzip", token=TOKEN)
        assert (await served.sent(gzipped)).code == "400 bad_body"
    assert len(served.log) <= 3, served.log


async def test_past_the_rate_a_sender_is_told_when_to_come_back_and_others_do_not_use_it_up(tmp_path: Path) -> None:
    async with judge_service(tmp_path, limits=Limits(requests_a_second=0.5)) as (service, _):
        right = request("GET", "/v1/rubrics", token=service.token)
        for _ in range(20):
            assert (await exchange(service.url, request("GET", "/v1/rubrics", token="wrong"))).status == 401
            assert (await exchange(service.url, request("GET", "/healthz"))).status == 200
        codes = [(await exchange(service.url, right)) for _ in range(7)]
        assert [each.code for each in codes] == ["200"] * 5 + ["429 rate_limited"] * 2
        assert {each.headers["retry-after"] for each in codes[5:]} == {"2"}


async def test_on_a_disk_that_is_full_nothing_is_told_as_accepted_and_work_goes_on_when_it_is_well(
    tmp_path: Path,
) -> None:
    line = line_of(run("late"))
    one = b'{"trajectory": ' + line.strip() + b"}"
    async with judge_serve(tmp_path) as served:
        known = await served.client.judge(VerdictRequest(trajectory=run("early")))
        limit = resource.prlimit(served.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(served.pid, resource.RLIMIT_FSIZE, (1, limit[1]))
        for path, body in (("verdicts", one), ("verdicts?wait=0", one), ("batches", line), ("batches?wait=0", line)):
            told = await served.sent(request("POST", f"/v1/{path}", body, token=TOKEN))
            assert (told.code, told.headers["retry-after"]) == ("503 not_writable", "30"), path
            assert "judge.db cannot be written" in told.error["message"]
        assert await served.client.verdict(known.id) == known, "what is there can be read"
        folder = tmp_path / ".proctor" / "judge"
        assert stored(folder, "SELECT subject FROM verdicts") == [("early",)]
        resource.prlimit(served.pid, resource.RLIMIT_FSIZE, limit)
        told = await served.sent(request("POST", "/v1/verdicts", one, token=TOKEN))
        assert (told.status, json.loads(told.body)["state"]) == (200, "done")
        assert (await served.client.ready()).status == "ready"
    assert stored(folder, "SELECT subject FROM verdicts ORDER BY seq") == [("early",), ("late",), ("good",)]


@pytest.mark.parametrize("when", ["while it is asked", "before it is begun"])
async def test_a_verdict_that_could_not_be_stored_is_made_once_the_database_can_be_written_again(
    tmp_path: Path, provider: Any, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(working, "_FIRST_WAIT", 0.01)
    held = Held()
    async with serving_judge(held) as upstream:
        provider(upstream)
        own = {"agent_vendor": "anthropic", "runs_at_once": 1}
        async with judge_service(tmp_path, LIVE, **own) as (service, client):

            def only_read(on: bool) -> None:
                service._store._database.conn.execute(f"PRAGMA query_only = {int(on)}")

            asked = asyncio.ensure_future(client.judge(VerdictRequest(trajectory=vendorless("a"))))
            await held.reached.wait()
            if when == "before it is begun":
                second = asyncio.ensure_future(client.judge(VerdictRequest(trajectory=vendorless("b"))))
                while (await client.ready()).waiting < 1:  # noqa: ASYNC110 - it is told to whoever asks
                    await asyncio.sleep(0)
            else:
                second = asked
            only_read(True)
            held.let.set()
            while not service.lanes.trouble:  # noqa: ASYNC110 - the same
                await asyncio.sleep(0.001)
            ready = await client.ready()
            assert (ready.status, "cannot be written" in ready.why) == ("failed", True)
            only_read(False)
            answers = [await asked, await second]
            assert {answer.state for answer in answers} == {"done"}
            assert {answer.error for answer in answers} == {None}
            assert answers[0].repeats > 0, "calls whose answers were lost are told as made again"
            assert (await client.ready()).status == "ready"
