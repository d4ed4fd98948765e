"""The compose example: well-formed, and each of its commands run as it stands there, without containers."""

from __future__ import annotations

import asyncio
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import yaml

from examples.order_desk import server, stand_in_model
from proctor.cli.serve import serve
from tests.support import ROOT, Finished, Project, clean_environment, run, serving_app

FOLDER = ROOT / "examples" / "compose"
TOKEN = "a-token-of-the-tests"


def compose() -> Any:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))


def test_the_agent_has_no_way_out_but_the_proxy_and_holds_no_real_key() -> None:
    told = compose()
    agent, proxy = told["services"]["agent"], told["services"]["proxy"]
    assert [name for name, network in told["networks"].items() if network.get("internal")] == agent["networks"]
    assert set(agent["networks"]) < set(proxy["networks"]) == set(told["networks"])
    assert set(agent["environment"]) == {"PROCTOR_CONTROL", "PROCTOR_TOKEN"}
    assert agent["depends_on"] == {"proxy": {"condition": "service_healthy"}}
    assert {service["image"] for service in told["services"].values()} == {told["name"]}
    build = proxy["build"]
    assert (FOLDER / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()
    (volume,) = proxy["volumes"]
    assert (FOLDER / volume.partition(":")[0]).resolve() == ROOT / "cassettes"


def test_the_proxy_s_command_and_addresses_belong_together() -> None:
    told = compose()["services"]
    program, name, *options = told["proxy"]["command"]
    assert (program, name) == ("proctor", "serve")
    parsed = serve.make_context("serve", list(options)).params
    assert parsed["advertise"] == f"http://proxy:{parsed['port']}"
    assert told["agent"]["environment"]["PROCTOR_CONTROL"] == f"{parsed['advertise']}/_proctor"
    assert f"127.0.0.1:{parsed['port']}/_proctor/health" in told["proxy"]["healthcheck"]["test"][-1]


@asynccontextmanager
async def proxy(project: Project, **environ: str) -> AsyncIterator[str]:
    """The proxy's command in a copy of the project, at a free port; gives the address of its control API."""
    shutil.copy(ROOT / "proctor.toml", project.root)
    shutil.copytree(ROOT / "cassettes", project.root / "cassettes", dirs_exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    told = compose()["services"]["proxy"]
    words = [word.replace("4711", port).replace("//proxy:", "//127.0.0.1:") for word in told["command"]]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *words),
        cwd=project.root,
        env={**clean_environment(), "PROCTOR_TOKEN": TOKEN, **environ},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert b"serving" in await process.stdout.readline()
        probe = told["healthcheck"]["test"][-1].replace("4711", port)
        assert (await run(sys.executable, "-c", probe, cwd=project.root)).status == 0
        yield f"http://127.0.0.1:{port}/_proctor"
    finally:
        process.terminate()
        await process.communicate()


async def agent(control: str, mode: str = "replay", tape: str = "order_desk/refund_en") -> Finished:
    """The agent's command, from the folder that the image has it in."""
    words = compose()["services"]["agent"]["command"]
    put = {"${MODE:-replay}": mode, "order_desk/refund_en": tape, "python": sys.executable}
    environ = {"PROCTOR_CONTROL": control, "PROCTOR_TOKEN": TOKEN}
    return await run(*(put.get(word, word) for word in words), cwd=ROOT, env=environ)


async def test_the_agent_s_command_replays_a_tape_and_ends_with_the_session_s_status(project: Project) -> None:
    async with proxy(project) as control:
        replayed = await agent(control)
        wrong = await agent(control, tape="order_desk/logistics_en")
        unknown = await agent(control, tape="order_desk/nothing")
    assert (replayed.status, replayed.stdout.splitlines()[-1]) == (
        0,
        "replay order_desk/refund_en: 18 exchanges, status 0",
    )
    assert wrong.status == 3
    assert "  * " in wrong.stdout
    assert (unknown.status, "cassette_missing" in unknown.stderr) == (4, True)


async def test_the_agent_s_command_records_with_a_key_that_only_the_proxy_has(project: Project) -> None:
    real = "sk-the-real-key-of-the-compose-test"
    async with (
        serving_app(server.create_app()) as orders,
        serving_app(stand_in_model.create_app()) as model,
        proxy(project, ORDER_DESK_URL=orders, ORDER_DESK_LLM_URL=f"{model}/v1", OPENAI_API_KEY=real) as control,
    ):
        recorded = await agent(control, "record", "new")
        assert recorded.status == 0, recorded.stdout + recorded.stderr
        assert (await agent(control, tape="new")).status == 0
    text = project.layout.cassette("new").read_text(encoding="utf-8")
    assert (real in text, "proctor-session-" in text, "sk-proctor-redacted-0001" in text) == (False, False, True)


def test_the_readme_says_that_no_container_was_run() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "**The containers are untested**" in text
    assert {path.name for path in FOLDER.iterdir() if f"`{path.name}`" in text} >= {"compose.yaml", "one_case.py"}
