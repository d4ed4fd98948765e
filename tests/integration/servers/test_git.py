"""Git's own smart-HTTP server, asked by git: clone, fetch and push recorded, the server stopped, replayed."""

from __future__ import annotations

import shutil

import pytest

from tests.integration.servers.git_server import IDENTITY, PLAIN, git, git_server, repository
from tests.integration.servers.support import PROGRAMS, record, replay
from tests.support import Project

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git on this machine")

CONFIG = """\
[services.git]
url = "{url}"
env = ["GIT_SHOP"]
reads = ["POST /*/git-upload-pack"]
writes = ["POST /*/git-receive-pack"]
"""


async def test_git_clones_fetches_and_pushes_from_the_tape_as_it_did(project: Project) -> None:
    upstream = project.root / "upstream"
    upstream.mkdir()
    bare = repository(upstream)
    script = str(PROGRAMS / "git_agent.sh")
    async with git_server(upstream) as server:
        project.configure(CONFIG.format(url=server.url))
        seen = await record(project, ["sh", script, str(project.root / "first")], IDENTITY | PLAIN)
        pushed = git("rev-parse", "work", cwd=bare)
    again = await replay(project, ["sh", script, str(project.root / "second")], IDENTITY | PLAIN)
    assert again.steps == seen.steps
    assert again["pushed-in-chunks"].strip() == pushed
    assert git("rev-parse", "work", cwd=project.root / "second" / "mine") == pushed
    assert git("fsck", "--full", cwd=project.root / "second" / "shallow") == ""
    assert [body for _, _, body in server.asked if b"\xff" in body and b"PACK" in body], "no push of binary content"
    assert [line for line, headers, _ in server.asked if headers.get("Content-Encoding") == "gzip"], "no zipped request"
    assert [body for line, _, body in server.asked if body == b"0000"], "no probe before a push in chunks"
