"""The summary of `--json` is the last line of stdout, and stands alone whatever the agent printed before it."""

from __future__ import annotations

import json

import pytest

from tests.integration.cli.support import Desk, record, replay
from tests.support import Project, services, serving


@pytest.mark.parametrize("printed", ["", "half a line", "a whole line\n"])
async def test_the_summary_is_not_glued_to_what_the_agent_printed_last(project: Project, printed: str) -> None:
    source = f'call(DESK + "/a"); sys.stdout.write({printed!r})'
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        recorded = await record(project, source)
    for ended in (recorded, await replay(project, source)):
        before, _, line = ended.stdout.rstrip("\n").rpartition("\n")
        assert before == printed
        assert (ended.status, json.loads(line)["cassette"]) == (0, "t")
