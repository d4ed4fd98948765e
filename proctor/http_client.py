"""What the typed clients of our own HTTP APIs share: one connection pool, one token, errors as servers typed them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import aiohttp
from pydantic import BaseModel, ValidationError

from proctor.errors import EXIT_USAGE, PlatformError, ProctorError, UsageError
from proctor.wire import TOKEN_HEADER, ErrorAnswer

Model = TypeVar("Model", bound=BaseModel)
SECONDS = 600.0
"""Of one call: sealing a long recording, or judging a long run, takes a while."""


@dataclass(frozen=True)
class Answer:
    """An answer as it came, an error or not."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class ApiClient:
    """The base of a client. An async context manager.

    Every call raises UsageError for what the server refused as wrong, and PlatformError where it failed or is not
    there: codes `NAME_unreachable`, `NAME_garbled`, or the server's own.
    """

    def __init__(self, url: str, token: str, name: str) -> None:
        """`url` is what every path is appended to; `name` is what messages call the server."""
        self.url = url.rstrip("/")
        self.name = name
        self._token = token
        self._http: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Open the connection pool; proxies of the environment are not used."""
        headers = {TOKEN_HEADER: self._token} if self._token else {}
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        self._http = aiohttp.ClientSession(headers=headers, timeout=timeout, trust_env=False)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connection pool."""
        if self._http is not None:
            await self._http.close()

    @property
    def http(self) -> aiohttp.ClientSession:
        """The connection pool."""
        assert self._http is not None, "use `async with`"
        return self._http

    async def call(self, method: str, path: str, answer: type[Model], body: BaseModel | None = None) -> Model:
        """Ask, and read the answer."""
        return self.read(answer, await self.fetch(method, path, body))

    async def fetch(self, method: str, path: str, body: BaseModel | None = None) -> bytes:
        """Ask, and give the answer's body."""
        answer = await self.exchange(method, path, body)
        if answer.status >= 400:
            raise self.refused(answer.status, answer.content)
        return answer.content

    async def exchange(self, method: str, path: str, body: BaseModel | None = None) -> Answer:
        """Ask once, and give whatever is answered."""
        data = body.model_dump_json() if body is not None else None
        try:
            async with self.http.request(method, self.url + path, data=data) as response:
                return Answer(response.status, response.headers, await response.read())
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self.unreachable(error) from None

    def read(self, answer: type[Model], content: bytes) -> Model:
        """An answer of that form. Raises PlatformError for any other."""
        try:
            return answer.model_validate_json(content)
        except ValidationError:
            told = f"what answers at {self.url} is no {self.name} of this version"
            raise PlatformError(f"{self.name}_garbled", told) from None

    def unreachable(self, error: Exception) -> PlatformError:
        """Nobody answered, or not to the end."""
        told = f"no {self.name} answers at {self.url}: {error or type(error).__name__}"
        return PlatformError(f"{self.name}_unreachable", told)

    def refused(self, status: int, content: bytes) -> ProctorError:
        """The error that an answer of status 400 and more carries."""
        try:
            told = ErrorAnswer.model_validate_json(content)
        except ValidationError:
            return PlatformError(f"{self.name}_garbled", f"the {self.name} answered {status} with no error of its own")
        usage = told.exit_code == EXIT_USAGE or (told.exit_code is None and status < 500)
        kind = UsageError if usage else PlatformError
        return kind(told.code, told.message, told.fix)
