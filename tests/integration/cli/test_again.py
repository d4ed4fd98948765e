"""`record --again`: a tape is recorded once more by its own command, compared, and replaced only where wanted."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from examples.order_desk import stand_in_model
from tests.integration.cli.support import PATH, PRELUDE, all_files, error_of, kept, started
from tests.integration.order_desk.support import staging
from tests.support import Finished, Project, clean_environment, services, serving, serving_app

TWO = 'call(DESK + "/stock"); call(DESK + "/price")'


@dataclass
class Staging:
    """A service whose data can be changed."""

    data: dict[str, Any] = field(default_factory=lambda: {"/stock": 3, "/price": 10})
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Say the value of a path."""
        self.asked.append(request.path)
        return web.json_response({"value": self.data.get(request.path)})


def program(project: Project, source: str = TWO, name: str = "agent.py") -> tuple[str, ...]:
    """The command of an agent that lies in the project, as a tape keeps it."""
    project.script(name, PRELUDE + source)
    return "python", name


async def recorded(project: Project, *command: str, tape: str = "t", env: dict[str, str] | None = None) -> bytes:
    made = await project.proctor("record", "--cassette", tape, "--", *command, env={**PATH, **(env or {})})
    assert made.status == 0, made.stderr
    return project.layout.cassette(tape).read_bytes()


async def again(project: Project, *arguments: str, env: dict[str, str] | None = None) -> Finished:
    options = [part for part in arguments if part.startswith("-") or part == ""]
    named = [word for tape in arguments if tape not in options for word in ("--again", tape)]
    return await project.proctor("record", *named, *options, "--json", env={**PATH, **(env or {})})


async def test_a_tape_that_did_not_change_stays_byte_for_byte(project: Project) -> None:
    staging = Staging()
    async with serving(staging.answer) as url:
        project.configure(services(desk=url))
        before = await recorded(project, *program(project))
        done = await again(project, "t")
    assert done.status == 0, done.stderr
    assert staging.asked == ["/stock", "/price"] * 2
    assert "0 of 2 interactions really changed" in done.stderr
    assert project.layout.cassette("t").read_bytes() == before
    assert kept(project) == ["cassettes/t.yaml"]
    assert [each["outcome"] for each in done.summary["tapes"]] == ["unchanged"]


async def test_a_tape_that_changed_is_kept_aside_with_the_count_and_the_command_that_takes_it(project: Project) -> None:
    staging = Staging()
    async with serving(staging.answer) as url:
        project.configure(services(desk=url))
        before = await recorded(project, *program(project))
        staging.data["/price"] = 12
        done = await again(project, "t")
    assert done.status == 1
    assert "1 of 2 interactions really changed" in done.stderr
    assert "answer body /value: 10 -> 12" in done.stderr
    assert "proctor cassette accept t" in done.stderr
    assert project.layout.cassette("t").read_bytes() == before
    assert kept(project) == [".proctor/aside/t.yaml", "cassettes/t.yaml"]
    (told,) = done.summary["tapes"]
    assert (told["outcome"], told["diff"]["changed"], told["diff"]["total"]) == ("kept aside", 1, 2)
    accepted = await project.proctor("cassette", "accept", "t")
    assert accepted.status == 0
    assert b'"value": 12' in project.tape("t").interactions[1].response.body


async def test_yes_replaces_a_tape_that_changed(project: Project) -> None:
    staging = Staging()
    async with serving(staging.answer) as url:
        project.configure(services(desk=url))
        await recorded(project, *program(project))
        staging.data["/price"] = 12
        done = await again(project, "t", "--yes")
    assert done.status == 0, done.stderr
    assert "1 of 2 interactions really changed" in done.stderr
    assert done.summary["tapes"][0]["outcome"] == "replaced"
    assert b'"value": 12' in project.tape("t").interactions[1].response.body
    assert kept(project) == ["cassettes/t.yaml"]
    assert (await project.proctor("replay", "--cassette", "t", "--", *program(project), env=PATH)).status == 0


@pytest.mark.parametrize(("typed", "status", "value"), [(b"n\n", 1, b'"value": 10'), (b"y\n", 0, b'"value": 12')])
async def test_at_a_terminal_it_asks_before_it_replaces(
    project: Project, typed: bytes, status: int, value: bytes
) -> None:
    staging = Staging()
    async with serving(staging.answer) as url:
        project.configure(services(desk=url))
        await recorded(project, *program(project))
        staging.data["/price"] = 12
        person, terminal = pty.openpty()
        os.write(person, typed)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "proctor", "record", "--again", "t"),
            cwd=project.root,
            env={**clean_environment(), **PATH},
            stdin=terminal,
            stderr=asyncio.subprocess.PIPE,
        )
        os.close(terminal)
        _, words = await process.communicate()
        os.close(person)
    assert process.returncode == status
    assert b"1 of 2 interactions really changed" in words
    assert b"Replace cassettes/t.yaml?" in words
    assert value in project.tape("t").interactions[1].response.body


async def test_a_run_that_is_not_clean_leaves_the_old_tape_and_its_reasons(project: Project) -> None:
    staging = Staging()
    async with serving(staging.answer) as url:
        project.configure(services(desk=url))
        before = await recorded(project, *program(project))
        program(project, TWO + "\nsys.exit(9)")
        done = await again(project, "t", "--yes")
    assert done.status == 9
    assert project.layout.cassette("t").read_bytes() == before
    (told,) = done.summary["tapes"]
    assert told["outcome"] == "failed"
    assert "the command ended with status 9" in told["reasons"]


async def test_all_tapes_of_a_folder_are_recorded_and_a_broken_one_does_not_stop_the_rest(project: Project) -> None:
    staging = Staging()
    async with serving(staging.answer) as url:
        project.configure(services(desk=url))
        for name, source in (("a", TWO), ("b", TWO), ("c", 'call(DESK + "/stock")')):
            await recorded(project, *program(project, source, f"{name}.py"), tape=f"shop/{name}")
        await recorded(project, *program(project), tape="other")
        broken = project.layout.cassette("shop/a")
        broken.write_bytes(broken.read_bytes().replace(b"/stock", b"/stick"))
        torn = broken.read_bytes()
        staging.data["/price"] = 12
        staging.asked.clear()
        done = await again(project, "shop", "--yes")
    assert done.status == 2
    assert staging.asked == ["/stock", "/price", "/stock"]
    assert [(each["tape"], each["outcome"], each["status"]) for each in done.summary["tapes"]] == [
        ("shop/a", "failed", 2),
        ("shop/b", "replaced", 0),
        ("shop/c", "unchanged", 0),
    ]
    assert "[2/3] shop/b" in done.stderr
    table = done.stderr[done.stderr.index("3 tapes recorded again") :].splitlines()
    assert [line.split()[:2] for line in table[1:]] == [
        ["shop/a", "failed"],
        ["shop/b", "replaced"],
        ["shop/c", "unchanged"],
    ]
    assert "1 of 2 changed" in table[2]
    assert broken.read_bytes() == torn


async def test_hooks_frame_each_tape(project: Project) -> None:
    async with serving(Staging().answer) as url:
        hooks = "[record]\nbefore = \"sh -c 'echo before >> hooks'\"\nafter = \"sh -c 'echo after >> hooks; exit 1'\"\n"
        project.configure(services(desk=url))
        await recorded(project, *program(project), tape="a")
        await recorded(project, *program(project), tape="b")
        project.configure(services(desk=url) + hooks)
        done = await again(project, "cassettes/")
    assert done.status == 2
    assert (project.root / "hooks").read_text(encoding="utf-8").split() == ["before", "after"] * 2
    assert "the hook `after`" in done.summary["tapes"][1]["reasons"][0]


async def test_an_interrupt_ends_the_tape_that_runs_and_leaves_the_rest_alone(project: Project) -> None:
    staging = Staging()
    dies = "signal.signal(signal.SIGINT, signal.SIG_DFL)"
    waits = (
        f'call(DESK + "/stock"); {dies}\nif os.path.exists("wait"):\n    print("ready", flush=True)\n    signal.pause()'
    )
    async with serving(staging.answer) as url:
        project.configure(services(desk=url) + "[record]\nafter = \"sh -c 'echo after >> hooks'\"\n")
        before = [await recorded(project, *program(project, waits), tape=name) for name in ("a", "b")]
        (project.root / "wait").touch()
        (project.root / "hooks").unlink()
        async with started(project, "record", "--again", "cassettes", "--json", env=PATH) as process:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
            process.send_signal(signal.SIGINT)
            stdout, stderr = await process.communicate()
    told = json.loads(stdout.splitlines()[-1])
    assert process.returncode == told["status"] == 1
    assert [(each["tape"], each["outcome"]) for each in told["tapes"]] == [("a", "failed"), ("b", "not run")]
    assert [project.layout.cassette(name).read_bytes() for name in ("a", "b")] == before
    assert (project.root / "hooks").read_text(encoding="utf-8") == "after\n"
    assert b"Traceback" not in stderr


SECRETIVE = """
def ask(path, token):
    return call(DESK + path, {"n": 1}, headers=[("Authorization", "Bearer " + token)])
if os.path.exists("more"):
    call(DESK + "/new", {"password": "a-new-Pass-99"})
ask("/stock", os.environ["SHOP_TOKEN"])
call(DESK + "/login", {"password": os.environ["SOME"], "pin": os.environ["OTHER"]})
"""
OLD = {"SHOP_TOKEN": "tok-of-2025-Abc", "SOME": "first-Pass-11", "OTHER": "481516"}
NEW = {"SHOP_TOKEN": "tok-of-2026-Xyz", "SOME": "second-Pass-22", "OTHER": "234200"}


async def test_placeholders_keep_their_numbers_where_a_secret_came_before_them(project: Project) -> None:
    async with serving(Staging().answer) as url:
        project.configure(services(desk=url))
        command = program(project, SECRETIVE)
        await recorded(project, *command, env=OLD)
        old = project.tape("t")
        (project.root / "more").touch()
        done = await again(project, "t", "--yes", env=NEW)
    assert done.status == 0, done.stderr
    new = project.tape("t")
    assert [each.request.body for each in new.interactions[1:]] == [each.request.body for each in old.interactions]
    assert dict(new.interactions[1].request.headers)["Authorization"] == "Bearer proctor-redacted-0001"
    assert json.loads(new.interactions[0].request.body) == {"password": "proctor-redacted-0004"}
    assert "1 of 3 interactions really changed" in done.stderr
    written = b"".join(path.read_bytes() for path in all_files(project.root) if path.suffix != ".py")
    assert [secret for secret in (*OLD.values(), *NEW.values(), "a-new-Pass-99") if secret.encode() in written] == []


async def test_a_secret_of_the_command_comes_from_its_variable_and_a_missing_one_is_named(project: Project) -> None:
    async with serving(Staging().answer) as url:
        project.configure(services(desk=url))
        source = 'call(DESK + "/stock", headers=[("Authorization", "Bearer " + sys.argv[1])])'
        token = "tok-of-2025-Abcdef"
        await recorded(project, *program(project, source), token, env={"SHOP_TOKEN": token})
        assert project.tape("t").stamp["command"] == "python agent.py proctor-redacted-0001"
        unset = await again(project, "t", env={"SHOP_TOKEN": ""})
        assert unset.status == 2
        assert unset.summary["tapes"][0]["error"]["code"] == "secret_unset"
        assert "SHOP_TOKEN, which is not set" in unset.stderr
        done = await again(project, "t", env={"SHOP_TOKEN": "tok-of-2026-Xyzabc"})
    assert done.status == 0, done.stderr


async def test_a_command_that_was_not_kept_whole_is_refused_unless_it_is_said_again(project: Project) -> None:
    async with serving(Staging().answer) as url:
        project.configure(services(desk=url))
        command = (*program(project, TWO), "--password", "hunter2")
        await recorded(project, *command)
        hidden = await again(project, "t")
        assert hidden.status == 2
        assert hidden.summary["tapes"][0]["error"]["code"] == "command_hidden"
        said = await project.proctor("record", "--again", "t", "--", *command, env=PATH)
    assert said.status == 0, said.stderr


async def test_a_command_runs_in_the_folder_in_which_it_was_recorded(project: Project) -> None:
    below = Project(project.root / "agents")
    below.root.mkdir()
    async with serving(Staging().answer) as url:
        project.configure(services(desk=url))
        program(below)
        made = await below.proctor("record", "--cassette", "t", "--", "python", str(below.root / "agent.py"), env=PATH)
        assert made.status == 0, made.stderr
        assert project.tape("t").stamp["command"] == "python agent.py"
        done = await again(project, "t")
    assert done.status == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--again", "tt"), "cassette_missing"),
        (("--again", "t", "--cassette", "u"), "again_with_more"),
        (("--again", "t", "--only", "desk"), "again_with_more"),
        (("--cassette", "t", "--yes"), "yes_to_what"),
    ],
)
async def test_what_cannot_be_meant_is_refused(project: Project, arguments: tuple[str, ...], code: str) -> None:
    async with serving(Staging().answer) as url:
        project.configure(services(desk=url))
        await recorded(project, *program(project))
        done = await project.proctor("record", *arguments, "--json", env=PATH)
    assert done.status == 2
    assert error_of(done)["code"] == code


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[dict[str, str]]:
    """The variables that lead to the order desk's real servers."""
    async with staging("ORDER_DESK_URL") as desk, serving_app(stand_in_model.create_app()) as model:
        yield {**desk, "ORDER_DESK_LLM_URL": f"{model}/v1", "OPENAI_API_KEY": "a-key-of-the-tests-4711"}


async def test_a_refund_that_is_in_the_database_by_now_is_told_and_the_new_tape_replays(
    desk_project: Project, live: dict[str, str]
) -> None:
    agent = ("python", "examples/order_desk/agent.py", "--conversation", "refund_en")
    before = await recorded(desk_project, *agent, env=live)
    done = await again(desk_project, "t", env=live)
    assert done.status == 1, done.stderr
    (told,) = done.summary["tapes"]
    refunds = [each for each in told["diff"]["interactions"] if each["name"] == "create_refund"]
    assert [each["kind"] for each in refunds] == ["removed"]
    assert told["diff"]["changed"] <= told["diff"]["total"]
    assert desk_project.layout.cassette("t").read_bytes() == before
    assert (await desk_project.proctor("cassette", "accept", "t")).status == 0
    replayed = await desk_project.proctor("replay", "--cassette", "t", "--", *agent, env=PATH)
    assert replayed.status == 0, replayed.stderr
    assert [path for path in all_files(desk_project.root) if live["OPENAI_API_KEY"].encode() in path.read_bytes()] == []
