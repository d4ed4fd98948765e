"""What a session itself answers below its address: names that begin with `_`, which no service's name does.

Requests to them are no exchanges: they are not recorded and not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aiohttp import web

from proctor.errors import UsageError
from proctor.http_server import body_of
from proctor.proxy import eventing, judging
from proctor.proxy.session import Session

Resource = Callable[[Session, str, str, bytes | UsageError], web.Response]
"""Answers for a session, from the method, the path below the resource's name, and the body, or why there is none."""

RESOURCES: Mapping[str, Resource] = {"_judge": judging.answer, "_events": eventing.answer}


async def resource_answer(resource: Resource, session: Session, request: web.BaseRequest, path: str) -> web.Response:
    """The answer to one request, whose body is read here; to nobody where that never becomes whole."""
    session.entered()
    try:
        return resource(session, request.method, path, await _body_of(request))
    finally:
        session.gone()


async def _body_of(request: web.BaseRequest) -> bytes | UsageError:
    if request.headers.get("Expect", "").lower() == "100-continue" and request.transport is not None:
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        return await body_of(request, eventing.BODY_BYTES)
    except UsageError as error:
        return error
    except ConnectionError:
        return UsageError("body_cut", "the agent broke off before its request was whole", "let it wait for the answer")
