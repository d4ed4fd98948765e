"""docs/trajectory.md, "What the agent tells": its programs tell, its tables name all that there is."""

from __future__ import annotations

import re
import shutil
import sys

import pytest

from proctor.events import KINDS
from proctor.proxy import eventing
from proctor.trajectory import Trajectory
from tests.integration.cli.support import Desk
from tests.support import ROOT, Project, services, serving

PAGE = (ROOT / "docs" / "trajectory.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## What the agent tells\n")[2].partition("\n## ")[0]
CALL = 'import os, urllib.request\nurllib.request.urlopen(os.environ["DESK_URL"] + "/a").read()\n'


def shown(language: str) -> str:
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", SECTION, flags=re.DOTALL)
    (source,) = blocks
    return source


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")
async def test_the_programs_of_the_page_tell_what_the_trajectory_then_has(project: Project) -> None:
    (project.root / "tell.sh").write_text(shown("sh"), encoding="utf-8")
    project.script("agent.py", CALL + shown("python") + 'os.system("sh tell.sh")\n')
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        for mode in ("record", "replay"):
            done = await project.proctor(mode, "--cassette", "t", "--", sys.executable, "agent.py")
            assert done.status == 0, done.stderr
    made = await project.proctor("trajectory", "convert", "--from", "session", "last")
    run = Trajectory.model_validate_json(made.stdout)
    assert [(each.kind, each.data) for each in run.events] == [
        ("skill_routed", {"skill": "refunds"}),
        ("state", {"order": "A-1"}),
        ("intent", {"intent": "refund", "confidence": 0.8}),
    ]
    assert [(each.turn, each.after) for each in run.states] == [(0, {"order": "A-1"})]


def test_the_tables_name_every_kind_with_its_fields_and_every_code() -> None:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in SECTION.splitlines() if "|" in line]
    kinds = {row[0].strip("`"): row[1] for row in rows if row[0].strip("`") in KINDS}
    assert kinds.keys() == KINDS.keys()
    for kind, model in KINDS.items():
        fields = getattr(model.model_fields["data"].annotation, "model_fields", {})
        assert all(f"`{name}`" in kinds[kind] for name in fields), kind
    codes = {code for row in rows for code in re.findall(r"`(\w+)`", row[1]) if row[0][:1].isdigit()}
    assert codes == set(re.findall(r"`(\w+)`", (eventing.__doc__ or "").partition("Errors are ErrorAnswers")[2]))


def test_the_limits_that_the_page_tells_are_those_that_hold() -> None:
    assert f"a session takes {eventing.SESSION_EVENTS:,}" in SECTION
    assert f"at most {eventing.EVENT_BYTES // 1024} KiB, a body {eventing.BODY_BYTES // 1024**2} MiB" in SECTION
