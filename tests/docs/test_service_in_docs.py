"""docs/service.md and examples/judge_service: commands are run, samples compared, every error code is explained."""

from __future__ import annotations

import asyncio
import configparser
import json
import re
import shlex
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from proctor.cli.judge_run import run as judge_run
from proctor.cli.judge_serve import serve
from proctor.judge.service.http import RETRY_AFTER
from proctor.judge.service.settings import Limits
from proctor.trajectories.file import line_of
from tests.integration.judge.services import OBEDIENT, judge_service
from tests.integration.judge.services import run as refund_of
from tests.support import ROOT, Finished, Project, clean_environment, run

PAGE = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
FOLDER = ROOT / "examples" / "judge_service"
TOKEN = "a-token-of-the-tests"
BIN = Path(sys.executable).parent
PATH = {"PATH": f"{BIN}:/usr/bin:/bin"}


def plant_runs(folder: Path, name: str = "runs.jsonl") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    runs = (refund_of("refund-1"), refund_of("refund-2"))
    (folder / name).write_bytes(b"".join(map(line_of, runs)))


def free_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def steps_of_page() -> list[tuple[str, str]]:
    """The commands of the page in their order, each with the sample of its output, where one follows it."""
    found: list[tuple[str, str]] = []
    for kind, block in re.findall(r"```(console|json|text)\n(.*?)```", PAGE, flags=re.DOTALL):
        if kind == "console":
            found += [(line[2:], "") for line in block.splitlines()]
        else:
            found[-1] = found[-1][0], block
    return found


def is_like(shown: Any, real: Any) -> bool:
    """Equal, where `...` of the page stands for anything that is there."""
    if shown == "...":
        return real not in (None, "", {})
    if isinstance(shown, dict) and isinstance(real, dict):
        return shown.keys() == real.keys() and all(is_like(each, real[name]) for name, each in shown.items())
    return bool(shown == real)


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")
async def test_the_commands_of_the_page_work_in_one_shell_and_answer_what_it_shows(project: Project) -> None:
    plant_runs(project.root)
    port = free_port()
    (client,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    project.script("send.py", client.replace("8080", port))
    steps = steps_of_page()
    script = ["set -e -o pipefail", "trap 'kill $! 2> /dev/null || true' EXIT"]
    for number, (command, _) in enumerate(steps):
        script += [f"echo; echo '=== {number}'", command.replace("8080", port)]
    done = await run("bash", "-c", "\n".join(script), cwd=project.root, env=PATH)
    assert done.status == 0, done.stdout[-2000:] + done.stderr
    told = dict(re.findall(r"^=== (\d+)\n(.*?)(?=\n=== |\Z)", done.stdout, flags=re.DOTALL | re.MULTILINE))
    for number, (command, sample) in enumerate(steps):
        given = [line for line in told[str(number)].splitlines() if line.strip()]
        if sample.startswith("{"):
            real, shown = [json.loads(line) for line in given], [json.loads(line) for line in sample.splitlines()]
            assert len(real) == len(shown), command
            assert all(is_like(*both) for both in zip(shown, real, strict=True)), f"{command}\n{given}"
        elif sample:
            assert given == sample.splitlines(), command
    python = next(number for number, (command, _) in enumerate(steps) if command.startswith("python "))
    assert told[str(python)].split() == ["refund-1", "100.0", "refund-2", "100.0"]
    assert (project.root / "judge-copy.db").stat().st_size > 0


def test_every_error_code_is_explained() -> None:
    explained = set(re.findall(r"`(\w+)`", PAGE[PAGE.index("## Errors") : PAGE.index("## Limits")]))
    places = [*(ROOT / "judge" / "service").glob("*.py")]
    places += [ROOT / "proctor" / name for name in ("http_server.py", "trajectories/file.py", "judge_client.py")]
    raised = r'(?:UsageError|ServiceBusy|PlatformError|RubricError|_Refused|ErrorAnswer)\(\s*(?:code=)?"(\w+)"'
    codes = {code for path in places for code in re.findall(raised, path.read_text(encoding="utf-8"))}
    assert len(codes) > 40
    assert (codes | set(RETRY_AFTER)) - explained == set()


def test_the_limits_are_those_of_the_service() -> None:
    limits = Limits()
    mib = 1024 * 1024
    assert f"| {limits.waiting:,}, then `queue_full` | `--max-waiting` |" in PAGE
    assert f"| {limits.line_bytes // mib} MiB; {limits.batch_bytes // mib} MiB; 1 MiB |" in PAGE
    assert f"| {limits.requests_a_second:g} a second on average, {limits.requests_a_second * 10:,.0f} at once |" in PAGE
    options = {name for each in serve.params for name in each.opts}
    assert set(re.findall(r"`(--[a-z-]+)`", PAGE)) <= options | {
        "--service",
        "--token-file",
        "--model",
        "--data-binary",
    }


def compose() -> Any:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))


def filled(words: list[str]) -> list[str]:
    """Words with their `${NAME:-default}` as compose fills them where nothing is set."""
    return [re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", word) for word in words]


def workflow_commands() -> list[str]:
    jobs = yaml.safe_load((FOLDER / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]


def test_the_compose_file_keeps_keys_with_the_service_and_its_folder_on_a_volume() -> None:
    told = compose()
    judge, send = told["services"]["judge"], told["services"]["send"]
    assert set(send["environment"]) == {"PROCTOR_TOKEN"}
    assert judge["volumes"] == ["judge:/judge/.proctor"]
    assert "judge" in told["volumes"]
    dockerfile = (FOLDER / judge["build"]["context"]).resolve() / judge["build"]["dockerfile"]
    assert "WORKDIR /judge\n" in dockerfile.read_text(encoding="utf-8")
    assert {service["image"] for service in told["services"].values()} == {told["name"]}
    assert send["depends_on"] == {"judge": {"condition": "service_healthy"}}
    given = serve.make_context("serve", filled(judge["command"])[3:]).params
    assert f"http://judge:{given['port']}" in send["command"]
    assert judge["ports"] == [f"127.0.0.1:{given['port']}:{given['port']}"]
    assert int(judge["stop_grace_period"].rstrip("s")) > given["grace"] + 5


@asynccontextmanager
async def composed(project: Project, port: str) -> AsyncIterator[str]:
    """The compose file's service, at a free port of this machine; gives its address."""
    judge = compose()["services"]["judge"]
    words = filled([word.replace("8080", port).replace("0.0.0.0", "127.0.0.1") for word in judge["command"]])
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *words),
        cwd=project.root,
        env={**clean_environment(), "PROCTOR_TOKEN": TOKEN},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert b"judging at" in await process.stdout.readline()
        probe = judge["healthcheck"]["test"][-1].replace("8080", port)
        assert (await run(sys.executable, "-c", probe, cwd=project.root)).status == 0
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.communicate()


async def test_the_compose_file_s_sender_and_the_workflow_s_job_are_judged_by_its_service(project: Project) -> None:
    plant_runs(project.root)
    async with composed(project, free_port()) as url:
        put = {"http://judge:8080": url, "/runs/runs.jsonl": "runs.jsonl"}
        words = [put.get(word, word) for word in compose()["services"]["send"]["command"]]
        sent = await run(sys.executable, "-m", *words, cwd=project.root, env={"PROCTOR_TOKEN": TOKEN})
        (by_service,) = [each for each in workflow_commands() if "--service" in each]
        command = by_service.replace("${{ vars.JUDGE_URL }}", url)
        job = await run("bash", "-c", command, cwd=project.root, env={**PATH, "PROCTOR_TOKEN": TOKEN})
    assert (sent.status, "10 calls" in sent.stderr) == (0, True), sent.stderr
    assert (job.status, "0 calls" in job.stderr) == (0, True), "the same work is judged once: " + job.stderr


def test_the_commands_of_the_workflow_are_those_of_the_pages() -> None:
    judge_page = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")
    from_tape, by_service = [each for each in workflow_commands() if not each.startswith("pip ")]
    assert f"\n{from_tape}\n" in judge_page
    assert f"\n    {from_tape}\n" in PAGE
    shell = by_service.replace("'${{ vars.JUDGE_URL }}'", '"$JUDGE_URL"')
    assert f"\n    {shell}\n" in PAGE
    assert judge_run.make_context("run", shlex.split(shell)[3:]).params["at_least"] == 70


async def nightly(folder: Path, url: str, *day: str, **environ: str) -> Finished:
    (folder / "judge.token").write_text(TOKEN)
    told = {**PATH, "JUDGE_URL": url, "JUDGE_TOKEN_FILE": "judge.token", **environ}
    return await run("sh", str(FOLDER / "nightly.sh"), *day, cwd=folder, env=told)


async def test_the_nightly_job_sends_yesterday_s_runs_and_fails_loudly(project: Project) -> None:
    day = datetime.now(UTC).date()
    for days in (0, 1):  # at midnight "yesterday" may turn while this runs
        plant_runs(project.root / "runs", f"{day - timedelta(days)}-all.jsonl")
    async with judge_service(project.layout.judge, OBEDIENT, token=TOKEN) as (service, _):
        fine = await nightly(project.root, service.url)
        (kept,) = (project.root / "verdicts").iterdir()
        empty = await nightly(project.root, service.url, "2001-01-01")
        low = await nightly(project.root, service.url, kept.stem, AT_LEAST="100", RUNS=plant_an_empty_run(project))
    gone = await nightly(project.root, service.url, kept.stem, VERDICTS="later")
    assert (fine.status, "FAILED" in fine.stderr) == (0, False), fine.stderr
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 1, "the last that was written"
    assert "is fine" in fine.stdout
    assert (empty.status, "FAILED, no runs of 2001-01-01" in empty.stderr) == (2, True)
    assert (low.status, "FAILED" in low.stderr) == (1, True), low.stderr
    assert (gone.status, "FAILED" in gone.stderr, "judge_unreachable" in gone.stderr) == (4, True, True)
    assert [path.suffix for path in (project.root / "later").iterdir()] == [".part"]


def plant_an_empty_run(project: Project) -> str:
    """A folder of runs for each day that may be asked for, in which nothing was done."""
    folder = project.root / "poor"
    folder.mkdir()
    for path in (project.root / "runs").iterdir():
        (folder / path.name).write_text('{"v":1,"id":"nothing","steps":[{"index":0,"role":"user","text":"Hello"}]}\n')
    return folder.name


def test_the_nightly_units_start_the_script_once_a_night() -> None:
    units = {}
    for name in ("nightly.service", "nightly.timer"):
        units[name] = configparser.ConfigParser(strict=False, interpolation=None)
        units[name].optionxform = str  # type: ignore[assignment,method-assign]
        units[name].read(FOLDER / name, encoding="utf-8")
    service = units["nightly.service"]["Service"]
    assert (service["Type"], Path(service["ExecStart"]).name) == ("oneshot", "nightly.sh")
    assert re.fullmatch(r"\*-\*-\* \d\d:\d\d:\d\d UTC", units["nightly.timer"]["Timer"]["OnCalendar"])
    assert units["nightly.timer"]["Install"]["WantedBy"] == "timers.target"
    assert (FOLDER / "nightly.sh").stat().st_mode & 0o111
    (cron,) = re.findall(r"^    (\d+ \d+ \* \* \* .*)$", PAGE, flags=re.MULTILINE)
    assert "./nightly.sh" in cron


def test_the_readme_says_what_was_not_run_and_names_each_file() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "**The containers are untested**" in text
    assert "The containers are untested" in PAGE
    named = {path.name for path in FOLDER.iterdir() if f"`{path.name}`" in text}
    assert {path.name for path in FOLDER.iterdir()} - named == {"README.md", "Dockerfile.dockerignore"}


async def test_a_batch_that_curl_joined_and_a_request_without_a_run_are_told_what_to_send(project: Project) -> None:
    plant_runs(project.root)
    joined = (project.root / "runs.jsonl").read_bytes().replace(b"\n", b"")
    async with (
        judge_service(project.layout.judge, OBEDIENT, token=TOKEN) as (service, _),
        aiohttp.ClientSession(service.url, headers={"Authorization": f"Bearer {TOKEN}"}) as http,
        http.post("/v1/batches", data=joined) as batch,
        http.post("/v1/verdicts", data=b"{}") as one,
    ):
        of_batch, of_one = await batch.json(), await one.json()
    assert (of_batch["code"], "--data-binary" in of_batch["fix"]) == ("not_json", True)
    assert (of_one["code"], "trajectory" in of_one["message"]) == ("bad_request", True)
