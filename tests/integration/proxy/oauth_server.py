"""A small OAuth 2 server and the API behind it: tokens are signed, expire, and rotate."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import uuid
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote

import jwt
from aiohttp import web

USER = "alice"


@dataclass
class OAuthServer:
    """Issues tokens to one client; each refresh token works once."""

    client_id: str = "desk-agent"
    client_secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    signing_key: str = field(default_factory=lambda: secrets.token_hex(32))
    now: int = 1_700_000_000
    refresh: str = ""
    refused: int = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Every request."""
        if request.path == "/token":
            return self._token(request, parse_qs((await request.read()).decode()))
        if not self._is_authorised(request):
            self.refused += 1
            return web.json_response({"error": "invalid_token"}, status=401)
        if request.path == "/file":
            return self._file(request)
        if request.path == "/keys":
            key = {"id": str(uuid.uuid4()), "secret": base64.b64encode(secrets.token_bytes(32)).decode()}
            return web.json_response({"api_key": key["id"], "encryption_key": key["secret"], "valid": "2027-01-31"})
        return web.json_response({"who": USER, "path": request.path})

    def _token(self, request: web.Request, form: dict[str, list[str]]) -> web.StreamResponse:
        wanted = "Basic " + base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        if request.headers.get("Authorization") != wanted:
            return web.json_response({"error": "invalid_client"}, status=401)
        if form["grant_type"] == ["refresh_token"] and form["refresh_token"] != [self.refresh]:
            return web.json_response({"error": "invalid_grant"}, status=400)
        self.refresh = secrets.token_urlsafe(40)
        claims = {"sub": USER, "exp": self.now + 60, "iat": self.now, "jti": secrets.token_hex(8), "scope": "desk"}
        self.now += 120  # so that each is out of date when the next is asked for
        access = jwt.encode(claims, self.signing_key, algorithm="HS256")
        return web.json_response({"access_token": access, "refresh_token": self.refresh, "token_type": "Bearer"})

    def _is_authorised(self, request: web.Request) -> bool:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            jwt.decode(token, self.signing_key, algorithms=["HS256"], options={"verify_exp": False})
        except jwt.PyJWTError:
            return False
        return scheme == "Bearer"

    def _file(self, request: web.Request) -> web.StreamResponse:
        """First where the file is, signed; then, with the right signature, the file."""
        signature = hmac.new(self.signing_key.encode(), b"report", hashlib.sha256).digest()
        signed = base64.b64encode(signature).decode()
        given = request.query.get("sig")
        if given is None:
            return web.json_response(
                {"url": f"/file?name=report&expires=2027-01-31T00:00:00Z&sig={quote(signed, safe='')}"}
            )
        return web.Response(status=200 if given == signed else 403, text="the report")
