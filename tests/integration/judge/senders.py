"""Somebody who sends the judge's service what no honest client sends."""

from __future__ import annotations

import json
from typing import Any

from proctor.judge.service.server import Service
from proctor.judge_client import JudgeClient
from proctor.judge_wire import VerdictRequest
from proctor.trajectories.file import line_of
from tests.integration.judge.raw_http import Told, exchange, request
from tests.integration.judge.services import run

RUN = json.loads(line_of(run("a")))
LINE = line_of(run("a"))
HEADER = b'{"v":1,"batch":{}}\n'


class Sender:
    """Somebody with the token."""

    def __init__(self, service: Service, client: JudgeClient) -> None:
        self.service = service
        self.client = client

    async def one(self, body: bytes, *headers: str) -> Told:
        return await self.sent("POST", "/v1/verdicts", body, *headers)

    async def many(self, body: bytes, *headers: str) -> Told:
        return await self.sent("POST", "/v1/batches?wait=0", body, *headers)

    async def sent(self, method: str, path: str | bytes, body: bytes = b"", *headers: str) -> Told:
        return await exchange(self.service.url, request(method, path, body, *headers, token=self.service.token))

    async def still_judges(self, name: str = "after") -> None:
        answer = await self.client.judge(VerdictRequest(trajectory=run(name)))
        assert (answer.state, answer.error) == ("done", None)
        assert (await self.client.ready()).status == "ready"


def asking(**terms: Any) -> bytes:
    return json.dumps({"trajectory": RUN, **terms}).encode()


def of_run(**fields: Any) -> bytes:
    return json.dumps({"trajectory": {**RUN, **fields}}).encode()


def nested(depth: int) -> bytes:
    return b'{"trajectory":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"
