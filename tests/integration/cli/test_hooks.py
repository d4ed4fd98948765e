"""What `[record] before` and `after` do: they frame a recording, reach staging itself, and never fail in silence."""

from __future__ import annotations

import json
import signal
import sys

import pytest

from tests.integration.cli.support import Desk, agent, error_of, kept, record, replay, started
from tests.integration.cli.test_interrupts import DIES, READY, ready, told
from tests.support import Project, services, serving

HOOK = """
import os, sys, urllib.request
which, url, status = sys.argv[1:]
urllib.request.urlopen(f"{url}/{which}").read()
given = sorted(name for name in os.environ if name.lower() in ("http_proxy", "desk_url", "proctor_session_url"))
with open("hooks.txt", "a") as log:
    print(which, *given, file=log)
print("first line", "last line of " + which, sep="\\n")
sys.exit(int(status))
"""


def configure(project: Project, url: str, *, before: int = 0, after: int = 0) -> None:
    """Hooks that call staging, note that they ran, and end with these statuses."""
    script = str(project.script("hook.py", HOOK))
    statuses = {"before": before, "after": after}
    words = {which: [sys.executable, script, which, url, str(status)] for which, status in statuses.items()}
    hooks = (f"{which} = {json.dumps(command)}" for which, command in words.items())
    project.configure("\n".join((services(desk=url), "[record]", *hooks)))


def ran(project: Project) -> list[str]:
    """The hooks that ran, each with the variables of a session that it saw."""
    log = project.root / "hooks.txt"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


async def test_hooks_run_around_a_recording_straight_to_staging_and_leave_nothing_on_the_tape(project: Project) -> None:
    desk = Desk()
    async with serving(desk.answer) as url:
        configure(project, url)
        made = await record(project, 'call(DESK + "/order")')
    assert made.status == 0, made.stderr
    assert desk.asked == ["/before", "/order", "/after"]
    assert ran(project) == ["before", "after"]
    assert [each.request.target for each in project.tape("t").interactions] == ["/order"]
    assert "last line" not in made.stdout + made.stderr


async def test_hooks_do_not_run_in_replay(project: Project) -> None:
    async with serving(Desk().answer) as url:
        configure(project, url)
        assert (await record(project, 'call(DESK + "/order")')).status == 0
        assert (await replay(project, 'call(DESK + "/order")')).status == 0
    assert ran(project) == ["before", "after"]


async def test_a_failing_hook_before_stops_the_recording_with_what_it_said(project: Project) -> None:
    desk = Desk()
    async with serving(desk.answer) as url:
        configure(project, url, before=7)
        made = await record(project, 'call(DESK + "/order")')
    assert made.status == 2
    error = error_of(made)
    assert error["code"] == "hook_failed"
    assert "ended with status 7, so nothing was recorded" in error["message"]
    assert error["message"].endswith("first line\nlast line of before")
    assert desk.asked == ["/before", "/after"]
    assert kept(project) == []


async def test_a_failing_hook_after_is_said_and_fails_though_the_tape_is_sealed(project: Project) -> None:
    async with serving(Desk().answer) as url:
        configure(project, url, after=3)
        made = await record(project, 'call(DESK + "/order")')
    assert made.status == 2
    assert made.summary["status"] == 2
    assert "the hook `after`" in made.summary["reasons"][0]
    assert "last line of after" in made.stderr
    assert kept(project) == ["cassettes/t.yaml"]


async def test_the_hook_after_runs_when_the_agent_failed_and_when_nothing_could_run(project: Project) -> None:
    async with serving(Desk().answer) as url:
        configure(project, url)
        failed = await record(project, 'call(DESK + "/order"); sys.exit(9)')
        assert failed.status == 9
        (project.root / "cassettes").mkdir()
        (project.root / "cassettes" / "t.yaml").mkdir()
        unopened = await record(project, 'call(DESK + "/order")')
    assert unopened.status == 2
    assert ran(project) == ["before", "after"] * 2


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
async def test_the_hook_after_runs_when_the_recording_is_interrupted(project: Project, name: str, status: int) -> None:
    async with serving(Desk().answer) as url:
        configure(project, url)
        source = READY.format(handler=DIES[name])
        async with started(project, "record", "--cassette", "t", "--json", "--", *agent(source)) as process:
            await ready(process)
            process.send_signal(signal.Signals[name])
            summary, _ = await told(process)
    assert summary["status"] == status
    assert ran(project) == ["before", "after"]


async def test_a_retape_of_the_model_leaves_staging_and_its_hooks_alone(project: Project) -> None:
    async with serving(Desk().answer) as url:
        toml = f'[services.desk]\nurl = "{url}"\nenv = ["DESK_URL"]\n[services.llm]\npreset = "openai"\nurl = "{url}"\n'
        hooks = "[record]\nbefore = \"sh -c 'echo ran >> hooks.txt'\"\n"
        project.configure(toml + hooks)
        source = 'call(DESK + "/order"); call(os.environ["OPENAI_BASE_URL"] + "/chat/completions", {"model": "m"})'
        assert (await record(project, source)).status == 0
        assert (await record(project, source, "--only", "llm")).status == 0
        assert ran(project) == ["ran"]
        assert (await record(project, source, "--only", "desk")).status == 0
    assert ran(project) == ["ran", "ran"]


async def test_a_hook_that_is_no_program_is_named(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9") + '[record]\nbefore = "no-such-program --now"')
    made = await record(project, 'call(DESK + "/order")')
    assert made.status == 2
    told = 'the hook `before` (no-such-program --now) cannot be run: cannot run "no-such-program"'
    assert error_of(made)["message"].startswith(told)


async def test_a_hook_that_is_no_command_line_is_refused_with_its_key(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9") + '[record]\nbefore = "sh -c \'open"')
    made = await record(project, "pass")
    assert (made.status, error_of(made)["code"]) == (2, "config_bad_value")
    assert "record.before" in error_of(made)["message"]
