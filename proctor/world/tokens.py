"""Whether a call holds a token that the session has handed out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.world.declaring import CREDENTIAL
from proctor.world.ledger import Grant
from proctor.world.refusal import BusinessError
from proctor.world.toolkit import Tool
from proctor.world.world import Call

_STATUS = 401
_HEADER = "Authorization: Bearer TOKEN"


def granted(tool: Tool, arguments: Mapping[str, Any], call: Call) -> Grant:
    """What the token of a call was handed out for, for a tool that wants one.

    Raises BusinessError: `token_required`, `token_invalid`, `token_expired`.
    """
    name = tool.declared.token
    given: Any
    if name == CREDENTIAL:
        argument, given, way = "", call.credential, f"send {_HEADER}"
        if not given:
            told = f"{tool.name} wants a token, and the request has no credential"
            raise BusinessError("token_required", told, f"fetch a token first, and {way}", status=_STATUS)
    else:
        argument, given, way = name, arguments.get(name), f"give it as {name}"
    grant = call.ledger.tokens.get(given) if isinstance(given, str) else None
    if grant is None:
        told = f"{name} is no token of this session"
        raise BusinessError("token_invalid", told, f"fetch a token first, and {way}", argument, _STATUS)
    if grant.expires is not None and call.now >= grant.expires:
        raise BusinessError("token_expired", f"{name} has expired", "fetch a new token", argument, _STATUS)
    return grant
