"""Requests that are too large, broken off, aimed at nothing or never read: whoever sends them harms nobody else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proctor.judge.service.settings import Limits
from proctor.judge_wire import BatchAccepted, BatchTerms, VerdictCame
from proctor.trajectories.file import line_of
from tests.integration.judge.raw_http import connected, exchange, request
from tests.integration.judge.senders import HEADER, LINE, Sender, asking
from tests.integration.judge.services import batch, judge_service, run
from tests.integration.judge.test_service import LIVE, stored, vendorless


async def test_what_is_too_large_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    limits = Limits(line_bytes=20_000, batch_bytes=60_000, batch_lines=200)
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
    chunked = "Transfer-Encoding: chunked"
    async with judge_service(tmp_path, limits=limits) as (service, client):
        sender, token = Sender(service, client), service.token
        whole = {
            "a long body": await sender.one(b" " * 20_001),
            "a long line": await sender.many(LINE + b"x" * 20_001 + b"\n" + LINE),
            "a long line that has no end": await sender.many(LINE + b"x" * 20_001),
            "many lines": await sender.many(b"{}\n" * 201),
            "a long batch of good lines": await sender.many(LINE * (60_000 // len(LINE) + 1)),
        }
        endless = {
            f"{name}, {path}": await exchange(
                service.url, request("POST", path, body, header, token=token, sized=False)
            )
            for path in ("/v1/verdicts", "/v1/batches")
            for name, header, body in (
                ("told to be long", "Content-Length: 999999999999", b"{"),
                ("in chunks", chunked, chunk * 10),
            )
        }
        assert {name: told.code for name, told in {**whole, **endless}.items()} == {
            "a long body": "413 body_too_large",
            "a long line": "413 line_too_long",
            "a long line that has no end": "413 line_too_long",
            "many lines": "413 batch_too_large",
            "a long batch of good lines": "413 batch_too_large",
            "told to be long, /v1/verdicts": "413 body_too_large",
            "in chunks, /v1/verdicts": "413 body_too_large",
            "told to be long, /v1/batches": "413 batch_too_large",
            "in chunks, /v1/batches": "413 line_too_long",
        }
        assert stored(tmp_path, "SELECT COUNT(*) FROM batches") == [(0,)]
        await sender.still_judges()


BROKEN = {
    "cut in a line": ("Content-Length: 100000", HEADER + LINE + LINE[:50]),
    "cut after a good line": ("Content-Length: 100000", HEADER + LINE),
    "cut in a chunk": ("Transfer-Encoding: chunked", b"ffff\r\n" + HEADER + LINE),
    "cut between chunks": ("Transfer-Encoding: chunked", b"%x\r\n%s\r\n" % (len(HEADER + LINE), HEADER + LINE)),
    "cut before anything": ("Content-Length: 100000", b""),
}


async def test_of_a_batch_that_is_cut_on_its_way_nothing_is_accepted(sender: Sender, tmp_path: Path) -> None:
    for header, body in BROKEN.values():
        _, writer = await connected(sender.service.url)
        token = sender.service.token
        writer.write(request("POST", "/v1/batches", body, header, token=token, sized=False))
        await writer.drain()
        await sender.still_judges()  # the service has begun to read it by now
        writer.transport.abort()
    await sender.still_judges("last")
    assert stored(tmp_path, "SELECT DISTINCT subject FROM verdicts ORDER BY 1") == [("after",), ("last",)]
    assert stored(tmp_path, "SELECT COUNT(*) FROM batches WHERE id NOT LIKE 'one-%'") == [(0,)]


UNREADABLE = {
    "no gzip": ("Content-Encoding: gzip", b"rubbish", "400 bad_body"),
    "no deflate": ("Content-Encoding: deflate", b"rubbish", "400"),
    "half of a gzip": ("Content-Encoding: gzip", b"\x1f\x8b\x08\x00", "400"),
    "no chunk": ("Transfer-Encoding: chunked", b"zz rubbish\r\n", "400 bad_http"),
    "a negative chunk": ("Transfer-Encoding: chunked", b"-5\r\nrubbish\r\n", "400 bad_http"),
    "an unknown encoding": ("Content-Encoding: rot13", b"rubbish", "400 not_json"),
}


async def test_a_body_that_is_not_what_its_headers_say_is_refused_and_no_failure_of_ours(
    sender: Sender, caplog: pytest.LogCaptureFixture
) -> None:
    for name, (header, body, code) in UNREADABLE.items():
        sized = "Transfer" not in header
        for path in ("/v1/verdicts", "/v1/batches"):
            sent = request("POST", path, body, header, token=sender.service.token, sized=sized)
            assert (await exchange(sender.service.url, sent)).code.startswith(code), (name, path)
    assert not [each for each in caplog.records if each.levelname == "ERROR"]
    await sender.still_judges()


QUERIES = {
    "/v1/verdicts?wait=-1": "POST",
    "/v1/verdicts?wait=1e3": "POST",
    "/v1/verdicts?wait=99999999": "POST",
    "/v1/verdicts?wait=": "POST",
    "/v1/verdicts?wait=%D9%A3": "POST",
    "/v1/batches?wait=5": "POST",
    "/v1/batches?wait=no": "POST",
    "/v1/batches?progress=yes": "POST",
    "/v1/batches/x/results?progress=2": "GET",
    "/v1/verdicts/x?record=true": "GET",
    "/v1/findings?after=-1": "GET",
    "/v1/findings?after=%00": "GET",
    "/v1/findings?limit=1001": "GET",
    "/v1/findings?kind=injektion": "GET",
}


async def test_a_wrong_value_in_a_query_is_refused_before_anything_is_judged(sender: Sender, tmp_path: Path) -> None:
    told = {path: await sender.sent(method, path, asking()) for path, method in QUERIES.items()}
    assert {path: each.code for path, each in told.items()} == dict.fromkeys(QUERIES, "400 bad_query")
    assert 'did you mean "injection"?' in told["/v1/findings?kind=injektion"].error["fix"]
    assert stored(tmp_path, "SELECT COUNT(*) FROM verdicts") == [(0,)]


@pytest.mark.parametrize("ending", ["verdicts/{}", "verdicts/{}?record=1", "batches/{}", "batches/{}/results"])
async def test_an_id_that_nobody_was_given_is_not_there_whatever_it_looks_like(sender: Sender, ending: str) -> None:
    await sender.still_judges()
    for which in ("x", "0" * 32, "..%2f..%2fetc%2fpasswd", "%2e%2e", "%00", "a%00b", "%ff%fe", "%ed%a0%80", "x" * 9000):
        told = await sender.sent("GET", "/v1/" + ending.format(which))
        assert told.status == 404, which
        expected = ("no_verdict",) if "record" in ending else ("unknown_verdict", "unknown_batch")
        assert told.error["code"] in expected
        assert len(told.body) < 5_000


async def test_whoever_leaves_while_results_come_loses_nothing(tmp_path: Path) -> None:
    runs = [run(f"{number}") for number in range(12)]
    async with judge_service(tmp_path) as (service, client):
        sending = client.batch(BatchTerms(), runs)
        first = await anext(sending)
        await anext(sending)
        await sending.aclose()
        assert isinstance(first, BatchAccepted)
        events = [event async for event in client.batch_results(first.batch.id)]
        states = [event.answer.state for event in events if isinstance(event, VerdictCame)]
        assert states == ["done"] * 12
        await Sender(service, client).still_judges()


async def test_whoever_does_not_read_his_results_holds_up_nobody_else(tmp_path: Path) -> None:
    async with judge_service(tmp_path) as (service, client):
        _, _, last = await batch(client, [run(f"{number}") for number in range(20)])
        reader, writer = await connected(service.url)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        once = request("GET", f"/v1/batches/{last.batch.id}/results", token=service.token)
        times = 80  # several MiB, which no buffer of a socket takes
        writer.write(once.replace(b"Connection: close\r\n", b"") * (times - 1) + once)
        _, quick, _ = await batch(client, [run(f"quick-{number}") for number in range(5)])
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        whole = await reader.read()
        writer.close()
    assert len(quick) == 5
    assert whole.count(b'{"event":"verdict"') == times * 20
    assert whole.count(b'{"event":"ended"') == times


class TestOfAnotherVendor:
    """A live judge may not judge an agent of its own vendor; the rule is not the sender's to bend unseen."""

    @pytest.fixture(autouse=True)
    def _key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "none-is-needed-to-be-refused")
        monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")

    async def test_a_run_by_the_judge_s_vendor_is_a_refused_line(self, tmp_path: Path) -> None:
        own = {"model": "azure/gpt-4o", "vendor": "contoso"}
        lines = [
            line_of(vendorless("unknown")),
            line_of(run("openai")),
            json.dumps({**json.loads(line_of(vendorless("gateway"))), "agent": own}).encode() + b"\n",
        ]
        async with judge_service(tmp_path, LIVE) as (service, client):
            sender = Sender(service, client)
            for line in lines:
                assert (await sender.many(line)).code == "400 vendor_rule"
                body = b'{"trajectory": ' + line.strip() + b"}"
                assert (await sender.one(body)).code == "400 vendor_rule"
        assert stored(tmp_path, "SELECT COUNT(*) FROM verdicts") == [(0,)]

    async def test_a_vendor_that_is_declared_does_not_hide_the_one_that_the_run_tells(self, tmp_path: Path) -> None:
        async with judge_service(tmp_path, LIVE, agent_vendor="anthropic") as (service, client):
            told = await Sender(service, client).one(asking(agent_vendor="anthropic"))
        assert told.code == "400 vendor_rule"
