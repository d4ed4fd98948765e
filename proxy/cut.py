"""Playing an answer that broke off when it was recorded: it must break off again, never look whole."""

from __future__ import annotations

from aiohttp import web
from multidict import CIMultiDict

from proctor.interaction import Response


async def play_cut(http: web.BaseRequest, headers: CIMultiDict[str], recorded: Response) -> web.StreamResponse:
    """Send the head and as much of the body as there is, then close the connection before the end it announced."""
    response = web.StreamResponse(status=recorded.status, reason=recorded.reason, headers=headers)
    if "Content-Length" not in headers and http.version >= (1, 1):
        response.enable_chunked_encoding()
    writer = await response.prepare(http)
    transport = http.transport
    if writer is None or transport is None:
        return response
    writer.send_headers()
    if recorded.body:
        await response.write(recorded.body)
    transport.set_write_buffer_limits(high=0)
    await writer.drain()  # aborting throws away what is still buffered
    transport.abort()
    return response
