"""Whatever an agent sends to `_events`: it is taken and can be read back, or it is refused by name. Never a 5xx."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proctor.cassette import Cassette, save_cassette
from proctor.events import KINDS
from proctor.interaction import Interaction, Request, Response
from tests.property.counts import examples
from tests.support import Project, services, session

OF_EACH = 12
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
names = st.sampled_from(["kind", "data", "turn", "when", "by", "step"])
data = values | st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("intent", "confidence", "skill", "query", "found"), values)
)
events = st.fixed_dictionaries(
    {"kind": st.sampled_from([*KINDS, "intnet"]), "data": data},
    optional={"turn": leaves, "when": st.sampled_from(["before", "after"]) | leaves, "by": leaves},
)
shaped = (events | st.lists(events, max_size=4) | st.dictionaries(names, values)).map(json.dumps).map(str.encode)
bodies = st.lists(st.binary(max_size=60) | shaped, min_size=1, max_size=OF_EACH)


@given(bodies, st.sampled_from(["POST", "POST", "POST", "PUT", "DELETE"]), st.sampled_from(["live", "replay"]))
@examples(ci=25, soak=600, shrink=False)
async def test_any_bytes_are_taken_or_refused_and_counted(sent: list[bytes], method: str, mode: Any) -> None:
    with TemporaryDirectory() as folder:
        project = Project(Path(folder))
        project.configure(services(desk="http://desk.test"))
        asked, answer = Request("desk", "GET", "/", (), b""), Response(200, "OK", (), b"")
        tape = Interaction(0, asked, answer, "http://desk.test/", "read", "declared")
        save_cassette(project.layout.cassette("t"), Cassette("t", (tape,), {"recorded_at": "2026-01-01T00:00:00Z"}))
        taken = refused = 0
        async with session(project, "t", mode) as run:
            for body in sent:
                async with run.http.request(method, run.url("_events"), data=BytesIO(body)) as told:
                    said = await told.json()
                    assert told.status in (200, 400, 405), said
                    assert told.status == 200 or (said["code"] and said["message"])
                    taken += said.get("taken", 0)
                    refused += told.status != 200
            summary = await run.close()
        trace = project.whole_trace(summary.session)
    assert (summary.exchanges, summary.events, len(trace.events)) == (0, taken, taken)
    assert sum(each.count for each in summary.errors) == refused
    assert summary.events_dropped >= refused
