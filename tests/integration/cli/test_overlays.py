"""`replay --overlay`: one case sees other data than was recorded, it is said, and a patch that meets nothing fails."""

from __future__ import annotations

import json
import sys

import pytest
from aiohttp import web

from tests.support import Project, services, serving, session

AGENT = """\
import json, os, urllib.request
for number in range(2):
    url = os.environ["DESK_URL"] + "/tools/query_order"
    request = urllib.request.Request(url, data=b'{"order": 1}', headers={"Content-Type": "application/json"})
    print(json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request)))
"""
CALLS = 'tools = "POST /tools/{tool}"\nreads = ["query_*"]\n'


async def recorded(project: Project) -> None:
    async def desk(request: web.Request) -> web.StreamResponse:
        return web.json_response({"status": "paid", "lines": [{"sku": "A"}]})

    async with serving(desk) as url:
        project.configure(services(desk=url) + CALLS)
        project.script("agent.py", AGENT)
        async with session(project, "t") as run:
            async with run.http.post(run.url("desk", "/tools/query_order"), json={"order": 1}):
                pass
            assert (await run.close()).sealed


async def replay(project: Project, overlay: str) -> tuple[int, list[str], str, list[list[str]]]:
    """Status, what the agent printed, stderr, and what the trace says was changed."""
    (project.root / "case.toml").write_text(overlay, encoding="utf-8")
    command = ("replay", "--cassette", "t", "--overlay", "case.toml", "--json", "--", sys.executable, "agent.py")
    done = await project.proctor(*command)
    if "session" not in done.summary:
        return done.status, done.printed, str(done.summary), []
    rows = project.trace(json.loads(done.stdout.splitlines()[-1])["session"])
    return done.status, done.printed, done.stderr, [list(row.overlaid) for row in rows]


@pytest.mark.req(45)
async def test_the_answer_holds_the_case_s_data_and_the_run_says_so(project: Project) -> None:
    await recorded(project)
    before = (project.root / "cassettes" / "t.yaml").read_bytes()
    status, printed, told, overlaid = await replay(
        project,
        """
        [[patch]]
        service = "desk"
        tool = "query_*"
        at = "/status"
        value = "丢失"

        [[patch]]
        service = "desk"
        at = "/lines/-"
        value = { sku = "B" }
        call = 2
        """,
    )
    assert status == 0, told
    assert printed == [
        "{'status': '丢失', 'lines': [{'sku': 'A'}]}",
        "{'status': '丢失', 'lines': [{'sku': 'A'}, {'sku': 'B'}]}",
    ]
    assert overlaid == [
        ['/status: "paid" -> "丢失"'],
        ['/status: "paid" -> "丢失"', '/lines/-: nothing -> {"sku": "B"}'],
    ]
    assert "2 answers hold other data than was recorded" in told
    assert (project.root / "cassettes" / "t.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ('tool = "create_*"\nat = "/a"\nvalue = 1', "no such call was answered"),
        ('at = "/a"\nvalue = 1\ncall = 3', "there were 2 such calls only"),
        ('at = "/a/b"\nvalue = 1', "the answer has no /a (#0 query_order)"),
    ],
)
async def test_a_patch_that_meets_nothing_fails_the_run(project: Project, patch: str, said: str) -> None:
    await recorded(project)
    status, _, told, _ = await replay(project, f'[[patch]]\nservice = "desk"\n{patch}\n')
    assert (status, said in told) == (1, True), told


@pytest.mark.parametrize(
    ("overlay", "said"),
    [
        ("patch = 1", "overlay"),
        ("[[patch]]\nservice = 'desk'\nat = '/a'\nvalue = 1\ntol = 'x'", 'did you mean "tool"'),
        ("[[patch]]\nservice = 'desk'\nat = '/a/*'\nvalue = 1", "names one place"),
        ("[[patch]]\nservice = 'dsk'\nat = '/a'\nvalue = 1", 'did you mean "desk"'),
        ("[[", "is not TOML"),
    ],
)
async def test_a_bad_overlay_is_refused_before_anything_runs(project: Project, overlay: str, said: str) -> None:
    await recorded(project)
    status, printed, told, _ = await replay(project, overlay)
    assert (status, printed) == (2, [])
    assert said in told
