"""The status line of Proctor's own answers: all that `raise_for_status` shows of them."""

from __future__ import annotations

import requests

from proctor.proxy.answers import MISS_STATUS, miss
from proctor.service_config import ServiceConfig
from tests.support import Project, services, session

CLOSED = "http://127.0.0.1:9"


async def test_a_service_that_is_down_is_told_in_the_status_line(project: Project) -> None:
    project.configure(services(desk=CLOSED))
    async with session(project, "t") as running, running.http.get(running.url("desk", "/order")) as answer:
        assert (answer.status, answer.reason) == (
            502,
            "Proctor: upstream_unreachable; see the body, or: proctor session show",
        )
        shown = requests.Response()
        shown.status_code, shown.reason = answer.status, answer.reason or ""
        assert "Proctor: upstream_unreachable" in _raised_by(shown)


def test_a_miss_is_told_in_the_status_line() -> None:
    answer = miss(ServiceConfig(url=CLOSED), {"code": "not_recorded", "message": "nothing answers", "fix": ""})
    assert (answer.status, answer.reason) == (
        MISS_STATUS,
        "Proctor: not_recorded; see the body, or: proctor session show",
    )


def _raised_by(response: requests.Response) -> str:
    try:
        response.raise_for_status()
    except requests.HTTPError as error:
        return str(error)
    return ""
