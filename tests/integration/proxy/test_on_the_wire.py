"""What goes in comes out: heads, bodies and framing as they were sent, while recording and in replay."""

from __future__ import annotations

import gzip
import zlib

import pytest

from tests.integration.proxy.raw import Answer, Canned, aired, canned, chunk, raw_service, request, send
from tests.property.counts import count
from tests.support import Project, services, session

BIG = bytes(range(256)) * count(ci=24_000, soak=80_000)  # 6 MB, 20 MB


async def both(project: Project, answers: list[Canned], *requests: tuple[str, ...], **options: bytes) -> list[Answer]:
    """Record some requests, replay them with the service gone; gives the replayed answers, equal to the recorded."""
    async with raw_service(*answers) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            first = await aired(run, [request(run, "desk", *parts, method=method) for method, *parts in requests])
            assert (await run.close()).sealed
    async with session(project, "t", "replay") as run:
        again = await aired(run, [request(run, "desk", *parts, method=method) for method, *parts in requests])
        assert not (await run.close()).misses
    assert [(a.status, a.reason, a.relayed, a.body) for a in again] == [
        (a.status, a.reason, a.relayed, a.body) for a in first
    ]
    return again


async def test_repeated_headers_keep_their_order_and_case(project: Project) -> None:
    head = (
        "Content-Type: text/plain",
        "set-cookie: a=1; Path=/",
        "Set-Cookie: b=2",
        "X-One: 1",
        "SET-COOKIE: c=3",
        "x-one: 2",
    )
    async with raw_service(canned(b"x", *head)) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            first = await send(run, request(run, "desk", "/"))
            await run.close()
    assert [f"{name}: {value}" for name, value in first.relayed] == [*head, "Content-Length: 1"]
    async with session(project, "t", "replay") as run:
        again = await send(run, request(run, "desk", "/"))
    assert [name for name, _ in again.relayed] == [name for name, _ in first.relayed]
    assert again.values("set-cookie") == [f"{name}=proctor-redacted-000{n}{rest}" for n, (name, rest) in
                                          enumerate([("a", "; Path=/"), ("b", ""), ("c", "")], 1)]  # fmt: skip


@pytest.mark.parametrize(
    "target", ["/a%2Fb/%7e", "//x//y", "/a;p=1/b", "/q?x=%27&y=a+b&y=", "/a/../b/./c", "/%E4%BD%A0"]
)
async def test_a_target_arrives_as_it_was_sent(project: Project, target: str) -> None:
    async with raw_service(canned()) as service:
        project.configure(services(desk=service.url + "/base"))
        async with session(project, "t") as run:
            await send(run, request(run, "desk", target))
        assert service.head()[0] == f"GET /base{target} HTTP/1.1"


async def test_request_headers_arrive_in_order_without_additions(project: Project) -> None:
    async with raw_service(canned()) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            await send(run, request(run, "desk", "/", "x-b: 1", "X-A: 2", "x-B: 3", method="POST", body=b"{}"))
        sent = [line for line in service.head()[1:] if not line.lower().startswith(("host:", "content-length:"))]
        assert sent == ["x-b: 1", "X-A: 2", "x-b: 3"]
        assert f"Host: {service.url.removeprefix('http://')}" in service.head()


async def test_empty_answers_in_a_row_do_not_hang(project: Project) -> None:
    answers: list[Canned] = [
        canned(status="204 No Content", length=False, body=b""),
        canned(status="204 No Content", length=False, body=b""),
        b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nContent-Type: x/y\r\n\r\n",
        canned(status="304 Not Modified", length=False, body=b""),
        canned(b""),
    ]
    got = await both(project, answers, ("GET", "/1"), ("GET", "/2"), ("HEAD", "/3"), ("GET", "/4"), ("GET", "/5"))
    assert [answer.status for answer in got] == [204, 204, 200, 304, 200]
    assert got[2].values("content-length") == ["1234"]
    assert [answer.body for answer in got] == [b""] * 5


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b"{}" * 99, mtime=0)),
        ("deflate", zlib.compress(b"{}" * 9)),
        ("br", b"\x0b\x02\x80{}\x03"),
    ],
    ids=["gzip", "deflate", "br"],
)
async def test_coded_bodies_pass_untouched(project: Project, coding: str, body: bytes) -> None:
    [got] = await both(project, [canned(body, f"Content-Encoding: {coding}")], ("GET", "/"))
    assert (got.body, got.values("content-encoding")) == (body, [coding])


async def test_a_redirect_is_relayed_not_followed(project: Project) -> None:
    [got] = await both(project, [canned(b"", "Location: https://other.test/x", status="302 Found")], ("GET", "/"))
    assert (got.status, got.values("location")) == (302, ["https://other.test/x"])


async def test_chunked_answers_stay_chunked_and_an_answer_until_close_ends(project: Project) -> None:
    stream = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + chunk(b"data: 1\n\n")
        + chunk(b"data: 2\n\n")
        + chunk(b"")
    )
    [got] = await both(project, [stream], ("GET", "/"))
    assert got.body == b"data: 1\n\ndata: 2\n\n"
    assert got.values("transfer-encoding") == ["chunked"]


@pytest.mark.parametrize("size", [1_300_000, len(BIG)])
async def test_large_bodies_pass_both_ways(project: Project, size: int) -> None:
    body = BIG[:size]
    async with raw_service(canned(body)) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            got = await send(run, request(run, "desk", "/", method="POST", body=body))
            assert (await run.close()).sealed
        assert service.body() == body
    async with session(project, "t", "replay") as run:
        again = await send(run, request(run, "desk", "/", method="POST", body=body))
    assert got.body == again.body == body


async def test_a_client_that_expects_100_is_told_to_go_on(project: Project) -> None:
    async with raw_service(canned(b"ok")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            got = await send(run, request(run, "desk", "/", "Expect: 100-continue", method="PUT", body=b"1"))
        assert (got.interim, got.body) == (("HTTP/1.1 100 Continue",), b"ok")
        assert not any(line.lower().startswith("expect") for line in service.head())


async def test_an_old_client_gets_no_chunks(project: Project) -> None:
    stream = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"all") + chunk(b"")
    async with raw_service(stream) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            old = request(run, "desk", "/").replace(b"HTTP/1.1", b"HTTP/1.0")
            got = await send(run, old)
    assert (got.body, got.values("transfer-encoding")) == (b"all", [])


async def test_an_absolute_request_for_the_proxys_own_address_is_its_own(project: Project) -> None:
    async with raw_service(canned(b"mine")) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            data = request(run, "desk", "/").replace(b"GET /", f"GET {run.proxy.url}/".encode(), 1)
            assert (await send(run, data)).body == b"mine"
            assert (await run.close()).hosts == ()


async def test_calls_past_the_services_are_refused_and_counted(project: Project) -> None:
    async with raw_service(canned()) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            host = f"Host: {service.url.removeprefix('http://')}"
            for line in (
                "GET http://elsewhere.test/x HTTP/1.1",
                "CONNECT api.test:443 HTTP/1.1",
                f"GET {service.url}/x HTTP/1.1",
            ):
                assert (await send(run, f"{line}\r\n{host}\r\nConnection: close\r\n\r\n".encode())).status == 403
            summary = await run.close()
        assert service.requests == []
    assert [(host.host, host.method, host.service) for host in summary.hosts] == [
        ("elsewhere.test:80", "GET", None),
        ("api.test:443", "CONNECT", None),
        (service.url.removeprefix("http://"), "GET", "desk"),
    ]
    assert summary.aside_reasons or not summary.sealed


async def test_a_header_that_loses_bytes_is_kept_on_the_tape_and_said(project: Project) -> None:
    answer = b"HTTP/1.1 200 OK\r\nX-Name: gr\xfcn\r\nContent-Length: 0\r\n\r\n"
    async with raw_service(answer) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            await send(run, request(run, "desk", "/"))
            summary = await run.close()
    assert summary.notes == ("desk: a header that is no UTF-8 lost bytes on its way",)
    assert ("X-Name", "gr\udcfcn") in project.tape("t").interactions[0].response.headers


@pytest.mark.parametrize("odd", [b"/ HTTP/1.1\r\nX-Huge: " + b"x" * 70_000, b"/\xfc HTTP/1.1"], ids=["huge", "path"])
async def test_a_request_that_cannot_be_read_is_answered_400_and_fails_the_session(
    project: Project, odd: bytes
) -> None:
    async with raw_service(canned()) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            assert (await send(run, request(run, "desk", "/"))).status == 200
            data = request(run, "desk", "/").replace(b"/ HTTP/1.1", odd, 1)
            assert (await send(run, data)).status == 400
            summary = await run.close()
    assert [error.code for error in summary.errors] == ["unreadable_request"]
    assert not summary.sealed


async def test_a_websocket_is_refused_by_name(project: Project) -> None:
    async with raw_service(canned()) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            got = await send(run, request(run, "desk", "/", "Upgrade: websocket", "Sec-WebSocket-Key: x"))
            assert (got.status, b"websocket_refused" in got.body) == (501, True)


async def test_addresses_that_name_nothing_are_answered_and_fail_the_session(project: Project) -> None:
    async with raw_service(canned()) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run:
            for target, status, said in (
                ("/s/nobody/desk/x", 404, b'no session \\"nobody\\"'),
                (f"/s/{run.info.session}/dsk/x", 404, b"did you mean"),
                ("/nothing", 404, b"stray_request"),
                ("/_proctor/sessions/x", 401, b"token_wrong"),
            ):
                got = await send(run, f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
                assert (got.status, said in got.body) == (status, True), got
            assert run.info.session.encode() not in got.body
            summary = await run.close()
            closed = await send(run, request(run, "desk", "/"))
    assert [miss.code for miss in summary.misses] == ["stray_request"] * 3
    assert (closed.status, b"session_closed" in closed.body) == (410, True)
