"""D12: binary bodies were stored as text after an upgrade: bytes were lost, and the replay missed."""

from __future__ import annotations

import io
import struct
import wave

import httpx
import pytest
from aiohttp import web

from tests.integration.cases.support import CLIENTS, Asked, ask, recording, replay, replaying
from tests.support import Project

OCTETS = "application/octet-stream"


def wav() -> bytes:
    """A short sound."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(b"".join(struct.pack("<h", n * 997 % 65536 - 32768) for n in range(400)))
    return file.getvalue()


BODIES: dict[str, tuple[str, bytes, bool]] = {
    "a sound": ("audio/wav", wav(), True),
    "every byte": (OCTETS, bytes(range(256)) * 3, True),
    "NUL alone": (OCTETS, b"\0" * 17, False),
    "Latin-1 that calls itself text": ("text/plain", "grün è".encode("latin-1"), True),
    "UTF-16": ("text/plain; charset=utf-16", "好".encode("utf-16"), True),
    "half a character": ("text/plain", "好".encode()[:2], True),
    "a surrogate in UTF-8": ("application/json", b'{"a": "\xed\xa0\x80"}', True),
    "text with every kind of line end": ("text/plain", b"a\r\nb\nc\rd\xc2\x85e\xe2\x80\xa8f \n\n", False),
    "a byte order mark": ("text/csv", b"\xef\xbb\xbfid;name\r\n1;x\r\n", False),
    "text that looks like YAML": ("text/plain", b"--- !!binary |\n  aGk=\n...\n", False),
    "text that looks like base64": ("text/plain", b"UklGRiQDAABXQVZFZm10IBAAAAABAAEA", False),
    "control characters": ("text/plain", bytes(range(1, 32)) + b"\x7f", False),
}
"""Media type, body, and whether it is no UTF-8."""


@pytest.mark.parametrize("kind", BODIES)
async def test_it_is_byte_equal_in_request_and_answer_and_the_tape_says_which_kind_it_is(
    project: Project, kind: str
) -> None:
    media, body, binary = BODIES[kind]
    arrived: list[bytes] = []

    async def service(request: web.Request) -> web.StreamResponse:
        arrived.append(await request.read())
        return web.Response(body=body, headers={"Content-Type": media})

    asked = Asked("/up", body, media)
    async with recording(project, service) as run:
        recorded = await ask(run, asked)
    assert (arrived, recorded.body) == ([body], body)
    async with replaying(project) as run:
        again = await ask(run, asked)
    assert (again.body, again.values("content-type")) == (body, [media])
    (kept,) = project.tape("t").interactions
    assert (kept.request.body, kept.response.body) == (body, body)
    marks = project.layout.cassette("t").read_text(encoding="utf-8").count(": !!binary")
    assert marks == (2 if binary else 0)
    if not binary:
        return
    assert (await replay(project, [Asked("/up", body[:-1] + b"?", media)])).numbers == [None]


@pytest.mark.parametrize("client", CLIENTS)
async def test_every_client_gets_the_bytes_back(project: Project, client: str) -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        return web.Response(body=await request.read(), content_type=OCTETS)

    body, headers = wav() + bytes(range(256)), {"Content-Type": OCTETS}
    async with recording(project, echo) as run:
        assert (await CLIENTS[client]("POST", run.url("desk", "/"), body, headers)).body == body
    async with replaying(project) as run:
        assert (await CLIENTS[client]("POST", run.url("desk", "/"), body, headers)).body == body


async def test_a_sound_in_a_form_arrives_is_found_again_and_one_other_byte_misses(project: Project) -> None:
    heard: list[bytes] = []

    async def transcribe(request: web.Request) -> web.StreamResponse:
        part = (await request.post())["file"]
        assert isinstance(part, web.FileField)
        heard.append(part.file.read())
        return web.json_response({"text": "hello"})

    async def upload(url: str, sound: bytes) -> httpx.Response:
        async with httpx.AsyncClient() as http:
            return await http.post(url, files={"file": ("a.wav", sound, "audio/wav")}, data={"model": "whisper"})

    async with recording(project, transcribe) as run:
        await upload(run.url("desk", "/audio"), wav())
    assert heard == [wav()]
    async with replaying(project) as run:
        assert (await upload(run.url("desk", "/audio"), wav())).json() == {"text": "hello"}
    other = wav()[:-1] + b"\x01"
    form = httpx.Request("POST", "http://x", files={"file": ("a.wav", other, "audio/wav")}, data={"model": "whisper"})
    assert (await replay(project, [Asked("/audio", form.read(), form.headers["Content-Type"])])).numbers == [None]
