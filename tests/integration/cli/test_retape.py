"""A changed prompt is mended without staging: one service is recorded, a tape answers the others."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from examples.order_desk import stand_in_model
from proctor.interaction import Interaction, header
from tests.integration.cli.support import (
    PATH,
    PRELUDE,
    agent,
    all_files,
    error_of,
    kept,
    killed,
    put_aside,
    record,
    replay,
)
from tests.support import Project, services, serving, serving_app

KEY = "sk-a-real-key-of-today-4711-abcdef"
NO_STAGING = {"ORDER_DESK_URL": "http://127.0.0.1:9"}
OVER = ("--only", "line", "--over", "t")


@pytest.fixture
async def model() -> AsyncIterator[str]:
    """The address of the stand-in model: the only service that runs."""
    async with serving_app(stand_in_model.create_app()) as url:
        yield f"{url}/v1"


def desk_agent(project: Project, conversation: str = "refund_zh") -> tuple[str, ...]:
    return sys.executable, str(project.root / "examples/order_desk/agent.py"), "--conversation", conversation, "--json"


def change_the_prompt(project: Project) -> None:
    source = project.root / "examples/order_desk/prompt.txt"
    text = source.read_text(encoding="utf-8")
    assert "language, briefly." in text
    source.write_text(text.replace("language, briefly.", "language, briefly and kindly."), encoding="utf-8")


def of_service(project: Project, tape: str, service: str) -> list[Interaction]:
    return [each for each in project.tape(tape).interactions if each.request.service == service]


def content(interaction: Interaction) -> tuple[Any, ...]:
    """What is taken over: all but the place and the time in the new session."""
    return interaction.request, interaction.response, interaction.url, interaction.effect, interaction.redacted


def leaked(project: Project, secret: str) -> list[str]:
    return [str(path) for path in all_files(project.root) if secret.encode() in path.read_bytes()]


async def test_a_changed_prompt_is_mended_with_staging_stopped(desk_project: Project, model: str) -> None:
    change_the_prompt(desk_project)
    old, command = "order_desk/refund_zh", desk_agent(desk_project)
    before = desk_project.layout.cassette(old).read_bytes()
    broken = await desk_project.proctor("replay", "--cassette", old, "--", *command)
    assert broken.status == 3
    live = {**NO_STAGING, "ORDER_DESK_LLM_URL": model, "OPENAI_API_KEY": KEY}
    options = ("--only", "llm", "--over", old, "--cassette", "new", "--json")
    made = await desk_project.proctor("record", *options, "--", *command, env=live)
    assert made.status == 0, made.stderr
    told = made.summary
    assert (told["set_up"], told["recorded"], told["hits"], told["over"]) == ("retape", 8, 5, old)
    assert desk_project.layout.cassette(old).read_bytes() == before
    assert list(map(content, of_service(desk_project, "new", "orders"))) == list(
        map(content, of_service(desk_project, old, "orders"))
    )
    assert all("briefly and kindly" in each.request.body.decode() for each in of_service(desk_project, "new", "llm"))
    replayed = await desk_project.proctor("replay", "--cassette", "new", "--json", "--", *command)
    assert replayed.status == 0, replayed.stderr
    assert (replayed.summary["hits"], replayed.summary["unused"]) == (13, [])
    assert replayed.stdout.splitlines()[0] == made.stdout.splitlines()[0]


async def test_a_new_tape_says_over_which_one_it_was_made_and_is_as_old_as_its_answers(
    desk_project: Project, model: str
) -> None:
    old = desk_project.tape("order_desk/refund_en")
    live = {"ORDER_DESK_LLM_URL": model, "OPENAI_API_KEY": KEY}
    command = (
        "--only=llm",
        "--over=order_desk/refund_en",
        "--cassette=new",
        "--",
        *desk_agent(desk_project, "refund_en"),
    )
    assert (await desk_project.proctor("record", *command, env=live)).status == 0
    stamp = desk_project.tape("new").stamp
    assert f"digest: {old.digest}" in desk_project.layout.cassette(old.name).read_text(encoding="utf-8")
    assert stamp["over"] == {"tape": old.name, "digest": old.digest}
    assert stamp["recorded_at"] == old.recorded_at
    assert stamp["retaped_at"] > old.recorded_at
    assert stamp["services"] == {"orders": old.stamp["services"]["orders"], "llm": model}
    assert stamp["command"].endswith("--conversation refund_en --json")


async def test_the_key_of_the_model_never_reaches_a_file_and_keeps_its_placeholder(
    desk_project: Project, model: str
) -> None:
    old = desk_project.tape("order_desk/refund_zh")
    live = {"ORDER_DESK_LLM_URL": model, "OPENAI_API_KEY": KEY}
    command = ("--only=llm", "--over", old.name, "--cassette=new", "--", *desk_agent(desk_project))
    assert (await desk_project.proctor("record", *command, env=live)).status == 0
    assert leaked(desk_project, KEY) == []
    assert {header(each.request.headers, "authorization") for each in of_service(desk_project, "new", "llm")} == {
        f"Bearer {old.stamp['variables']['OPENAI_API_KEY']}"
    }
    assert desk_project.tape("new").stamp["placeholders"] == old.stamp["placeholders"]


ASKING = """
who = [("Authorization", "Bearer " + os.environ["WHO"])]
call(DESK + "/order", {"pin": os.environ["PIN"]}, headers=who)
call(LINE + "/say", {"said": "I am " + os.environ["WHO"], "password": os.environ["EXTRA"], "pin": os.environ["MORE"]})
"""
FIRST = {"WHO": "first-Token-of-2025-xyz", "PIN": "481516", "EXTRA": "first-Extra-77", "MORE": "481516"}
SECOND = {"WHO": "other-Token-of-2026-abc", "PIN": "481516", "EXTRA": "other-Extra-88", "MORE": "234200"}


async def echo(request: web.Request) -> web.StreamResponse:
    return web.json_response({"path": request.path, "said": (await request.read()).decode()})


async def two_services(project: Project) -> None:
    """A tape `t` of two services; then only `line` runs on, at the address in LINE_AT."""
    project.configure(services(desk="env:DESK_AT", line="env:LINE_AT"))
    async with serving(echo) as url:
        made = await record(project, ASKING, env={"DESK_AT": url, "LINE_AT": url, **FIRST})
    assert made.status == 0, made.stderr


async def test_a_live_secret_is_the_placeholder_for_which_it_stood_and_no_number_is_given_twice(
    project: Project,
) -> None:
    await two_services(project)
    (desk,), (line,) = of_service(project, "t", "desk"), of_service(project, "t", "line")
    who = header(desk.request.headers, "authorization")
    pin = json.loads(desk.request.body)["pin"]
    assert (who, pin) == ("Bearer proctor-redacted-0001", "900002")
    assert json.loads(line.request.body)["pin"] == pin
    async with serving(echo) as url:
        made = await record(
            project, ASKING, "--only", "line", "--over", "t", tape="new", env={"LINE_AT": url, **SECOND}
        )
    assert made.status == 0, made.stderr
    (taken,), (live,) = of_service(project, "new", "desk"), of_service(project, "new", "line")
    assert content(taken) == content(desk)
    said = json.loads(live.request.body)
    assert said["said"] == "I am proctor-redacted-0001"
    assert said["password"] not in {"proctor-redacted-0001", json.loads(line.request.body)["password"]}
    assert said["pin"] not in {"900001", "900002", "900003"}
    assert [leaked(project, secret) for secret in ("other-Token", "other-Extra", "234200")] == [[], [], []]
    again = await replay(project, ASKING, tape="new", env=SECOND)
    assert again.status == 0, again.stderr


async def test_what_the_old_tape_does_not_answer_fails_the_session_and_leaves_no_new_tape(project: Project) -> None:
    await two_services(project)
    old = project.layout.cassette("t").read_bytes()
    async with serving(echo) as url:
        source = ASKING + 'call(DESK + "/other-order")'
        made = await record(
            project, source, "--only", "line", "--over", "t", tape="new", env={"LINE_AT": url, **SECOND}
        )
    assert made.status == 3
    assert "miss: desk GET /other-order: nothing on tape t answers this request" in made.stderr
    assert "record everything anew: proctor record --cassette new -- COMMAND" in made.stderr
    assert kept(project) == [".proctor/aside/new.yaml", "cassettes/t.yaml"]
    assert "nothing on tape t answers this request" in put_aside(project.layout, "new")
    assert project.layout.cassette("t").read_bytes() == old


@pytest.mark.parametrize(
    ("changed", "fix"),
    [
        ({"WHAT": "desk"}, "only staging can answer it; record everything anew: proctor record --cassette new -- "),
        ({"DAY": "2026-12-02"}, "if it says nothing, declare it in proctor.toml under [services.desk]: ignore = "),
    ],
)
async def test_a_miss_names_what_mends_it_in_a_recording_too(
    project: Project, changed: dict[str, str], fix: str
) -> None:
    project.configure(services(desk="env:DESK_AT", line="env:LINE_AT"))
    asks = 'call(DESK + "/order", {"what": os.environ["WHAT"], "day": os.environ["DAY"]}); call(LINE + "/say", {})'
    project.script("agent.py", PRELUDE + asks)
    command = ("--", "python", "agent.py")
    said = {"WHAT": "lamp", "DAY": "2026-11-30", **PATH}
    async with serving(echo) as url:
        at = {"DESK_AT": url, "LINE_AT": url}
        assert (await project.proctor("record", "--cassette", "t", *command, env={**at, **said})).status == 0
        made = await project.proctor(
            "record", *OVER, "--cassette", "new", "--json", *command, env={**at, **said, **changed}
        )
    assert made.status == 3
    (miss,) = made.summary["misses"]
    assert miss["fix"].startswith(fix)
    assert miss["fix"].endswith("-- python agent.py") == ("WHAT" in changed)


async def test_a_tape_can_be_made_over_itself_and_only_a_clean_run_replaces_it(project: Project) -> None:
    await two_services(project)
    old = project.tape("t")
    before = project.layout.cassette("t").read_bytes()
    async with serving(echo) as url:
        failing = ASKING.replace("/order", "/another")
        assert (await record(project, failing, "--only", "line", env={"LINE_AT": url, **SECOND})).status == 3
        assert project.layout.cassette("t").read_bytes() == before
        changed = ASKING.replace("I am", "My name is")
        made = await record(project, changed, "--only", "line", env={"LINE_AT": url, **SECOND})
    assert made.status == 0, made.stderr
    assert project.tape("t").stamp["over"] == {"tape": "t", "digest": old.digest}
    assert "My name is" in of_service(project, "t", "line")[0].request.body.decode()
    assert (await replay(project, changed, env=SECOND)).status == 0


STATEFUL = """
[services.desk]
url = "env:DESK_AT"
env = ["DESK_URL"]
reads = ["/read"]
writes = ["/write"]
[services.line]
url = "env:LINE_AT"
env = ["LINE_URL"]
"""
READ_WRITE = 'call(DESK + "/read"); call(DESK + "/write", {}); call(LINE + "/say", {})'


async def test_an_answer_from_another_state_is_not_sealed_in_silence(project: Project) -> None:
    project.configure(STATEFUL)
    async with serving(echo) as url:
        assert (await record(project, READ_WRITE, env={"DESK_AT": url, "LINE_AT": url})).status == 0
        late = 'call(DESK + "/write", {}); call(DESK + "/read"); call(LINE + "/say", {})'
        made = await record(project, late, *OVER, tape="new", env={"LINE_AT": url})
    assert made.status == 1
    assert "taken over from #0, which was recorded in another state" in made.stderr
    assert kept(project) == [".proctor/aside/new.yaml", "cassettes/t.yaml"]
    assert (await project.proctor("cassette", "accept", "new")).status == 0
    assert [each.request.target for each in project.tape("new").interactions] == ["/write", "/read", "/say"]


async def test_after_a_kill_what_was_taken_over_is_recovered_with_the_rest(project: Project) -> None:
    await two_services(project)
    async with serving(echo) as url:
        await killed(project, "record", ASKING, *OVER, "--cassette", "new", env={"LINE_AT": url, **SECOND})
    project.layout.cassette("t").unlink()  # the journal is all that is needed
    told = await project.proctor("cassette", "recover")
    assert told.status == 0, told
    tape = project.tape("new")
    assert [each.request.service for each in tape.interactions] == ["desk", "line"]
    assert "I am proctor-redacted-0001" in tape.interactions[1].request.body.decode()
    assert tape.stamp["over"]["tape"] == "t"
    assert leaked(project, "other-Token") == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--only", "lime", "--cassette", "new", "--over", "t"), "unknown_service"),
        (("--over", "t", "--cassette", "new"), "over_what"),
        (("--only", "desk,line", "--over", "t", "--cassette", "new"), "nothing_taken_over"),
        (("--only", "line", "--over", "tt", "--cassette", "new"), "cassette_missing"),
        (("--only", "line", "--over", "t"), "no_cassette"),
    ],
)
async def test_what_cannot_be_meant_is_refused_before_anything_runs(
    project: Project, options: tuple[str, ...], code: str
) -> None:
    project.configure(services(desk="http://127.0.0.1:9", line="http://127.0.0.1:9"))
    done = await project.proctor("record", *options, "--json", "--", *agent('open("ran", "w")'))
    assert done.status == 2
    assert error_of(done)["code"] == code
    assert not (project.root / "ran").exists()
