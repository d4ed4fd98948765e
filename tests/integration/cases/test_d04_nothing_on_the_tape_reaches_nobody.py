"""D4: once the last recording was used up, a replayed request went to the real service.

The service is up here, under a name that has to be looked up, so that a request which goes on arrives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from tests.integration.cases.support import Asked, Numbering, ask, network_watched, recording_of, told
from tests.support import Project, serving, session

TOOLS = 'tools = "POST /{tool}"\nwrites = ["refund"]\n'
REFUND = Asked("/refund", told({"order": "A1"}))
GUESSED = Asked("/create_note", told({"order": "A1"}))
READ = Asked("/orders?id=A1")
KEY = Asked("/orders?id=A1", headers=("Authorization: Bearer first-0123456789-abcdef",))
OTHER_KEY = Asked("/orders?id=A1", headers=("Authorization: Bearer other-0123456789-abcdef",))
CHAT = Asked("/chat/completions", told({"model": "m", "messages": [{"role": "user", "content": "hi"}]}))


@dataclass(frozen=True)
class Case:
    """What is recorded, what is asked in replay, and the statuses that this gives."""

    recorded: list[Asked]
    asked: list[Asked]
    statuses: list[int]
    rules: str = ""
    strict: bool = False


CASES: Mapping[str, Case] = {
    "a declared write asked once more": Case([REFUND], [REFUND, REFUND], [200, 422], TOOLS),
    "a guessed write asked once more under strict": Case([GUESSED], [GUESSED, GUESSED], [200, 422], TOOLS, strict=True),
    "a read asked once more gets the last recording": Case([READ, READ], [READ] * 4, [200] * 4),
    "a call of an LLM asked once more gets it too": Case([CHAT], [CHAT, CHAT], [200, 200], 'preset = "openai"\n'),
    "another query": Case([READ], [READ, Asked("/orders?id=B2")], [200, 422]),
    "another method": Case([READ], [READ, Asked("/orders?id=A1", method="DELETE")], [200, 422]),
    "a second credential": Case([KEY], [KEY, OTHER_KEY], [200, 422]),
    "a path that was never recorded": Case([READ], [READ, Asked("/nothing/of/that")], [200, 422]),
}


@pytest.mark.req(173)
@pytest.mark.parametrize("kind", CASES)
async def test_no_connection_and_no_look_up_is_made_while_the_service_is_up(project: Project, kind: str) -> None:
    case = CASES[kind]
    desk = Numbering()
    async with serving(desk.answer) as url:
        name = url.replace("127.0.0.1", "localhost")
        async with recording_of(project, name, case.rules) as run:
            with network_watched(run) as network:
                for each in case.recorded:
                    await ask(run, each)
            assert any("localhost" in tried for tried in network.tried), "the trap does not work"
        assert len(desk.reached) == len(case.recorded)
        async with session(project, "t", "replay", strict=case.strict) as run:
            with network_watched(run) as network:
                statuses = [(await ask(run, each)).status for each in case.asked]
                summary = await run.close()
        assert len(desk.reached) == len(case.recorded)
    assert (statuses, network.tried) == (case.statuses, [])
    assert sum(miss.count for miss in summary.misses) == statuses.count(422)
    assert (summary.hits, summary.live) == (statuses.count(200), 0)
    assert summary.repeated == statuses.count(200) - len(case.recorded)
