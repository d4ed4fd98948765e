"""Requests reach the service as they were sent, and answers the agent, whatever the client's habits."""

from __future__ import annotations

import gzip
import shutil
import zlib

import pytest
from aiohttp import web

from proctor.wire import TOKEN_HEADER
from tests.integration.proxy.raw import canned, parsed, raw_service, request, send, send_raw
from tests.support import Project, run, services, serving, session

curl = pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")


@pytest.mark.parametrize("target", ["/it%27s", "/a%2fb%2Fc", "/x;y=1;z", "//", "/a?b?c=%2B+%20", "", "?q=1"])
async def test_an_odd_target_arrives_and_is_found_again_as_it_was_sent(project: Project, target: str) -> None:
    async with raw_service(canned(b"here")) as service:
        project.configure(services(desk=service.url + "/v1"))
        async with session(project, "t") as run_:
            await send(run_, request(run_, "desk", target))
            assert (await run_.close()).sealed
        assert service.head()[0] == f"GET /v1{target} HTTP/1.1"
    assert project.tape("t").interactions[0].request.target == target
    async with session(project, "t", "replay") as run_:
        assert (await send(run_, request(run_, "desk", target))).body == b"here"


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b'{"a": 1}' * 50, mtime=0)),
        ("deflate", zlib.compress(b'{"a": 1}' * 50)),
        ("zstd", b"\x28\xb5\x2f\xfd?"),
    ],
    ids=["gzip", "deflate", "zstd"],
)
async def test_a_coded_request_body_arrives_untouched(project: Project, coding: str, body: bytes) -> None:
    async with raw_service(canned()) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run_:
            await send(run_, request(run_, "desk", "/", f"Content-Encoding: {coding}", method="POST", body=body))
            await run_.close()
        assert service.body() == body
        assert f"Content-Encoding: {coding}" in service.head()
    assert project.tape("t").interactions[0].request.body == body


async def test_a_chunked_request_arrives_whole_and_is_found_by_the_same_body_with_a_length(project: Project) -> None:
    async with raw_service(canned(b"ok")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run_:
            head = request(run_, "desk", "/", "Transfer-Encoding: chunked", method="POST")
            assert (await send(run_, head + b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n")).body == b"ok"
            await run_.close()
        assert service.body() == b"abcdefg"
    async with session(project, "t", "replay") as run_:
        assert (await send(run_, request(run_, "desk", "/", method="POST", body=b"abcdefg"))).body == b"ok"


async def test_an_empty_query_that_is_lost_on_its_way_is_said_and_found_again(project: Project) -> None:
    async with raw_service(canned(b"here")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run_:
            await send(run_, request(run_, "desk", "/q?"))
            assert (await run_.close()).notes == ("desk: an empty query (a trailing ?) was lost on its way",)
        assert service.head()[0] == "GET /q HTTP/1.1"
    async with session(project, "t", "replay") as run_:
        assert (await send(run_, request(run_, "desk", "/q?"))).body == b"here"
        assert (await send(run_, request(run_, "desk", "/q"))).status == 422


async def test_empty_answers_on_one_kept_connection_do_not_hang(project: Project) -> None:
    empties = (b"HTTP/1.1 204 No Content\r\n\r\n", b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n')
    headed = b"HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n"

    async def ask() -> list[int]:
        got = []
        for number, method in enumerate(("GET", "HEAD", "GET", "HEAD", "GET")):
            async with run_.http.request(method, run_.url("desk", f"/{number}")) as answer:
                assert await answer.read() == (b"full" if number == 4 else b"")
                got.append(answer.status)
        return got

    async with raw_service(empties[0], headed, empties[1], headed, canned(b"full")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run_:
            assert await ask() == [204, 200, 304, 200, 200]
            await run_.close()
    async with session(project, "t", "replay") as run_:
        assert await ask() == [204, 200, 304, 200, 200]


async def test_an_old_client_reads_a_replayed_stream_to_the_close(project: Project) -> None:
    async def stream(request_: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request_)
        await response.write("data: 你好\n\n".encode())
        return response

    async with serving(stream) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run_:
            await send(run_, request(run_, "desk", "/"))
            await run_.close()
    async with session(project, "t", "replay") as run_:
        got = parsed(await send_raw(run_, request(run_, "desk", "/").replace(b"HTTP/1.1", b"HTTP/1.0", 1)))
    assert (got.body.decode(), got.values("transfer-encoding")) == ("data: 你好\n\n", [])


@curl
async def test_curl_sends_a_large_body_after_100_continue(project: Project) -> None:
    body = bytes(range(256)) * 20_000
    (project.root / "body").write_bytes(body)
    async with raw_service(canned(b"taken")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run_:
            options = ("-sv", "--expect100-timeout", "60", "--max-time", "30", "-H", "Expect: 100-continue")
            sent = await run("curl", *options, "--data-binary", "@body", run_.url("desk", "/up"), cwd=project.root)
            await run_.close()
        assert (sent.status, sent.stdout) == (0, "taken"), sent.stderr
        assert "100 Continue" in sent.stderr
        assert service.body() == body


@curl
async def test_curl_through_the_proxy_variables_reaches_the_service_by_its_proctor_address_only(
    project: Project,
) -> None:
    async with raw_service(canned(b"mine")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run_:
            through = {"http_proxy": run_.proxy.url, "https_proxy": run_.proxy.url}
            mine = await run("curl", "-s", run_.url("desk", "/x"), cwd=project.root, env=through)
            past = await run("curl", "-s", "-w", "%{http_code}", f"{service.url}/y", cwd=project.root, env=through)
            tunnel = await run("curl", "-sv", "https://api.test/z", cwd=project.root, env=through)
            summary = await run_.close()
        assert (mine.stdout, past.stdout[-3:]) == ("mine", "403")
        assert "403" in tunnel.stderr
        assert [line.split()[1] for line in (data.decode("latin-1") for data in service.requests)] == ["/x"]
    assert {(host.host, host.method) for host in summary.hosts} == {
        (service.url.removeprefix("http://"), "GET"),
        ("api.test:443", "CONNECT"),
    }
    assert not summary.sealed


async def test_a_host_whose_name_only_begins_like_a_services_is_not_told_as_that(project: Project) -> None:
    project.configure(services(desk="http://api.test"))
    async with session(project, "t") as run_:
        for host in ("api.test", "api.test2"):
            past = f"GET http://{host}/x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            assert (await send(run_, past.encode())).status == 403
        summary = await run_.close()
    assert [(each.host, each.service) for each in summary.hosts] == [("api.test:80", "desk"), ("api.test2:80", None)]


async def test_the_control_api_wants_exactly_the_runs_token(project: Project) -> None:
    async with raw_service(canned()) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run_:
            url = f"{run_.proxy.url}/_proctor/sessions/{run_.info.session}"
            statuses = {}
            tokens = {"none": None, "short": run_.proxy.token[:-1], "other": "x" * 32, "right": run_.proxy.token}
            for name, token in tokens.items():
                async with run_.http.get(url, headers={TOKEN_HEADER: token} if token else {}) as answer:
                    statuses[name] = answer.status
            async with run_.http.post(f"{url}/close") as refused:
                assert refused.status == 401
            assert (await send(run_, request(run_, "desk", "/"))).status == 200, "a stranger closed the session"
    assert statuses == {"none": 401, "short": 401, "other": 401, "right": 200}
