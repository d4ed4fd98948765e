"""A small service of files and notes, for a client without an SDK: JSON, uploads, downloads, events."""

from __future__ import annotations

import hashlib

from aiohttp import web

PICTURE = bytes(range(256)) * 16
EVENTS = tuple(f"data: 第{number}步 of 6\n\n".encode() for number in range(1, 7))


def create_app() -> web.Application:
    """It keeps nothing, but the Location of a note is absolute: an address of its own."""
    app = web.Application()
    app.router.add_get("/search", search)
    app.router.add_post("/notes", add_note)
    app.router.add_get("/notes/7", show_note)
    app.router.add_post("/photos", add_photo)
    app.router.add_get("/photos/1", show_photo)
    app.router.add_delete("/photos/1", remove_photo)
    app.router.add_get("/events", events)
    return app


async def search(request: web.Request) -> web.Response:
    return web.json_response({"asked": dict(request.query), "found": ["US2001"]})


async def add_note(request: web.Request) -> web.Response:
    place = str(request.url.origin().with_path("/notes/7"))
    return web.json_response({"id": 7, **(await request.json())}, status=201, headers={"Location": place})


async def show_note(_request: web.Request) -> web.Response:
    return web.json_response({"id": 7, "by": "C-2001"})


async def add_photo(request: web.Request) -> web.Response:
    """Says what arrived, so that an upload which lost a byte shows."""
    sent = await request.post()
    photo = sent["photo"]
    assert isinstance(photo, web.FileField)
    digest = hashlib.sha256(photo.file.read()).hexdigest()
    told = {"order": sent["order"], "name": photo.filename, "type": photo.content_type, "sha256": digest}
    return web.json_response(told, status=201)


async def show_photo(_request: web.Request) -> web.Response:
    return web.Response(body=PICTURE, content_type="image/png")


async def remove_photo(_request: web.Request) -> web.Response:
    return web.Response(status=204)


async def events(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    for event in EVENTS:
        await response.write(event)
    await response.write_eof()
    return response
