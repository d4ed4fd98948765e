"""D15: an upload never matched, for its boundary is another in each run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import aiohttp
import httpx
import pytest
import requests

from tests.integration.cases.support import Asked, Numbering, exit_status, recording, replayed, replaying
from tests.support import Project, session

Upload = Callable[[str, bytes], Awaitable[int]]
"""Takes a URL and a file's bytes; gives the status."""
SOUND = b"RIFF\0\xff--not a boundary\r\n\r\n" + bytes(range(256))


async def by_httpx(url: str, file: bytes) -> int:
    async with httpx.AsyncClient() as http:
        got = await http.post(url, files={"file": ("a.wav", file, "audio/wav")}, data={"model": "w"})
    return got.status_code


async def by_requests(url: str, file: bytes) -> int:
    return await asyncio.to_thread(
        lambda: (
            requests.post(
                url, files={"file": ("a.wav", file, "audio/wav")}, data={"model": "w"}, timeout=30
            ).status_code
        )
    )


async def by_aiohttp(url: str, file: bytes) -> int:
    form = aiohttp.FormData()
    form.add_field("model", "w")
    form.add_field("file", file, filename="a.wav", content_type="audio/wav")
    async with aiohttp.ClientSession() as http, http.post(url, data=form) as got:
        return got.status


async def two_files_of_one_name(url: str, file: bytes) -> int:
    files = [("files", ("一.bin", file)), ("files", ("二.bin", b"second"))]
    async with httpx.AsyncClient() as http:
        return (await http.post(url, files=files)).status_code


async def fields_alone(url: str, file: bytes) -> int:
    form = aiohttp.FormData(default_to_multipart=True)
    form.add_field("note", file.hex())
    async with aiohttp.ClientSession() as http, http.post(url, data=form) as got:
        return got.status


UPLOADS: dict[str, Upload] = {
    each.__name__: each for each in (by_httpx, by_requests, by_aiohttp, two_files_of_one_name, fields_alone)
}


@pytest.mark.req(173)
@pytest.mark.parametrize("kind", UPLOADS)
async def test_the_same_form_matches_under_a_new_boundary_and_another_file_misses(project: Project, kind: str) -> None:
    upload = UPLOADS[kind]
    async with recording(project, Numbering().answer) as run:
        assert await upload(run.url("desk", "/up"), SOUND) == 200
    async with replaying(project) as run:
        assert [await upload(run.url("desk", "/up"), SOUND) for _ in range(2)] == [200, 200]
    async with session(project, "t", "replay") as run:
        assert await upload(run.url("desk", "/up"), SOUND[:-1] + b"?") == 422
        assert exit_status(await run.close()) == 3


@dataclass(frozen=True)
class Part:
    """One part of a form."""

    name: str
    content: bytes = b"x"
    file: str = "a.bin"
    media: str = "audio/wav"

    def under(self, boundary: str) -> bytes:
        """Its bytes."""
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="{self.name}"; filename="{self.file}"\r\n'
            f"Content-Type: {self.media}\r\n\r\n"
        )
        return head.encode() + self.content + b"\r\n"


def form(*parts: Part, boundary: str = "b0", quoted: bool = False) -> Asked:
    body = b"".join(part.under(boundary) for part in parts) + f"--{boundary}--\r\n".encode()
    said = f'"{boundary}"' if quoted else boundary
    return Asked("/up", body, f"multipart/form-data; boundary={said}")


A, B = Part("a", SOUND), Part("b", b"second")
SAME = {
    "another boundary": form(A, B, boundary="----WebKitFormBoundary7MA4YWxkTrZu0gW"),
    "a boundary in quotes": form(A, B, boundary="=_:(1)/2?", quoted=True),
    "a boundary that is the start of the old one": form(A, B, boundary="b"),
    "a boundary of seventy letters": form(A, B, boundary="x" * 70),
    "part headers in other spelling and order": replace(
        form(A, B),
        body=form(A, B).body.replace(b"Content-Type: audio/wav", b"content-type:audio/wav"),
    ),
}
OTHER = {
    "content": form(replace(A, content=SOUND + b"\n"), B),
    "the name of a field": form(replace(A, name="A"), B),
    "the name of a file": form(replace(A, file="b.bin"), B),
    "a part's media type": form(replace(A, media="audio/mpeg"), B),
    "the order": form(B, A),
    "a part less": form(A),
    "a part more": form(A, B, B),
    "an empty part": form(A, replace(B, content=b"")),
}


@pytest.mark.parametrize("kind", SAME)
async def test_the_boundary_does_not_count(project: Project, kind: str) -> None:
    got = await replayed(project, [form(B), form(A, B)], [SAME[kind]])
    assert (got.numbers, got.rows[0].match) == ([1], "canonical")


@pytest.mark.parametrize("kind", OTHER)
async def test_everything_else_counts(project: Project, kind: str) -> None:
    got = await replayed(project, [form(A, B)], [OTHER[kind]])
    assert (got.numbers, got.status) == ([None], 3)
