"""A secret that a stream spells over several events is on no tape, and the pieces still fit what stands there."""

from __future__ import annotations

import pytest

from tests.integration.proxy.raw import raw_service
from tests.integration.proxy.streaming import EVENTS, FRAMINGS, at_once, reading
from tests.support import Project, services, session

SECRET = "sk-proj-9f8e7d6c5b4a39281706f5e4d3c2b1a0"
SPLITS = {
    "in the middle": (SECRET[:20], SECRET[20:]),
    "within its known start": (SECRET[:4], SECRET[4:]),
    "over many events": tuple(SECRET[at : at + 3] for at in range(0, len(SECRET), 3)),
    "in one event": (SECRET,),
}


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("split", SPLITS)
async def test_a_secret_over_several_events_reaches_the_agent_and_no_tape(
    project: Project, framing: str, split: str
) -> None:
    events = FRAMINGS[framing]("Your key is ", *SPLITS[split], ", keep it.")
    async with raw_service(at_once(events, EVENTS)) as service:
        project.configure(services(desk=service.url))
        async with session(project, "t") as run, reading(run) as agent:
            assert await agent.chunks() == events
            assert (await run.close()).sealed
    (kept,) = project.tape("t").interactions
    assert "response.body" in kept.redacted
    assert kept.response.pieces is not None
    assert kept.response.pieces.anew
    assert len(kept.response.pieces.lengths) == len(events)
    async with session(project, "t", "replay") as run, reading(run) as agent:
        played = await agent.chunks()
    assert b"".join(played) == kept.response.body
    assert all(event.endswith(b"\n\n") for event in played)
    text = project.layout.cassette("t").read_text(encoding="utf-8")
    assert all(part not in text for part in SPLITS[split] if len(part) > 8)
    assert text.count("proctor-redacted-0001") >= 1
