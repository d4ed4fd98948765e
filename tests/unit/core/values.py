"""Interactions for tests of the core, of which a test says only what it is about."""

from __future__ import annotations

from dataclasses import replace

from proctor.interaction import Effect, EffectWhy, Headers, Interaction, Request, Response


def request(
    body: bytes = b"",
    *,
    service: str = "desk",
    method: str = "POST",
    target: str = "/tools/x",
    headers: Headers = (),
) -> Request:
    """A request to the service `desk`."""
    return Request(service, method, target, headers, body)


def response(body: bytes = b"{}", *, status: int = 200, headers: Headers = (), complete: bool = True) -> Response:
    """An answer."""
    return Response(status, "OK", headers, body, complete)


def interaction(
    asked: Request | None = None,
    answered: Response | None = None,
    *,
    index: int = 0,
    effect: Effect = "read",
    why: EffectWhy = "declared",
    tool: str | None = None,
) -> Interaction:
    """A request with its answer; the URL is made of the request's target."""
    asked = request() if asked is None else asked
    answered = response() if answered is None else answered
    return Interaction(index, asked, answered, f"http://desk.test{asked.target}", effect, why, tool)


def in_order(*made: Interaction) -> tuple[Interaction, ...]:
    """The interactions with their index set to their place."""
    return tuple(replace(each, index=index) for index, each in enumerate(made))
