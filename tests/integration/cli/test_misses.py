"""A miss fails the run whatever the agent makes of it, once in the list, with what differs and what to do."""

from __future__ import annotations

from tests.integration.cli.support import Desk, kept, record, replay
from tests.support import Project, services, serving

ASK = 'call(DESK + "/tools/query", {"order": "A1", "lines": [{"sku": 7}], "vip": true})'


async def recorded(project: Project, source: str, toml: str = "") -> bytes:
    """Record one tape against a service that is then gone; gives its bytes."""
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url) + toml)
        assert (await record(project, source.replace("true", "True"))).status == 0
    return project.layout.cassette("t").read_bytes()


async def test_a_miss_that_the_agent_swallows_fails_the_run_and_names_the_field(project: Project) -> None:
    old = await recorded(project, ASK)
    changed = ASK.replace("7", "8").replace("true", "True")
    ended = await replay(project, f"try:\n    print({changed}[0])\nexcept BaseException:\n    pass")
    assert ended.stdout.splitlines()[0] == "422"
    assert (ended.status, ended.summary["status"], ended.summary["command_status"]) == (3, 3, 0)
    (miss,) = ended.summary["misses"]
    assert (miss["code"], miss["service"], miss["method"], miss["target"]) == (
        "not_recorded",
        "desk",
        "POST",
        "/tools/query",
    )
    assert (miss["count"], miss["diff"]) == (1, ["body /lines/0/sku: recorded 7, got 8"])
    assert "nearest is #0: an argument changed: body /lines/0/sku: recorded 7, got 8" in ended.stderr
    assert "record again: proctor record --cassette t -- COMMAND" in ended.stderr
    assert ended.stderr.count("* miss") == 1
    assert project.layout.cassette("t").read_bytes() == old
    assert kept(project) == ["cassettes/t.yaml"]
    (row,) = project.trace(ended.summary["session"])
    assert (row.source, row.status, row.arguments["lines"]) == ("refused", 422, [{"sku": 8}])


async def test_a_miss_that_a_client_retries_is_refused_each_time_and_listed_once_with_its_count(
    project: Project,
) -> None:
    await recorded(project, 'call(DESK + "/a")')
    ended = await replay(project, 'print([call(DESK + "/b")[0] for _ in range(3)])')
    assert (ended.status, ended.stdout.splitlines()[0]) == (3, "[422, 422, 422]")
    (miss,) = ended.summary["misses"]
    assert (miss["target"], miss["count"], ended.summary["exchanges"]) == ("/b", 3, 3)
    assert miss["diff"] == ['path: recorded "/a", got "/b"']
    assert "* miss (3 times): desk GET /b" in ended.stderr
    assert len(project.trace(ended.summary["session"])) == 3


async def test_different_misses_are_listed_apart(project: Project) -> None:
    await recorded(project, 'call(DESK + "/a")')
    ended = await replay(project, 'call(DESK + "/b"); call(DESK + "/c"); call(DESK + "/b?x=1"); call(DESK + "/b", {})')
    asked = [(miss["method"], miss["target"], miss["count"]) for miss in ended.summary["misses"]]
    assert (ended.status, asked) == (3, [("GET", "/b", 1), ("GET", "/c", 1), ("GET", "/b?x=1", 1), ("POST", "/b", 1)])


async def test_a_miss_on_the_way_fails_a_run_whose_other_requests_were_answered(project: Project) -> None:
    await recorded(project, 'call(DESK + "/a")')
    ended = await replay(project, 'call(DESK + "/b"); assert call(DESK + "/a")[0] == 200')
    assert (ended.status, ended.summary["hits"], len(ended.summary["misses"])) == (3, 1, 1)


async def test_a_declared_write_asked_once_more_than_recorded_is_a_miss_that_says_so(project: Project) -> None:
    write = 'call(DESK + "/tools/refund", {"order": "A1"})'
    await recorded(project, write, 'tools = "POST /tools/{tool}"\nwrites = ["refund"]\n')
    once = await replay(project, write)
    assert (once.status, once.summary["hits"]) == (0, 1)
    ended = await replay(project, f"print([{write}[0] for _ in range(3)])")
    assert (ended.status, ended.stdout.splitlines()[0]) == (3, "[200, 422, 422]")
    (miss,) = ended.summary["misses"]
    assert (miss["code"], miss["tool"], miss["count"]) == ("used_up", "refund", 2)
    assert "desk refund: a write recorded once, asked once more" in ended.stderr
    assert "proctor record --cassette t" in ended.stderr


async def test_a_guessed_write_repeats_and_is_reported_with_how_to_confirm_it(project: Project) -> None:
    write = 'call(DESK + "/tools/refund", {"order": "A1"})'
    await recorded(project, write)
    ended = await replay(project, f"print([{write}[0] for _ in range(3)])")
    assert (ended.status, ended.stdout.splitlines()[0]) == (0, "[200, 200, 200]")
    (guess,) = ended.summary["guessed"]
    assert (guess["effect"], guess["count"], guess["repeated"]) == ("write", 3, 2)
    assert "confirm by reads and writes in proctor.toml" in ended.stderr
    assert "answered 2x again" in ended.stderr


async def test_a_miss_body_tells_the_agents_author_what_differs_and_the_command(project: Project) -> None:
    await recorded(project, 'call(DESK + "/a?page=1")')
    ended = await replay(project, 'print(call(DESK + "/a?page=2")[1])')
    body = ended.stdout.splitlines()[0]
    for told in ("not_recorded", 'query page: recorded \\"1\\", got \\"2\\"', "proctor record --cassette t"):
        assert told in body


async def test_the_nearest_recording_is_one_of_the_same_tool_though_it_differs_in_more_places(project: Project) -> None:
    def asked(tool: str, *lines: int) -> str:
        return f'call(DESK + "/", {{"lines": {list(lines)}}}, headers={{"X-Amz-Target": "Db.{tool}"}}.items())'

    await recorded(project, f"{asked('List', 1, 2, 3)}; {asked('Put', 3, 2, 1)}")
    ended = await replay(project, asked("Put", 1, 2, 3))
    (miss,) = ended.summary["misses"]
    assert miss["diff"] == ["body /lines/0: recorded 3, got 1", "body /lines/2: recorded 1, got 3"]


async def test_a_strict_miss_of_another_state_says_that_without_strict_it_is_answered_and_so_it_is(
    project: Project,
) -> None:
    read, write = 'print(call(DESK + "/a")[0])', 'call(DESK + "/a", {"n": 1}, "PUT")'
    await recorded(project, f"{write}; {read}")
    strict = await replay(project, read, "--strict", "--allow-unused")
    assert (strict.status, strict.stdout.splitlines()[0]) == (3, "422")
    (miss,) = strict.summary["misses"]
    assert (miss["code"], "nearest is #1" in miss["message"]) == ("other_state", True)
    assert "record again: proctor record --cassette t -- " in miss["fix"]
    assert "without --strict the nearest recording answers, and says so" in strict.stderr
    without = await replay(project, read, "--allow-unused")
    assert (without.status, without.stdout.splitlines()[0]) == (0, "200")
    (other,) = without.summary["other_states"]
    assert (other["index"], other["distance"]) == (1, 1)
    assert "other state desk GET /a was answered from #1: " in without.stderr
