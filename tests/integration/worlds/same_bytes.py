"""A session of the sample world over HTTP, told without what may differ: `same_bytes.py FOLDER [YEARS]`.

Run in a process of its own, whose clock is so many years ahead.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
import time
from pathlib import Path
from typing import Any

YEARS = int(sys.argv[2])
_REAL = time.time
_DATETIME = datetime.datetime


class _Later(datetime.datetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        """The real time, so many years later."""
        return _DATETIME.fromtimestamp(time.time(), tz)


if YEARS:
    time.time = lambda: _REAL() + YEARS * 31_556_952
    datetime.datetime = _Later  # type: ignore[misc]

from tests.integration.worlds.test_at_once import script  # noqa: E402 - the clock is set by now
from tests.support import Project, session  # noqa: E402

BAD = [b"{", b'{"order_id": NaN}', b'{"surplus": 1, "limit": null}', b"[]", b'{"order_id": "none"}']
TIMES = {"session", "started", "seconds", "at"}


async def main() -> None:
    """Call much, right and wrong, and tell answers, state, diff, log and trace."""
    project = Project(Path(sys.argv[1]))
    told: list[Any] = []
    assert abs(datetime.datetime.now(datetime.UTC).year - time.gmtime(_REAL()).tm_year - YEARS) <= 1
    given = {"shop": {"orders": {"A1": {}, "A2": {"owner": "bob"}, "{id:ORD:mine}": {"tags": {"b": "1", "a": "2"}}}}}
    async with session(project, "case", "world", worlds=given) as run:
        calls = [(tool, json.dumps(given).encode(), caller) for n in range(6) for tool, given, caller in script(n)]
        for tool, body, caller in [
            *calls,
            *(("query_order", body, "") for body in BAD),
            ("break_down", b'{"how": "throw"}', ""),
        ]:
            headers = {"Authorization": f"Bearer proctor-world-{caller}"} if caller else {}
            async with run.http.post(run.url("shop", f"/tools/{tool}"), data=body, headers=headers) as answer:
                told.append([answer.status, (await answer.read()).decode()])
        async with run.http.get(run.url("shop", "/tools?distractors=9")) as answer:
            told.append((await answer.read()).decode())
        url = f"{run.proxy.url}/_proctor/sessions/{run.info.session}/worlds/shop"
        async with run.http.get(url, headers={"x-proctor-token": run.proxy.token}) as answer:
            told.append((await answer.read()).decode())
        await run.close()
    folder = project.layout.sessions / run.info.session
    told.append((folder / "worlds.json").read_text(encoding="utf-8"))
    for line in (folder / "trace.jsonl").read_text(encoding="utf-8").splitlines():
        told.append({name: value for name, value in json.loads(line).items() if name not in TIMES})
    print(json.dumps(told, indent=1))  # noqa: T201


asyncio.run(main())
